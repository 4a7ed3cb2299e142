"""Where sentences end: after a full stop, by the words around it; always at an empty line; at line ends if asked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from fencepost.errors import require_choice
from fencepost.text.abbreviations import BEFORE_NUMBERS, NEVER_LAST, OTHERS, STARTERS
from fencepost.text.character_classes import FULL_STOP, classify
from fencepost.text.tokens import ACRONYM, Token, tokenize

# "text": line ends are blanks; "paragraph": no sentence goes past a line end; "line": a sentence a line.
Mode: TypeAlias = Literal["text", "paragraph", "line"]


class Span(NamedTuple):
    """A sentence: ``text[start:end]``, without blanks around it."""

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
    """The sentences of a text in order; every character outside them is blank."""
    parts = _pieces(text, border(mode))
    if mode == "line":
        return parts
    return [sentence for part in parts for sentence in _split(text, part)]


def count_certain(text: str, spans: list[Span], mode: Mode = "text") -> int:
    """How many of a text's sentences stay as they are, whatever follows the text."""
    if not spans or border(mode).search(text, spans[-1].end):
        return len(spans)
    if len(spans) > 1 and _may_join(text, spans[-2].end):
        return len(spans) - 2
    return len(spans) - 1


def border(mode: Mode) -> re.Pattern[str]:
    """What no sentence goes past."""
    require_choice("mode", mode, get_args(Mode))
    return _BLANK_LINES if mode == "text" else _LINES


def _may_join(text: str, end: int) -> bool:
    """Whether more of the word after ``end`` could still show that no sentence ends there."""
    found = _NEXT.match(classify(text[end:]))
    return found is not None and end + found.end() == len(text)


def _pieces(text: str, border: re.Pattern[str]) -> list[Span]:
    borders = [0, *(place for match in border.finditer(text) for place in match.span()), len(text)]
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
    """Whether the sentence that began at ``begin`` ends at ``end``, after a full stop and closing quotes."""
    if stop[0][0] == FULL_STOP:
        return True
    if classes[end] != " ":
        return False
    found = _NEXT.match(classes, end)
    following = found[1] if found else ""
    if following[:1].islower() and not _in_small_letters(classes, begin, stop.start()):
        return False
    if stop[0] in ("...", "…", ".."):
        return following not in ("", "I")
    return stop[0] != "." or _ends_after_period(classes, begin, stop.start(), following)


def _in_small_letters(classes: str, begin: int, end: int) -> bool:
    """Whether the sentence itself began with a small letter, as people write in chats."""
    first = _WORD.search(classes, begin, end)
    return first is not None and first[0].islower()


def _ends_after_period(classes: str, begin: int, period: int, following: str) -> bool:
    found = _LAST_WORD.search(classes, max(begin, period - _LONGEST_WORD), period)
    word = found[0].lower() if found else ""
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


# A longer sentence is cut: what a chart takes grows with the square of its length.
LONGEST_SENTENCE: Final = 400
MOST_WORDS: Final = 3000  # of a sentence that must not be cut: the time for it grows with the cube of its length
_GOOD_CUTS: Final = (";", ":", ",", ".", "!", "?", ")")


def read_sentences(text: str, mode: Mode = "text") -> Iterator[tuple[Span, list[Token]]]:
    """Each sentence with its tokens; they count characters from the start of the sentence."""
    for span in split_sentences(text, mode):
        yield from tokenize_span(text, span)


def tokenize_span(text: str, span: Span) -> Iterator[tuple[Span, list[Token]]]:
    """A sentence with its tokens, cut into several where it is too long."""
    tokens = tokenize(text[span.start : span.end])
    if len(tokens) <= LONGEST_SENTENCE:
        yield span, tokens
        return
    for part in _cut(tokens):
        first = part[0].start
        moved = [token._replace(start=token.start - first, end=token.end - first) for token in part]
        yield Span(span.start + first, span.start + part[-1].end), moved


def _cut(tokens: list[Token]) -> Iterator[list[Token]]:
    """Pieces that are not too long, cut after punctuation where there is some in their second half."""
    start = 0
    while len(tokens) - start > LONGEST_SENTENCE:
        places = range(start + LONGEST_SENTENCE, start + LONGEST_SENTENCE // 2, -1)
        end = next((place for place in places if tokens[place - 1].form in _GOOD_CUTS), start + LONGEST_SENTENCE)
        yield tokens[start:end]
        start = end
    yield tokens[start:]
