"""Finds sentences. They end at full stops, judged by the words around, at empty lines, around list items and other
lines that stand for themselves (layout.py) and, if asked, at every line end."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, Literal, NamedTuple, TypeAlias, get_args

from fencepost.errors import require_choice
from fencepost.text.character_classes import BULLET, DASH, EMOJI, EXTENDER, FULL_STOP, JOINER, OTHER, classify
from fencepost.text.conventions import ENGLISH, SentenceWords
from fencepost.text.languages import rules
from fencepost.text.layout import is_line_border, item_border
from fencepost.text.tokens import ACRONYM, Token, tokenize

# "text": line ends are just whitespace; "paragraph": no sentence crosses a line end; "line": one sentence per line.
Mode: TypeAlias = Literal["text", "paragraph", "line"]


class Span(NamedTuple):
    """A sentence: ``text[start:end]``, without surrounding whitespace."""

    start: int
    end: int


# Where a sentence may end: stops, also spaced ones (". . ."), line ends, and marks of the next item of a list.
_ENDS: Final = re.compile(
    rf"[.!?…{FULL_STOP}\n{BULLET}){DASH}-]"  # one set of characters comes first: the search for it is fast
    rf"(?:(?<=[.!?…])[.!?…]*(?:\s\.+(?![A-Za-z0-9.]))*|(?<={FULL_STOP}){FULL_STOP}*|(?<=[\n{BULLET}])|(?<=[0-9]\))(?=\s)"
    rf"|(?<=[{DASH}-])(?=[\"”]\s[\"“]))"  # “But how—” “Listen!”
)
# Quotes, brackets, numbers of notes and emoji that belong to the stop before them.
_CLOSERS: Final = re.compile(
    rf"[\"'”)\]}}]*(?:\[[0-9]{{1,3}}\])*(?:[^\S\n]?{EMOJI}[{EMOJI}{EXTENDER}{JOINER}]*|[^\S\n][:;]-?[()DP](?!\S))*"
)
_SPACED_CLOSERS: Final = re.compile(rf"(?:[^\S\n]?\)(?![^\s)\"'”]))*{_CLOSERS.pattern}")  # « a French quotation. »
_NEXT: Final = re.compile(rf"\s*(?:[\"'“‘`(\[{{*_>{BULLET}–-]\s?){{0,64}}([A-Za-z0-9]{{0,20}})")
_SMILEY: Final = re.compile(r"[^\S\n][:;]-?[()DP]?")
_NOTE: Final = re.compile(r"\s*\[(?:[0-9]{1,3}|[.…]{1,3})?\]?\s*")
_SPEAKER: Final = re.compile(
    r"\s+(?:(?:Mr|Mrs|Ms|Dr|Miss)\b\.?\s?)?((?:[A-Z][A-Za-z'-]*\s?){0,3})(?:[a-z]{1,12}ly\s)?([a-z]*)(?:\s([a-z]*))?"
)
_LAST_WORD: Final = re.compile(r"[A-Za-z0-9.&'-]+\Z")
_LONGEST_WORD: Final = 24
_UNIT: Final = re.compile(r"[0-9]\s?(?:[a-z]|°\s?[CFK])\Z")
_TIME: Final = re.compile(r"[0-9]\s?[ap]\.m\Z", re.IGNORECASE)
_PRONOUN_I: Final = re.compile(r"\b(?:and|or|nor|than|as|not|am|is|was)\sI\Z")
_FRONTED: Final = re.compile(
    r"\W{0,64}(?:At|By|Around|About|Until|Before|After|From|Since|On|In)\s(?:[^,;:]|(?<=[0-9]):(?=[0-9])){0,30}"
)
_STATE: Final = re.compile(r"[A-Za-z],\s(?:Cal|Del|Ga|Ill|Ind|La|Mass|Miss|Mo|Ore|Pa|Wash)\Z")
_REST_OF_CITATION: Final = re.compile(rf"\s(?:[A-Z][a-z]{{0,4}}\.|[0-9]|{OTHER})")
_IN_SMALL_LETTERS: Final = re.compile(r"[a-z]{1,2}[A-Z]|(?:www|https?)\Z")  # eBay, https://
# A small word before a stop without a blank, and the next word: "We left.She stayed."
_GLUED: Final = re.compile(r"(?<![^\s\"'“‘(])[A-Za-z]?[a-z']{2,20}\Z")
_AFTER_GLUE: Final = re.compile(r"(I(?=['\s])|[A-Z][a-z]{1,20}(?=[,'\s]))")
_ENUMERATION: Final = re.compile(r"\W{0,64}(?:[0-9]{1,3}(?:\.[0-9]{1,3})*|[A-Za-z]|[ivx]{1,5}|[IVX]{1,5})")
_ORDINAL: Final = re.compile(r"[0-9]{1,2}|[IVX]{1,5}")
_CLAUSE: Final = re.compile(r"\s([a-z]{1,20})(?=[\s,])")
_ENDS_OF_CLAUSES: Final = re.compile(f"{_ENDS.pattern}|[,;]")
_ROMAN: Final = re.compile(r"[IVXLCDM]{2,}|[VXLCDM]")
_MOST_BORDERS_AHEAD: Final = 5  # in the words that are looked at after a stop
_LONGEST_ASIDE: Final = 200  # characters; a bracket that is still open after them was never closed
_MOST_SIGNS: Final = 500  # before the first word of a sentence; every stop looks at them, so a million would take hours
_BLANK_LINES: Final = re.compile(r"\n[^\S\n]*\n\s*")
_LINES: Final = re.compile(r"\n")
_WORD: Final = re.compile(r"[A-Za-z]")
_NOT_BLANK: Final = re.compile(r"\S")


def split_sentences(text: str, mode: Mode = "text", language: str = "en") -> list[Span]:
    """The sentences of a text in order. Everything outside them is whitespace."""
    parts = _pieces(text, border(mode))
    if mode == "line":
        return parts
    words = rules(language).sentences
    return [sentence for part in parts for sentence in _split(text, part, words)]


def count_certain(text: str, spans: list[Span], mode: Mode = "text", language: str = "en") -> int:
    """How many of the sentences are final, whatever text comes next."""
    if not spans or border(mode).search(text, spans[-1].end):
        return len(spans)
    if mode == "line":
        return len(spans) - 1
    recent = range(max(0, len(spans) - _MOST_BORDERS_AHEAD), len(spans) - 1)
    quotes = rules(language).sentences.quotes
    return next((index for index in recent if _may_join(text, spans[index], quotes)), len(spans) - 1)


def border(mode: Mode) -> re.Pattern[str]:
    """A pattern that no sentence crosses."""
    require_choice("mode", mode, get_args(Mode))
    return _BLANK_LINES if mode == "text" else _LINES


def _may_join(text: str, span: Span, quotes: Mapping[int, str]) -> bool:
    """True if the text breaks off in the words after a sentence, whose rest may show that it doesn't end there."""
    following = classify(text[span.end :].translate(quotes))
    is_quoted = classify(text[span.end - 1].translate(quotes)) in _CLOSING_QUOTES
    matches = (pattern.match(following) for pattern in (_NEXT, _NOTE, _SMILEY, *((_SPEAKER,) if is_quoted else ())))
    return any(match is not None and match.end() == len(following) for match in matches)


def _pieces(text: str, border: re.Pattern[str]) -> list[Span]:
    borders = [0, *(edge for match in border.finditer(text) for edge in match.span()), len(text)]
    pieces = zip(borders[::2], borders[1::2], strict=True)
    return [piece for start, end in pieces if (piece := _strip(text, start, end))]


def _strip(text: str, start: int, end: int) -> Span | None:
    part = text[start:end]
    bare = part.lstrip()
    start += len(part) - len(bare)
    return Span(start, start + len(bare.rstrip())) if bare else None


def _split(text: str, part: Span, words: SentenceWords) -> Iterator[Span]:
    source = text[part.start : part.end + 1]  # a blank after the last colon makes it that of a speaker
    classes = classify(source.translate(words.quotes) if words.quotes else source)
    # English words are looked up by their classes, in which letters with accents are plain.
    spelling = classes if words is ENGLISH else source
    begin = 0
    for stop in (_ENDS_OF_CLAUSES if words.clauses else _ENDS).finditer(classes):
        end = stop.start()
        if end < begin:
            continue
        if stop[0] == "\n":
            ends = is_line_border(classes, begin, end)
        elif stop[0] in (BULLET, ")"):
            end = item_border(classes, begin, end)
            ends = end > begin
        elif stop[0] in (",", ";"):
            end = stop.end()
            ends = _ends_clause(classes, spelling, stop[0], end, words)
        else:
            closers = (_CLOSERS if words is ENGLISH else _SPACED_CLOSERS).match(classes, stop.end())
            end = closers.end() if closers else stop.end()
            ends = begin < end < len(classes) and _is_border(classes, spelling, begin, stop, end, words)
        if ends:
            if span := _strip(text, part.start + begin, part.start + end):
                yield span
            first = _NOT_BLANK.search(classes, end)
            begin = first.start() if first else len(classes)
    if span := _strip(text, part.start + begin, part.end):
        yield span


def _is_border(classes: str, spelling: str, begin: int, stop: re.Match[str], end: int, words: SentenceWords) -> bool:
    """True if the sentence from ``begin`` ends at ``end``, which is after a full stop and closing quotes."""
    if stop[0][0] == FULL_STOP:
        return end == stop.end() or spelling[end] not in words.held_by  # as in 「はい。」と言った。
    if not classes[end].isspace():
        return end == stop.end() and words is ENGLISH and _lacks_blank(classes, begin, stop.start(), end, words)
    mark, closers = "".join(stop[0].split()), classes[stop.end() : end]
    if EMOJI in closers or (" " in closers and words is ENGLISH):  # a smiley, not a French quote
        return True
    ahead = _NEXT.match(classes, end)
    following = ahead[1] if ahead else ""
    spelled = spelling[ahead.start(1) : ahead.end(1)].lower() if ahead else ""
    starts = following[:1].isupper() and spelled in words.starters
    is_small = following[:1].islower() and not _IN_SMALL_LETTERS.match(following)
    if is_small and not _begins_in_lower_case(classes, begin, stop.start()):
        return False
    if spelled in words.never_first or (ahead and "[" in ahead[0] and _NOTE.fullmatch(classes, end)):
        return False
    # Inside brackets, two of three signs must show that the period ends the sentence around them.
    signs = (mark == ".", ")" in closers or "]" in closers, starts)
    if sum(signs) < 2 and _is_in_brackets(classes, begin, stop.start()):
        return False
    is_answered = closers[-1:] in _CLOSING_QUOTES and ahead is not None and ahead[0].lstrip()[:1] in _OPENING_QUOTES
    if mark in ("...", "…", ".."):
        ends = following not in ("", "I") or is_answered
    elif mark == ".":
        ends = _ends_after_period(classes, spelling, begin, stop.start(), following, spelled, starts, words)
    else:
        ends = True
    return ends and not (mark != "." and closers[-1:] in _CLOSING_QUOTES and _is_reported(classes, end, words))


_NOT_A_REPORT: Final = ("nothing", "no", "that", "of", "for")  # after "said", "asked" and the like
_CLOSING_QUOTES: Final = ('"', "'", "”")
_OPENING_QUOTES: Final = ('"', "“")


def _lacks_blank(classes: str, begin: int, stop: int, end: int, words: SentenceWords) -> bool:
    """True if the blank after a sentence is missing: the words around are ordinary, and the next often begins one."""
    before, after = _GLUED.search(classes, max(begin, stop - _LONGEST_WORD), stop), _AFTER_GLUE.match(classes, end)
    if before is None or after is None or after[1].lower() not in words.starters:
        return False
    return not any(before[0].lower() in group for group in (words.never_last, words.before_numbers, words.others))


def _begins_in_lower_case(classes: str, begin: int, end: int) -> bool:
    """True if the sentence itself begins in lower case, as people write in chats."""
    first = _WORD.search(classes, begin, min(end, begin + _MOST_SIGNS))
    return first is not None and first[0].islower()


def _is_in_brackets(classes: str, begin: int, stop: int) -> bool:
    """True if a bracket was opened inside the sentence, after its first word, and is still open."""
    near = max(begin, stop - _LONGEST_ASIDE)
    opened = max(classes.rfind("(", near, stop), classes.rfind("[", near, stop))
    if (
        opened <= begin
        or not classes[opened - 1].isspace()
        or not _WORD.search(classes, max(begin, opened - _MOST_SIGNS), opened)
    ):
        return False
    return opened > max(classes.rfind(")", opened, stop), classes.rfind("]", opened, stop))


def _is_reported(classes: str, end: int, words: SentenceWords) -> bool:
    """True if the speaker of a quoted exclamation or question is named next: ``"Stop!" Ada cried``."""
    match = _SPEAKER.match(classes, end)
    if match is None or not match[1] or match[1].split()[0].lower() in words.starters:
        return False
    return match[2] in words.saying and match[3] not in _NOT_A_REPORT


def _ends_after_period(
    classes: str,
    spelling: str,
    begin: int,
    period: int,
    following: str,
    spelled: str,
    starts: bool,
    words: SentenceWords,
) -> bool:
    match = _LAST_WORD.search(classes, max(begin, period - _LONGEST_WORD), period)
    word = match[0] if match else ""
    lower = spelling[period - len(word) : period].lower()
    if _ENUMERATION.fullmatch(classes, begin, period):
        return False
    is_title = lower in words.titles and (word[0].isupper() or following.islower())
    if lower in words.never_last or word == "v" or is_title:
        return lower == "st" and starts
    if words.ordinals and _ORDINAL.fullmatch(word):
        return starts and spelled not in words.days_and_months
    if len(word) == 1 and word.isalpha():
        around = classes[max(begin, period - 8) : period]
        if (_UNIT.search(around) and not following[:1].isdigit()) or _PRONOUN_I.search(around):
            return True
    if lower in words.before_numbers and not (len(word) == 1 and word.isupper()):
        return not (any(map(str.isdigit, following)) or _ROMAN.fullmatch(following))
    if lower in words.cited and not starts and _REST_OF_CITATION.match(classes, period + 1):
        return False
    if (
        words is ENGLISH
        and following[:1].isdigit()
        and _STATE.search(classes, max(begin, period - _LONGEST_WORD), period)
    ):
        return False
    if lower == "al":
        return starts or not classes.endswith("et al", begin, period)
    if lower in ("a.m", "p.m") and _TIME.search(classes, max(begin, period - _LONGEST_WORD), period):
        is_date = spelled in words.days_and_months or (len(following) > 1 and following.isupper())
        return following[:1].isupper() and not is_date and not _FRONTED.fullmatch(classes, begin, period)
    if lower in words.others or ACRONYM.fullmatch(word):
        return starts
    # Initials are capitals, but English has units and items in small letters, too; "á" is an Icelandic word.
    is_initial = len(word) == 1 and word.isalpha() and (words is ENGLISH or word.isupper())
    return starts if is_initial else True


def _ends_clause(classes: str, spelling: str, mark: str, end: int, words: SentenceWords) -> bool:
    """True if a clause ends at a comma or semicolon, in treebanks whose sentences are main clauses."""
    ahead = _CLAUSE.match(classes, end)
    if ahead is None:
        return False
    following = spelling[ahead.start(1) : ahead.end(1)]
    return following not in words.continues if mark == ";" else following in words.clauses


# A longer sentence is cut: the memory for its chart grows with the square of its length.
LONGEST_SENTENCE: Final = 400
MOST_WORDS: Final = 3000  # in a sentence that must not be cut: parsing time grows with the cube of its length
_GOOD_CUTS: Final = (";", ":", ",", ".", "!", "?", ")")


def length_problem(words: int) -> str | None:
    """What is wrong with a sentence that is too long to be parsed. It continues "the sentence has"."""
    return None if words <= MOST_WORDS else f"{words:,} words; at most {MOST_WORDS:,} can be parsed"


def read_sentences(text: str, mode: Mode = "text", language: str = "en") -> Iterator[tuple[Span, list[Token]]]:
    """Each sentence with its tokens, whose offsets count from the start of the sentence."""
    split = rules(language).tokenize
    for span in split_sentences(text, mode, language):
        yield from tokenize_span(text, span, split)


def tokenize_span(
    text: str, span: Span, split: Callable[[str], list[Token]] = tokenize
) -> Iterator[tuple[Span, list[Token]]]:
    """A sentence with its tokens; several shorter ones if it is too long."""
    tokens = split(text[span.start : span.end])
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
