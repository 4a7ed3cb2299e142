"""Sets of characters as sorted ranges, with the classes that Java's regular expressions know by name."""

from __future__ import annotations

import re
import sys
import unicodedata
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final, TypeAlias

from fencepost.search.scripts import BLOCKS, SCRIPTS, Script

Ranges: TypeAlias = tuple[tuple[int, int], ...]  # first and last code point, in order, apart from each other

LAST: Final = sys.maxunicode
EVERYTHING: Final[Ranges] = ((0, LAST),)
LINE_ENDS: Final = "\n\r\x85\u2028\u2029"
_POSIX: Final = {
    "Lower": "a-z",
    "Upper": "A-Z",
    "ASCII": "\0-\x7f",
    "Alpha": "a-zA-Z",
    "Digit": "0-9",
    "Alnum": "a-zA-Z0-9",
    "Punct": "!-/:-@[-`{-~",
    "Graph": "!-~",
    "Print": " -~",
    "Blank": " -\x20\t-\t",
    "Cntrl": "\0-\x1f\x7f-\x7f",
    "XDigit": "0-9a-fA-F",
    "Space": "\t-\r -\x20",
}
_LETTERS: Final = frozenset({"Lu", "Ll", "Lt", "Lm", "Lo", "Nl"})
_IN_WORDS: Final = _LETTERS | {"Mn", "Mc", "Me", "Nd", "Pc"}
_CIRCLED: Final = frozenset(
    map(chr, (*range(0x24B6, 0x24EA), *range(0x1F130, 0x1F14A), *range(0x1F150, 0x1F16A), *range(0x1F170, 0x1F18A)))
)
_IDEOGRAPHS: Final = re.compile(
    "^CJK UNIFIED|^CJK COMPATIBILITY IDEOGRAPH|^HANGZHOU NUMERAL|^IDEOGRAPHIC (CLOSING MARK|NUMBER ZERO)"
    "|^TANGUT |^NUSHU CHARACTER|^KHITAN SMALL SCRIPT CHARACTER"
)
_UNICODE: Final[dict[str, Callable[[str], bool]]] = {
    "Alphabetic": lambda character: unicodedata.category(character) in _LETTERS or character in _CIRCLED,
    "Letter": str.isalpha,
    "Digit": str.isdecimal,
    "Lowercase": str.islower,
    "Uppercase": str.isupper,
    "White_Space": lambda character: is_space(character),
    "WhiteSpace": lambda character: is_space(character),
    "Punctuation": lambda character: unicodedata.category(character)[0] == "P",
    "Ideographic": lambda character: _IDEOGRAPHS.search(unicodedata.name(character, "")) is not None,
    "javaLowerCase": str.islower,
    "javaUpperCase": str.isupper,
    "javaWhitespace": lambda character: character.isspace() and character not in "\x85\xa0\u2007\u202f",
    "javaLetter": str.isalpha,
    "javaDigit": str.isdecimal,
    "javaLetterOrDigit": lambda character: character.isalpha() or character.isdecimal(),
}
_SCRIPT_OR_BLOCK: Final = re.compile("(?:Is|script=|sc=)(?P<script>.+)|(?:In|block=|blk=)(?P<block>.+)")
_CATEGORY: Final = re.compile("C[cfnos]?|L[lmotu]?|M[cen]?|N[dlo]?|P[cdefios]?|S[ckmo]?|Z[lps]?")


def union(*sets: Ranges) -> Ranges:
    merged: list[tuple[int, int]] = []
    for first, last in sorted(pair for ranges in sets for pair in ranges):
        if merged and first <= merged[-1][1] + 1:
            merged[-1] = merged[-1][0], max(last, merged[-1][1])
        else:
            merged.append((first, last))
    return tuple(merged)


def complement(ranges: Ranges) -> Ranges:
    gaps: list[tuple[int, int]] = []
    start = 0
    for first, last in ranges:
        if first > start:
            gaps.append((start, first - 1))
        start = last + 1
    return tuple(gaps) if start > LAST else (*gaps, (start, LAST))


def intersection(one: Ranges, other: Ranges) -> Ranges:
    return complement(union(complement(one), complement(other)))


def of_characters(characters: Iterable[str]) -> Ranges:
    return union(tuple((ord(character), ord(character)) for character in characters))


def _of_ends(text: str) -> Ranges:
    """Ranges from text such as ``a-zA-Z``, three characters each."""
    return union(tuple((ord(text[at]), ord(text[at + 2])) for at in range(0, len(text), 3)))


DIGITS: Final = _of_ends("0-9")
WORD: Final = _of_ends("a-zA-Z0-9_-_")
SPACE: Final = _of_ends("\t-\r -\x20")
HORIZONTAL: Final = of_characters(" \t\xa0\u1680\u180e\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B))))
VERTICAL: Final = of_characters("\n\x0b\f\r\x85\u2028\u2029")


@lru_cache(maxsize=64)
def where(holds: Callable[[str], bool]) -> Ranges:
    """The characters for which a test is true."""
    return of_characters(character for character in map(chr, range(LAST + 1)) if holds(character))


def is_space(character: str) -> bool:
    """True for what Unicode calls white space. Python adds four separators of files and records."""
    return character.isspace() and not "\x1c" <= character <= "\x1f"


def is_in_word(character: str) -> bool:
    """True for the ``\\w`` of Java's flag U: letters, their marks, digits and connectors."""
    return unicodedata.category(character) in _IN_WORDS or character in _CIRCLED or character in "\u200c\u200d"


def _of_numbers(text: str) -> Ranges:
    """Ranges from hexadecimal numbers such as ``60B 10E60-10E7E``."""
    pairs = [part.partition("-") for part in text.split()]
    return union(tuple((int(first, 16), int(last or first, 16)) for first, _, last in pairs))


def _of_script(script: Script) -> Ranges:
    named = where(lambda character: script.name.search(unicodedata.name(character, "")) is not None)
    return intersection(union(named, _of_numbers(script.more)), complement(_of_numbers(script.less)))


@lru_cache(maxsize=64)
def named(name: str) -> Ranges | None:
    """The class that Java writes ``\\p{name}``, or None if it isn't known."""
    if name in _POSIX:
        return _of_ends(_POSIX[name])
    plain = name.removeprefix("Is").removeprefix("general_category=").removeprefix("gc=")
    if _CATEGORY.fullmatch(plain):
        return where(lambda character: unicodedata.category(character).startswith(plain))
    if plain in _UNICODE and name.startswith(("Is", "java")):
        return where(_UNICODE[plain])
    kind = _SCRIPT_OR_BLOCK.fullmatch(name)
    if kind is None:
        return None
    if kind["script"] is not None:
        script = SCRIPTS.get(kind["script"].lower())
        return None if script is None else _of_script(script)
    block = BLOCKS.get(re.sub("[ _-]", "", kind["block"].lower()))
    return None if block is None else _of_numbers(block)


def other_cases(ranges: Ranges, unicode: bool) -> Ranges:
    """The set with the other case of each letter: of ASCII letters, or of all."""
    highest = 0x1FFFF if unicode else 0x7F
    more: set[str] = set()
    for first, last in ranges:
        for character in map(chr, range(first, min(last, highest) + 1)):
            more.update(case for case in (character.lower(), character.upper()) if len(case) == 1)
    return union(ranges, of_characters(case for case in more if unicode or ord(case) < 128))
