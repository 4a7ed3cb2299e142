"""Reads the input of ``fencepost parse``: sentences from files, standard input or the command line."""

from __future__ import annotations

import io
import re
import select
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from fencepost.errors import TreeError
from fencepost.storage.text_reader import STANDARD_INPUT
from fencepost.text.languages import rules
from fencepost.text.lines import TextLine, read_text_lines
from fencepost.text.sentences import Mode, length_problem
from fencepost.text.stream import TextSentence, read_stream
from fencepost.text.tokens import Token
from fencepost.trees.tree import NOT_TEXT, check_tags, escape
from fencepost.trees.treebank import Sentence

Reading: TypeAlias = Mode | Literal["tokenized", "tagged"]
_WORD: Final = re.compile(r"\S+", re.ASCII)
_BEFORE_TAG: Final = "_"
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class Origin(NamedTuple):
    """The document that a sentence comes from: a file, or all text from the command line."""

    file: str | None = None
    document: int = 0  # its number, counted from 0

    def problem(self, line: int, problem: str) -> str:
        return f"{'--text' if self.file is None else self.file}:{line}: {problem}"


COMMAND_LINE: Final = Origin()


@dataclass(frozen=True)
class Item:
    """A sentence to parse, an empty line (no tokens), or a line that can't be parsed (it has a ``problem``)."""

    text_sentence: TextSentence
    problem: str | None = None  # with its file and line number
    text_problems: tuple[str, ...] = ()  # bad lines inside running text, read since the item before
    origin: Origin = COMMAND_LINE

    @property
    def parsable(self) -> bool:
        return bool(self.text_sentence.tokens) and self.problem is None

    @property
    def length(self) -> int:
        """The number of words to parse."""
        return len(self.text_sentence.tokens) if self.parsable else 0

    def sentence(self) -> Sentence:
        return self.text_sentence.sentence()


@dataclass
class Source:
    """The input files. ``bytes_read`` grows while they are read."""

    paths: list[Path]
    reading: Reading
    language: str = "en"  # whose rules split text
    bytes_read: int = 0
    text_problems: list[str] = field(default_factory=list)  # those that no item has yet

    def items(self) -> Iterator[Item]:
        for number, path in enumerate(self.paths):
            origin = Origin(str(path), number)
            yield from read_items(self._lines(path), origin, self.reading, self.text_problems, self.language)

    def _lines(self, path: Path) -> Iterator[TextLine]:
        for line in read_text_lines(path, whole=self.reading not in get_args(Mode) or self.reading == "line"):
            self.bytes_read += line.size
            yield line

    @property
    def size(self) -> int | None:
        """Size of all files in bytes; None if standard input is among them."""
        return sum(path.stat().st_size for path in self.paths) if all(map(Path.is_file, self.paths)) else None

    def is_waiting(self) -> bool:
        """True if the next read would block, waiting for someone to type or for another program."""
        if STANDARD_INPUT not in map(str, self.paths):
            return False
        try:
            return not select.select([sys.stdin], [], [], 0)[0]
        except (OSError, ValueError):  # not a real stream, or not supported by the system
            return False


def items_of_text(text: str, reading: Reading, language: str = "en") -> Iterator[Item]:
    """The sentences of a text from the command line."""
    lines = io.StringIO(_SURROGATE.sub("\ufffd", text))
    numbered = (TextLine(line, number, 0) for number, line in enumerate(lines, 1))
    return read_items(numbered, COMMAND_LINE, reading, [], language)


def read_items(
    lines: Iterable[TextLine], origin: Origin, reading: Reading, problems: list[str], language: str
) -> Iterator[Item]:
    if reading == "tokenized" or reading == "tagged" or reading == "line":
        yield from _line_items(lines, origin, reading, language)
        return
    for text_sentence in read_stream(_running_text(lines, origin, problems), reading, language):
        text_problems = tuple(problems)
        problems.clear()
        yield Item(text_sentence, text_problems=text_problems, origin=origin)


def _running_text(lines: Iterable[TextLine], origin: Origin, problems: list[str]) -> Iterator[str]:
    for line in lines:
        if line.problem is not None:
            problems.append(origin.problem(line.number, line.problem))
        yield line.text


def _line_items(lines: Iterable[TextLine], origin: Origin, reading: Reading, language: str) -> Iterator[Item]:
    """One item per line, so that input and output stay aligned."""
    split = rules(language).tokenize if reading == "line" else _blank_separated
    offset = 0
    for line in lines:
        text = line.text.removesuffix("\n").removesuffix("\r")
        tokens = [] if line.problem else split(text)
        tags, problem = None, line.problem
        if reading == "tagged":
            tags = tuple(escape(token.form.rpartition(_BEFORE_TAG)[2]) for token in tokens)
            problem = problem or _tag_problem(tokens, tags)
            tokens = tokens if problem else [_without_tag(token) for token in tokens]
        if too_long := length_problem(len(tokens)):
            problem = f"the sentence has {too_long}"
        text_sentence = TextSentence(text, offset, tokens, reading != "line", tags)
        yield Item(text_sentence, problem and origin.problem(line.number, problem), origin=origin)
        offset += len(line.text)


def _blank_separated(line: str) -> list[Token]:
    forms = line if NOT_TEXT.search(line) is None else NOT_TEXT.sub("\ufffd", line)
    return [Token(word[0], *word.span(), forms[word.start() : word.end()]) for word in _WORD.finditer(line)]


def _tag_problem(tokens: list[Token], tags: tuple[str, ...]) -> str | None:
    bare = [token.text for token in tokens if not all(token.form.rpartition(_BEFORE_TAG))]
    if bare:
        return f"{bare[0]} has no tag; expected word{_BEFORE_TAG}TAG"
    try:
        check_tags(tags)
    except TreeError as error:
        return error.message
    return None


def _without_tag(token: Token) -> Token:
    word = token.text.rpartition(_BEFORE_TAG)[0]
    return Token(word, token.start, token.start + len(word), token.form.rpartition(_BEFORE_TAG)[0])
