"""Checks that a model fits the language of a spaCy pipeline, and finds sentences by the model's rules."""

from __future__ import annotations

from bisect import bisect_right
from typing import Final

from spacy.tokens import Doc

from fencepost.errors import UsageError
from fencepost.integrations.universal_tags import has_universal_tags
from fencepost.parsing.parser import Parser
from fencepost.text.languages import base_language, is_language, sentence_language
from fencepost.text.sentences import split_sentences

_ANY: Final = frozenset({"xx", "mul"})  # several languages
_WITHOUT_SPACES: Final = frozenset({"ja", "zh", "th", "lo", "km", "my", "bo"})  # between words
_NORWEGIAN: Final = frozenset({"no", "nb", "nn"})


def require_fit(parser: Parser, language: str | None, *, pos: bool) -> None:
    """Raises UsageError if the model doesn't fit the pipeline's language, or can't give universal parts of speech."""
    known, name = parser.text_language, parser.name
    if language is not None and not _is_same(language, known):
        any_language = "" if base_language(known) in _WITHOUT_SPACES else ', spacy.blank("xx") for any language'
        raise UsageError(
            f"the pipeline's language is {language}, and the model {name} parses {known}",
            hint=f'use spacy.blank("{base_language(known)}"){any_language}, or a model for {language}',
        )
    if language is not None and base_language(language) in _ANY and base_language(known) in _WITHOUT_SPACES:
        raise UsageError(
            f"a pipeline for any language can't split text into words for the model {name}, which parses {known}",
            hint=f'use spacy.blank("{base_language(known)}")',
        )
    if pos and not (parser.config.scorer.predict_tags and has_universal_tags(known)):
        raise UsageError(
            f"the model {name} has no tags that pos can turn into parts of speech",
            hint="leave out pos; the model's own tags, if it predicts any, are in token.tag_",
        )


def _is_same(pipeline: str, model: str) -> bool:
    """True if the model fits the pipeline's language. A model that names a treebank instead always fits."""
    languages = {base_language(pipeline), base_language(model)}
    return len(languages) == 1 or languages <= _NORWEGIAN or not languages.isdisjoint(_ANY) or not is_language(model)


def split_doc(doc: Doc, language: str) -> None:
    """Sets the sentence starts of a document, by our own rules for a language."""
    borders = [span.start for span in split_sentences(doc.text, language=sentence_language(language))][1:]
    before = 0
    for token in doc:
        passed = bisect_right(borders, token.idx)
        token.is_sent_start = token.i == 0 or passed > before
        before = passed
