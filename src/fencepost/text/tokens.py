"""Splits a sentence into Penn-style tokens, each with its position. Only whitespace is left out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Final, NamedTuple

from fencepost.text.abbreviations import ENDS_A_LIST, NEVER_LAST, OTHERS, TITLES
from fencepost.text.character_classes import DASH, EMOJI, EXTENDER, FLAG_LETTER, JOINER, OTHER, classify
from fencepost.trees.tree import NOT_TEXT


class Token(NamedTuple):
    """A word or punctuation mark. ``text`` is the original; ``form`` is what the parser reads, with Penn's quotes."""

    text: str
    start: int
    end: int
    form: str


_token: Final = partial(tuple.__new__, Token)  # Token(*fields) takes twice as long

_W: Final = f"[A-Za-z0-9_{JOINER}{EXTENDER}]"
_ELIDED: Final = "ol|o|nothin|somethin|goin|comin|doin|gettin|talkin|lookin|tryin|makin"
_ELIDED_G: Final = re.compile(r"[A-Za-z]{2}in'(?![A-Za-z0-9'])")  # the end of "waitin'"
_OPEN_QUOTE: Final = re.compile(r"(?<![^\s([{=\"“–-])['‘`](?!(?i:em|til|bout|cause|n')(?![A-Za-z]))(?=\S)")
_LONGEST_QUOTATION: Final = 1000  # characters
# A hyphen stays with its word before "and" and the like, at a line end, and after up to three letters ("th- the").
_LEFT_HANGING: Final = (
    r"-(?:(?=,|\s(?:and|or|nor|to|versus|vs)\b)|(?= ?\n)|(?<![A-Za-z0-9'][A-Za-z]{3}-)(?<=[A-Za-z]-)(?![^\s.?!]))"
)
_PATTERNS: Final = (
    r"[A-Za-z]+(?=[\s,;!?)])(?!;[Dd][Rr]\b)",  # most words: the patterns below would find the same, after more attempts
    r"(?P<url>(?:https?|ftp|file)://[^\s<>\"“”]+|www\.[^\s<>\"“”]+"
    r"|[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){0,8}\.(?:com|org|net|edu|gov|io|uk|de|info|co)/[^\s<>\"“”]*"
    rf"|(?<![^\s\"'“‘(\[`])(?:[A-Za-z]:\\(?={_W})[^\s<>|\"“”]*|(?:~/\.?|/\.?{_W}[A-Za-z0-9._+-]*/\.?){_W}[A-Za-z0-9._+/-]*))",
    r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9](?:[A-Za-z0-9.-]{0,250}[A-Za-z0-9])?",
    rf"[@\#][A-Za-z_]{_W}*",
    r"(?<!\S)(?:[:;=][-o^']?[()\[\]DPpOo/\\|*]+|[:<]3+|[xX]D+)(?![^\s.,!?])",
    rf"(?<!\S)(?:(?:\^_+\^|[oO]_+[oO]|-_+-|>_+<)(?![^\s.,!?])|{OTHER}\\_\(A\)_/{OTHER})",
    r"[-=]{1,3}>|<[-=]{1,3}|[<>!:+-]=|&&",
    r"(?<=`)--?[A-Za-z][A-Za-z0-9]*(?:-[A-Za-z0-9]+)*",  # an option of a command, in a span of code
    rf"(?i:tl;dr)(?!{_W})",
    r"`{3,}",
    rf"[0-9\#*]{EXTENDER}+",
    rf"{FLAG_LETTER}{{1,2}}",
    rf"{EMOJI}{EXTENDER}*(?:{JOINER}{EMOJI}{EXTENDER}*)*",
    r"\.{2,}|…+",
    rf"-{{2,}}|{DASH}+",
    r"``|''|‘‘|\"|“|”",
    r"['‘][0-9]{2}s?(?![A-Za-z0-9])",
    r"(?i:['‘](?:em|til|tis|twas|twere|twill|twould|cause|bout|cuz|nuff|n')|'(?:s|m|d|ll|re|ve|n))(?![A-Za-z0-9'])",
    r"(?<![^\s(])[-+]\.?[0-9]+(?:[-.,/:][0-9]+)*|\.[0-9]+",
    r"(?:US|[A-Z]{1,2})\$(?=\.?[0-9])",
    rf"(?:[A-Z]\+|[CFJ]\#)(?!{_W}|\+)|[Ww]/(?=\s)|°[CFK](?!{_W})",
    r"(?<![^\s\"'“‘(\[/])\.(?:[A-Z]{2,8}|[a-z][a-z0-9]{1,8})(?![A-Za-z0-9])",
    rf"(?i:(?:{_ELIDED})')(?!{_W})",
    rf"(?P<word>{_W}+(?:(?:\.-|[-'./&+]|(?<=[0-9])[,:](?=[0-9])){_W}+)*"
    rf"(?:\.(?!\.)|\+\+[0-9]{{0,2}}(?!{_W})|\((?:e?s|ies)\)|{_LEFT_HANGING})?)",
    r"[!?]+",
    r"\*+|=+|~+|\#+|\|+|\^+|/+|\\+",
    r"\S",
)
_TOKEN: Final = re.compile("|".join(_PATTERNS))
_AFTER_URL: Final = ".,;:!?'*"
# What may follow a full stop that ends a sentence or a quotation: quotes and brackets, then notes, emoji, more stops.
_CLOSERS: Final = re.compile("[\"'”)\\]}]+(?=\\s)")
_AFTER_SENTENCE: Final = re.compile(
    rf"[\"'”)\]}}]*(?:\s*(?:\[(?:[0-9]{{1,3}}|[.…]+)\]|[{EMOJI}{EXTENDER}{JOINER}]|\"|''|(?<=\s)[:;]-?[()DP]|(?<=\s)\.))*\s*\Z"
)
_MORE_STOPS: Final = re.compile(r"\s\.(?![A-Za-z0-9])")
_AFTER_STOP: Final = (_CLOSERS, _MORE_STOPS, _AFTER_SENTENCE)
_ENDING: Final = re.compile(r"(n't|'(?:s|m|d|ll|re|ve))$", re.IGNORECASE)
# Contractions without their apostrophe, as in chats. "cant", "its", "wont" and the like are also words of their own.
# "im" stays whole: an encoder's sub-tokens can't tell its halves apart.
_NEGATED: Final = "ai are could did does do had has have is need should was were would"
_CLIPPED: Final = (
    "i've it'll she's that'll that's there's they'll they're they've we've what's where's who's you'll you're you've"
)
# Words that the Penn Treebank splits in two, and where.
_TWO_WORDS: Final[dict[str, int]] = {
    "cannot": 3,
    "gonna": 3,
    "gotta": 3,
    "wanna": 3,
    "lemme": 3,
    "gimme": 3,
    "d'ye": 2,
    "more'n": 4,
    "'tis": 2,
    "'twas": 2,
    "'twere": 2,
    "'twill": 2,
    "'twould": 2,
    "d'you": 2,
    "y'all": 2,
    "c'mon": 3,
    **{f"{verb}nt": len(verb) for verb in _NEGATED.split()},
    **{word.replace("'", ""): word.index("'") for word in _CLIPPED.split()},
}
_SMALL: Final = {word for word in _TWO_WORDS if word.isalpha()}
_NAMES: Final = {"Arent", "Ive", "IVE"}
_TWO_PLAIN_WORDS: Final = {form for word in _SMALL for form in (word, word.capitalize(), word.upper())} - _NAMES
ACRONYM: Final = re.compile(r"(?:[A-Za-z]\.)+[A-Za-z]")


def tokenize(sentence: str) -> list[Token]:
    """The tokens of one sentence. Its final period is a token of its own; other periods stay with their words."""
    classes = classify(sentence)
    spans = _spans(classes)
    if _may_have_contractions(classes, spans):
        spans = [part for span in spans for part in _parts(classes, *span)]
    return _with_forms(sentence, classes, spans)


def penn_forms(sentence: str, spans: list[tuple[int, int]]) -> list[str]:
    """The forms that the parser reads for tokens from another tokenizer, given their spans in the sentence."""
    return [token.form for token in _with_forms(sentence, classify(sentence), spans)]


def is_abbreviation(word: str) -> bool:
    """True if a word, given without its period, keeps the period even at the end of a sentence."""
    return (
        word.lower() in _KEEP_THE_PERIOD
        or (word.lower() in TITLES and word[0].isupper())
        or bool(ACRONYM.fullmatch(word))
    )


_KEEP_THE_PERIOD: Final = NEVER_LAST | OTHERS | {ENDS_A_LIST}


def _spans(classes: str) -> list[tuple[int, int]]:
    """The spans of tokens before contractions are split."""
    spans, position, last = [], 0, len(classes.rstrip())
    while True:
        for match in _TOKEN.finditer(classes, position):
            start, end = span = match.span()
            if match.lastgroup is None:
                spans.append(span)
                continue
            if match.lastgroup == "url":
                end = end_of_url(classes, start, end)
            elif classes[end - 1] == "." and _is_full_stop(classes, start, end, last):
                end -= 1
            elif _ELIDED_G.match(classes, max(start, end - 4)) and not _is_quoted(classes, start):
                end += 1
            spans.append((start, end))
            if end != match.end():  # search again from where the token ends
                position = end
                break
        else:
            return spans


def _is_quoted(classes: str, start: int) -> bool:
    """True if a single quote may be open, so that the next one closes it."""
    return _OPEN_QUOTE.search(classes, max(0, start - _LONGEST_QUOTATION), start + 1) is not None


def end_of_url(classes: str, start: int, end: int) -> int:
    """The end of a URL without the punctuation of the sentence around it."""
    opened = any(bracket in classes[start:end] for bracket in "([{")
    outside = _AFTER_URL if opened else _AFTER_URL + ")]}"
    return start + max(1, len(classes[start:end].rstrip(outside)))


def _is_full_stop(classes: str, start: int, end: int, last: int) -> bool:
    """True if the period of a word ends the sentence, or a quotation inside it."""
    ends = end == last or any(pattern.match(classes, end) for pattern in _AFTER_STOP)
    return ends and not is_abbreviation(classes[start : end - 1])


def _may_have_contractions(classes: str, spans: list[tuple[int, int]]) -> bool:
    return "'" in classes or not _TWO_PLAIN_WORDS.isdisjoint([classes[start:end] for start, end in spans])


def _parts(classes: str, start: int, end: int) -> list[tuple[int, int]]:
    """A token, or the parts of a contraction: ``should | n't | 've``."""
    word = classes[start:end]
    if first := _first_half(word):
        return [(start, start + first), (start + first, end)]
    if "'" not in word:
        return [(start, end)]
    parts: list[tuple[int, int]] = []
    while ending := _ENDING.search(classes, max(start + 1, end - 3), end):
        parts.append((ending.start(), end))
        end = ending.start()
    if first := _first_half(classes[start:end]):  # "y'all" in "y'all're"
        return [(start, start + first), (start + first, end), *reversed(parts)]
    return [(start, end), *reversed(parts)]


def _first_half(word: str) -> int | None:
    """Where a word of ``_TWO_WORDS`` is split; None for other words, and for names such as Ive."""
    is_split = word in _TWO_PLAIN_WORDS or "'" in word
    return _TWO_WORDS.get(word.lower()) if is_split else None


def _with_forms(sentence: str, classes: str, spans: list[tuple[int, int]]) -> list[Token]:
    if not _MAY_CHANGE.search(classes) and not NOT_TEXT.search(sentence):
        plain = [(text := sentence[start:end], start, end, text) for start, end in spans]
        return list(map(_token, plain))
    return list(_changed(sentence, classes, spans))


def _changed(sentence: str, classes: str, spans: list[tuple[int, int]]) -> Iterator[Token]:
    """The tokens of a sentence with forms that may differ from its text."""
    is_open = False
    for start, end in spans:
        text, mark = sentence[start:end], classes[start:end]
        form = NOT_TEXT.sub("\ufffd", _straight(text) if "'" in mark or mark[0] == "‘" else text)
        if mark in _QUOTES:
            form = _QUOTES[mark]
        elif mark in ('"', "'"):
            opens = _opens(classes, start, end, is_open or mark == "'")
            form = ("`" if opens else "'") * (1 if mark == "'" else 2)
            is_open = opens if mark == '"' else is_open
        yield Token(text, start, end, form)


def _straight(text: str) -> str:
    return text.replace("’", "'").replace("‘", "'")


_MAY_CHANGE: Final = re.compile("[\"'“”‘]")  # without these, and with text alone, every form is the text
_QUOTES: Final = {"“": "``", "”": "''", "‘‘": "``", "‘": "`"}


def _opens(classes: str, start: int, end: int, is_open: bool) -> bool:
    """True if a straight quote opens. The blanks around it decide or, failing that, whether a quote is open already."""
    blank_before = start == 0 or classes[start - 1] in " \n\t([{-–\"'`“‘"
    blank_after = end == len(classes) or classes[end] in " \n\t.,;:!?)]}-–\"'”"
    return blank_before if blank_before != blank_after else not is_open and end < len(classes)
