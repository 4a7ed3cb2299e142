"""Finds sentences. They end at full stops, judged by the words around, at empty lines and, if asked, at line ends."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from fencepost.errors import require_choice
from fencepost.text.abbreviations import BEFORE_NUMBERS, NEVER_LAST, OTHERS, STARTERS
from fencepost.text.character_classes import FULL_STOP, classify
from fencepost.text.tokens import ACRONYM, Token, tokenize

# "text": line ends are just whitespace; "paragraph": no sentence crosses a line end; "line": one sentence per line.
Mode: TypeAlias = Literal["text", "paragraph", "line"]


class Span(NamedTuple):
    """A sentence: ``text[start:end]``, without surrounding whitespace."""

    start: int
    end: int


_STOPS: Final = re.compile(rf"[.!?…]+|{FULL_STOP}+")
_CLOSERS: Final = re.compile("[\"'”’)\\]}]*")
_NEXT: Final = re.compile("[ ]*[\"'“‘`(\\[{*–-]*[ ]?([A-Za-z0-9]{0,20})")
_LAST_WORD: Final = re.compile(r"[A-Za-z0-9.&-]+$")
_LONGEST_WORD: Final = 24
_ENUMERATION: Final = re.compile(r"\W*(?:[0-9]{1,3}|[A-Za-z]|[ivx]{1,5})")
_BLANK_LINES: Final = re.compile(r"\n[^\S\n]*\n\s*")
_LINES: Final = re.compile(r"\n")
_WORD: Final = re.compile(r"[A-Za-z]")


def split_sentences(text: str, mode: Mode = "text") -> list[Span]:
    """The sentences of a text in order. Everything outside them is whitespace."""
    parts = _pieces(text, border(mode))
    if mode == "line":
        return parts
    return [sentence for part in parts for sentence in _split(text, part)]


def count_certain(text: str, spans: list[Span], mode: Mode = "text") -> int:
    """How many of the sentences are final, whatever text comes next."""
    if not spans or border(mode).search(text, spans[-1].end):
        return len(spans)
    if len(spans) > 1 and _may_join(text, spans[-2].end):
        return len(spans) - 2
    return len(spans) - 1


def border(mode: Mode) -> re.Pattern[str]:
    """A pattern that no sentence crosses."""
    require_choice("mode", mode, get_args(Mode))
    return _BLANK_LINES if mode == "text" else _LINES


def _may_join(text: str, end: int) -> bool:
    """True if the text breaks off in the word after ``end``, whose rest may show that no sentence ends there."""
    match = _NEXT.match(classify(text[end:]))
    return match is not None and end + match.end() == len(text)


def _pieces(text: str, border: re.Pattern[str]) -> list[Span]:
    borders = [0, *(edge for match in border.finditer(text) for edge in match.span()), len(text)]
    pieces = zip(borders[::2], borders[1::2], strict=True)
    return [piece for start, end in pieces if (piece := _strip(text, start, end))]


def _strip(text: str, start: int, end: int) -> Span | None:
    part = text[start:end]
    bare = part.lstrip()
    start += len(part) - len(bare)
    return Span(start, start + len(bare.rstrip())) if bare else None


def _split(text: str, part: Span) -> Iterator[Span]:
    classes = classify(text[part.start : part.end])
    begin = 0
    for stop in _STOPS.finditer(classes):
        closers = _CLOSERS.match(classes, stop.end())
        end = closers.end() if closers else stop.end()
        if begin < end < len(classes) and _is_border(classes, begin, stop, end):
            if span := _strip(text, part.start + begin, part.start + end):
                yield span
            begin = end
    if span := _strip(text, part.start + begin, part.end):
        yield span


def _is_border(classes: str, begin: int, stop: re.Match[str], end: int) -> bool:
    """True if the sentence from ``begin`` ends at ``end``, which is after a full stop and closing quotes."""
    if stop[0][0] == FULL_STOP:
        return True
    if classes[end] != " ":
        return False
    match = _NEXT.match(classes, end)
    following = match[1] if match else ""
    if following[:1].islower() and not _begins_in_lower_case(classes, begin, stop.start()):
        return False
    if stop[0] in ("...", "…", ".."):
        return following not in ("", "I")
    return stop[0] != "." or _ends_after_period(classes, begin, stop.start(), following)


def _begins_in_lower_case(classes: str, begin: int, end: int) -> bool:
    """True if the sentence itself begins in lower case, as people write in chats."""
    first = _WORD.search(classes, begin, end)
    return first is not None and first[0].islower()


def _ends_after_period(classes: str, begin: int, period: int, following: str) -> bool:
    match = _LAST_WORD.search(classes, max(begin, period - _LONGEST_WORD), period)
    word = match[0].lower() if match else ""
    starts = following.lower() in STARTERS and following[:1].isupper()
    if word in NEVER_LAST or _ENUMERATION.fullmatch(classes, begin, period):
        return False
    if word in BEFORE_NUMBERS:
        return not following[:1].isdigit()
    if word == "al":
        return starts or not classes.endswith("et al", begin, period)
    if word in OTHERS or ACRONYM.fullmatch(word) or (len(word) == 1 and word.isalpha()):
        return starts
    return True


# A longer sentence is cut: the memory for its chart grows with the square of its length.
LONGEST_SENTENCE: Final = 400
MOST_WORDS: Final = 3000  # in a sentence that must not be cut: parsing time grows with the cube of its length
_GOOD_CUTS: Final = (";", ":", ",", ".", "!", "?", ")")


def read_sentences(text: str, mode: Mode = "text") -> Iterator[tuple[Span, list[Token]]]:
    """Each sentence with its tokens, whose offsets count from the start of the sentence."""
    for span in split_sentences(text, mode):
        yield from tokenize_span(text, span)


def tokenize_span(text: str, span: Span) -> Iterator[tuple[Span, list[Token]]]:
    """A sentence with its tokens; several shorter ones if it is too long."""
    tokens = tokenize(text[span.start : span.end])
    if len(tokens) <= LONGEST_SENTENCE:
        yield span, tokens
        return
    for part in _cut(tokens):
        first = part[0].start
        moved = [token._replace(start=token.start - first, end=token.end - first) for token in part]
        yield Span(span.start + first, span.start + part[-1].end), moved


def _cut(tokens: list[Token]) -> Iterator[list[Token]]:
    """Cuts a long sentence, after punctuation if there is any in the second half of a piece."""
    start = 0
    while len(tokens) - start > LONGEST_SENTENCE:
        ends = range(start + LONGEST_SENTENCE, start + LONGEST_SENTENCE // 2, -1)
        end = next((end for end in ends if tokens[end - 1].form in _GOOD_CUTS), start + LONGEST_SENTENCE)
        yield tokens[start:end]
        start = end
    yield tokens[start:]
