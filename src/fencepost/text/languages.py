"""``rules(language)``: how texts of a language become sentences and tokens."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from fencepost.errors import LanguageWarning, UsageError
from fencepost.text.conventions import ENGLISH, SentenceWords, has_conventions, read_conventions
from fencepost.text.tokens import Token, penn_forms, tokenize
from fencepost.trees.tree import NOT_TEXT

# Rules can't find the words of these: no spaces stand between them, or one written word is several of a treebank's.
NEED_WORDS: Final = {
    "zh": "Chinese",
    "he": "Hebrew",
    "ar": "Arabic",
    "th": "Thai",
    "lo": "Lao",
    "km": "Khmer",
    "my": "Burmese",
    "bo": "Tibetan",
}
GENERIC: Final = "generic"
_SPLIT: Final = "split the text into the treebank's words yourself, and use --tokenized or Parser.parse"


class Rules(NamedTuple):
    """The rules of a language: words that decide where sentences end, and a function that splits one into tokens."""

    language: str
    sentences: SentenceWords
    tokenize: Callable[[str], list[Token]]
    packages: tuple[str, ...] = ()  # whose versions decide what is a word


_ENGLISH: Final = Rules("en", ENGLISH, tokenize)


def rules(language: str = "en") -> Rules:
    """The rules of a language by its code, such as ``fr``, or by the name of a treebank's conventions.

    ``pt-BR`` has those of ``pt``. A language without rules of its own gets generic ones, with a warning once.

    >>> [token.text for token in rules("fr").tokenize("L'église est-elle ouverte ?")]
    ["L'", 'église', 'est', '-elle', 'ouverte', '?']
    """
    return _ENGLISH if language == "en" else _find(language)


def is_language(name: str) -> bool:
    """True if a name looks like the code of a language, such as ``fo`` or ``is-historical``."""
    return re.fullmatch(r"[A-Za-z]{2,3}(?:[-_].*)?", name) is not None


def base_language(language: str) -> str:
    """The language without a region or a period: ``pt`` of ``pt_BR``."""
    return _code(language).partition("-")[0]


def _code(language: str) -> str:
    return language.lower().replace("_", "-")


def text_language(language: str, chosen: str | None) -> str:
    """The language whose rules split text for a model: the chosen one of several, or the model's ``language``.

    A model may also have treebanks of one language, such as ``news``: these names don't count.
    """
    return chosen if chosen is not None and is_language(chosen) else language


def sentence_language(language: str) -> str:
    """The language whose rules find sentences. ``zh`` has no rules for words; the generic ones find its sentences."""
    return GENERIC if base_language(language) in NEED_WORDS else language


def forms_of(language: str, sentence: str, spans: list[tuple[int, int]]) -> list[str]:
    """The forms that a model of this language reads for tokens from another tokenizer, given their spans.

    >>> forms_of("de", "„Ja“", [(0, 1), (1, 3), (3, 4)])
    ['"', 'Ja', '"']
    """
    code, base = _code(language), base_language(language)
    if base == "en":
        return penn_forms(sentence, spans)
    forms = _forms(next((each for each in (code, base) if has_conventions(each)), GENERIC))
    return [NOT_TEXT.sub("\ufffd", sentence[start:end].translate(forms)) for start, end in spans]


@lru_cache(maxsize=64)
def _forms(name: str) -> Mapping[int, str]:
    return read_conventions(name).tokens.forms


@lru_cache(maxsize=64)
def _find(language: str) -> Rules:
    code, base = _code(language), base_language(language)
    if base == "en":
        return _ENGLISH
    if base in NEED_WORDS:
        raise UsageError(
            f"fencepost can't find the words of a text in {NEED_WORDS[base]}",
            hint=_SPLIT,
        )
    name = next((each for each in (code, base) if has_conventions(each)), GENERIC)
    if name == GENERIC != code:
        warnings.warn(
            f"no rules for splitting text whose language is {language!r:.50}, so spaces and punctuation decide"
            f"\nhint: if the treebank splits words otherwise, {_SPLIT}",
            LanguageWarning,
            stacklevel=3,
        )
    found = read_conventions(name)
    if found.analyser == "sudachi":
        from fencepost.text.japanese import JapaneseTokenizer  # here: it needs an extra

        packages = ("SudachiPy", "SudachiDict-core")
        return Rules(code, found.sentences, JapaneseTokenizer(found.tokens.joined), packages)
    from fencepost.text.language_tokens import LanguageTokenizer  # here: English doesn't need it

    return Rules(code, found.sentences, LanguageTokenizer(found.tokens, found.sentences.quotes))
