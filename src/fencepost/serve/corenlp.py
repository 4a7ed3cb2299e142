"""Speaks as the server of Stanford CoreNLP does, so that its clients work: ``POST /?properties={…}`` with a text, and
``POST /tregex?pattern=…``.

``tokenize``, ``ssplit``, ``pos`` and ``parse`` are supported, with answers in JSON. ``lemma``, which clients ask for by
habit, is accepted and left out of the answer. Everything else is refused with a message.
"""

from __future__ import annotations

import ast
import json
import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import Any, Final
from urllib.parse import unquote

from fencepost.serve.batching import Parsed, Placed
from fencepost.serve.failures import InvalidError
from fencepost.serve.requests import in_pieces, of_tokens
from fencepost.serve.searching import LONGEST_PATTERN
from fencepost.text.sentences import Mode
from fencepost.text.stream import TextSentence, read_stream
from fencepost.trees.tree import Tree, escape

SUPPORTED: Final = ("tokenize", "ssplit", "pos", "parse")
LEFT_OUT: Final = frozenset({"lemma", "cleanxml", "mwt", "docdate"})
FORM: Final = "application/x-www-form-urlencoded"
# CoreNLP takes the code of a language or its name.
LANGUAGES: Final = {
    "arabic": "ar",
    "chinese": "zh",
    "english": "en",
    "french": "fr",
    "german": "de",
    "hungarian": "hu",
    "italian": "it",
    "spanish": "es",
}
_LONGEST_PROPERTIES: Final = 10_000  # characters


@dataclass(frozen=True)
class CoreNlpRequest:
    """A text, and what to say about it."""

    text: str
    annotators: frozenset[str]
    mode: Mode
    whitespace: bool  # blanks separate the tokens
    one_sentence: bool
    language: str | None = None  # its code, if the client says

    @property
    def needs_model(self) -> bool:
        return bool(self.annotators & {"pos", "parse"})

    @cached_property
    def _long_letters(self) -> list[int]:
        """Positions of the letters that take two units of UTF-16."""
        return [] if self.text.isascii() else [at for at, letter in enumerate(self.text) if letter > "\uffff"]

    def _utf16(self, position: int) -> int:
        """A position in the text in units of UTF-16, in which CoreNLP counts."""
        return position + bisect_left(self._long_letters, position)

    def sentences(self, language: str) -> Iterator[Placed]:
        return (Placed(0, found) for found in self._sentences(language))

    def _sentences(self, language: str) -> Iterator[TextSentence]:
        if self.one_sentence or self.whitespace:
            lines = [self.text] if self.one_sentence else self.text.split("\n")
            start = 0
            for line in lines:
                found = _whitespace_tokens(line) if self.whitespace else _in_one(TextSentence(line, 0, []), language)
                if found.tokens:
                    yield found._replace(offset=start)
                start += len(line) + 1
            return
        for found in read_stream(in_pieces(self.text), self.mode, language):
            yield _in_one(found, language) if self.mode == "line" else found

    def tokens(self, language: str, gives_up: Callable[[], bool]) -> list[str]:
        """The answers for all sentences without parsing them; those so far once ``gives_up`` returns True."""
        sentences = takewhile(lambda _: not gives_up(), self.sentences(language))
        return [self.answer(index, each) for index, each in enumerate(sentences)]

    def answer(self, index: int, placed: Placed | Parsed) -> str:
        """A sentence as CoreNLP describes it, in JSON."""
        analysis = placed.analysis if isinstance(placed, Parsed) else None
        found = placed.sentence
        tags: Sequence[str | None] = [None] * len(found.tokens) if analysis is None else analysis.tree.tags()
        tokens = []
        for number, (token, tag) in enumerate(zip(found.tokens, tags, strict=True), 1):
            plain: dict[str, Any] = {
                "index": number,
                "word": escape(token.form),
                "originalText": token.text,
                "characterOffsetBegin": self._utf16(found.offset + token.start),
                "characterOffsetEnd": self._utf16(found.offset + token.end),
            }
            tokens.append(plain if tag is None else {**plain, "pos": tag})
        answer: dict[str, Any] = {"index": index}
        if analysis is not None and "parse" in self.annotators:
            answer["parse"] = root_brackets(analysis.tree)
        return json.dumps({**answer, "tokens": tokens}, ensure_ascii=False)


def root_brackets(tree: Tree) -> str:
    """A tree with CoreNLP's root symbol."""
    return f"(ROOT {str(tree).partition(' ')[2]}"


@dataclass(frozen=True)
class TregexRequest:
    """A text to parse, and a pattern to find in its trees."""

    pattern: str
    text: CoreNlpRequest


def read_tregex(query: Mapping[str, str], body: bytes, content_type: str) -> TregexRequest:
    """The request in a query and a body. Clients send annotators and an output format, which don't matter here."""
    properties = {**query, **_properties(query.get("properties", ""))}
    pattern = properties.get("pattern", "")
    if not pattern:
        raise InvalidError("the parameter pattern is missing", hint="such as /tregex?pattern=NP")
    if len(pattern) > LONGEST_PATTERN:
        raise InvalidError(f"the pattern has more than {LONGEST_PATTERN:,} characters")
    kept = ("ssplit.", "tokenize.", "pipelineLanguage")
    others = {name: value for name, value in properties.items() if name.startswith(kept)}
    return TregexRequest(pattern, read_corenlp(others, body, content_type))


def read_corenlp(query: Mapping[str, str], body: bytes, content_type: str) -> CoreNlpRequest:
    """The request in a query and a body. Raises InvalidError if it asks for something that we can't do."""
    properties = {**query, **_properties(query.get("properties", ""))}
    wanted = [name.strip() for name in properties.get("annotators", "tokenize,ssplit,pos,parse").split(",")]
    unknown = [name for name in wanted if name and name not in SUPPORTED and name not in LEFT_OUT]
    if unknown:
        raise InvalidError(
            f"fencepost has no annotator {unknown[0][:50]!r}: it is a constituency parser",
            hint=f"it has {', '.join(SUPPORTED)}; dependencies, entities and the like need CoreNLP itself",
        )
    output = properties.get("outputFormat", "json")
    if output.lower() != "json":
        raise InvalidError(
            f"fencepost can't write the outputFormat {output[:50]!r}",
            hint="use json: the property outputFormat, or output_format in Stanza's client",
        )
    line = _is_true(properties, "ssplit.eolonly")
    newline = properties.get("ssplit.newlineIsSentenceBreak", "never")
    language = properties.get("pipelineLanguage", "").lower()
    return CoreNlpRequest(
        text=_text(body, content_type),
        annotators=frozenset(wanted),
        mode="line" if line else "paragraph" if newline == "always" else "text",
        whitespace=_is_true(properties, "tokenize.whitespace"),
        one_sentence=_is_true(properties, "ssplit.isOneSentence"),
        language=LANGUAGES.get(language, language) or None,
    )


def _properties(text: str) -> dict[str, str]:
    """The properties in JSON, or as a dictionary in Python, which some clients write."""
    wrong = InvalidError("the properties must be a JSON object", hint='such as {"annotators": "tokenize,ssplit,parse"}')
    if len(text) > _LONGEST_PROPERTIES:
        raise wrong
    try:
        found = ast.literal_eval(text) if text.startswith("{'") else json.loads(text or "{}")
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise wrong from None
    if not isinstance(found, dict) or not all(isinstance(name, str) for name in found):
        raise wrong
    try:
        return {name: _written(value) for name, value in found.items()}
    except (ValueError, RecursionError):  # a number with more digits than Python writes, or a deep list
        raise wrong from None


def _written(value: object) -> str:
    """The value of a property as CoreNLP writes it. Some clients send lists and booleans."""
    if isinstance(value, list):
        return ",".join(map(str, value))
    return value if isinstance(value, str) else str(value).lower()


def _is_true(properties: Mapping[str, str], name: str) -> bool:
    return properties.get(name, "").lower() == "true"


def _text(body: bytes, content_type: str) -> str:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidError(f"the body isn't UTF-8: {error.reason} at byte {error.start}") from None
    return unquote(text) if content_type.startswith(FORM) else text  # as CoreNLP does, "+" stays: it isn't a blank


def _in_one(sentence: TextSentence, language: str) -> TextSentence:
    """Gives a line its tokens. Full stops inside it are tokens, because CoreNLP finds tokens before sentences."""
    parts = read_stream(in_pieces(sentence.text), "text", language)
    tokens = [
        token._replace(start=part.offset + token.start, end=part.offset + token.end)
        for part in parts
        for token in part.tokens
    ]
    return sentence._replace(tokens=tokens)


def _whitespace_tokens(line: str) -> TextSentence:
    words = [(match[0], *match.span()) for match in re.finditer(r"\S+", line)]
    found = of_tokens([word for word, _, _ in words])
    tokens = [token._replace(start=start, end=end) for token, (_, start, end) in zip(found.tokens, words, strict=True)]
    return TextSentence(line, 0, tokens, tokenized=True)
