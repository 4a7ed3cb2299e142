"""What languages write differently: the lists that the splitter and the tokenizer read.

English stands in abbreviations.py, other languages in the files of by_language/, one for each treebank's conventions.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from typing import Any, Final

from fencepost.text import abbreviations as english

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_NO_WORDS: Final[frozenset[str]] = frozenset()


@dataclass(frozen=True)
class SentenceWords:
    """Words that decide whether a full stop ends a sentence, in small letters and without their last period."""

    never_last: frozenset[str] = _NO_WORDS  # a name or an explanation follows
    titles: frozenset[str] = _NO_WORDS  # the same, but only with a capital
    before_numbers: frozenset[str] = _NO_WORDS  # abbreviations before a number, otherwise ordinary words
    cited: frozenset[str] = _NO_WORDS  # abbreviations before a number or another abbreviation, otherwise words
    others: frozenset[str] = _NO_WORDS  # may end a sentence, before a word that often begins one
    never_first: frozenset[str] = _NO_WORDS
    starters: frozenset[str] = _NO_WORDS  # words that often begin a sentence
    days_and_months: frozenset[str] = _NO_WORDS
    saying: frozenset[str] = _NO_WORDS
    ordinals: bool = False  # "3." is an ordinal number in the middle of a sentence
    clauses: frozenset[str] = _NO_WORDS  # a clause with one of these after a comma is a sentence, as is one after ";"
    continues: frozenset[str] = _NO_WORDS  # unless one of these follows the ";"
    held_by: frozenset[str] = _NO_WORDS  # what goes on after a quotation in a script without spaces
    quotes: Mapping[int, str] = field(default_factory=dict)  # signs that close, or both open and close


ENGLISH: Final = SentenceWords(
    never_last=english.NEVER_LAST,
    titles=english.TITLES,
    before_numbers=english.BEFORE_NUMBERS,
    cited=english.CITED,
    others=english.OTHERS,
    never_first=english.NEVER_FIRST,
    starters=english.STARTERS,
    days_and_months=english.DAYS_AND_MONTHS,
    saying=english.SAYING,
)


@dataclass(frozen=True)
class TokenRules:
    """How words are cut. Words are in small letters; apostrophes are straight."""

    joiners: str = "-'./&+"  # inside a word, between letters or digits
    number_joiners: str = ",:"  # between digits only
    percent: bool = False  # "5%" is one token
    grouped_numbers: bool = False  # "50 000" is one token
    elisions: frozenset[str] = _NO_WORDS  # cut after the apostrophe
    clitics: tuple[str, ...] = ()  # cut before them, at the end of a word
    hyphen_stays: bool = False  # with the word before a clitic: "destina-" "se"
    prefixes: tuple[str, ...] = ()  # cut after them, at the start of a word
    endings: tuple[str, ...] = ()  # cut before them without a hyphen, unless the word is in ``kept``
    shortest_stem: int = 2
    seam: str = ""  # marks both parts of a word that was cut before an ending
    kept: frozenset[str] = _NO_WORDS
    joined: frozenset[tuple[str, ...]] = frozenset()  # several tokens that are one word, joined by "_"
    cut: Mapping[str, tuple[int, str, str]] = field(default_factory=dict)  # words that are two: place and both forms
    forms: Mapping[int, str] = field(default_factory=dict)  # signs as the treebank writes them
    abbreviations: frozenset[str] = _NO_WORDS  # keep their period at the end of a sentence


@dataclass(frozen=True)
class Conventions:
    """A language's name, its lists, and the analyser that finds its words, where rules can't."""

    name: str
    sentences: SentenceWords
    tokens: TokenRules
    analyser: str | None = None


def has_conventions(name: str) -> bool:
    """True if by_language/ has a file of this name."""
    return bool(re.fullmatch(r"[a-z-]{2,20}", name)) and _file(name).is_file()


def read_conventions(name: str) -> Conventions:
    table = tomllib.loads(_file(name).read_text("utf-8"))
    if base := table.get("base"):
        parent = tomllib.loads(_file(base).read_text("utf-8"))
        for part in ("sentences", "tokens"):
            table[part] = {**parent.get(part, {}), **table.get(part, {})}
    sentences = SentenceWords(**_values(SentenceWords, table.get("sentences", {})))
    abbreviations = sentences.never_last | sentences.titles | sentences.others
    tokens = TokenRules(**_values(TokenRules, table.get("tokens", {})), abbreviations=abbreviations)
    return Conventions(table["name"], sentences, tokens, table.get("analyser"))


def _file(name: str) -> Any:
    return resources.files("fencepost.text").joinpath("by_language").joinpath(f"{name}.toml")


def _values(kind: type[SentenceWords] | type[TokenRules], table: dict[str, Any]) -> dict[str, Any]:
    types = {each.name: each.type for each in fields(kind)}
    return {key: _READERS.get(str(types[key]), lambda value: value)(value) for key, value in table.items()}


def _cuts(table: Mapping[str, str]) -> dict[str, tuple[int, str, str]]:
    """``{"do": "d|o de o"}``: where the word is cut, and the forms of its parts."""
    found = {}
    for word, entry in table.items():
        parts, first, second = entry.split()
        found[word] = parts.index("|"), first, second
    return found


_READERS: Final[dict[str, Any]] = {
    "frozenset[str]": lambda text: frozenset(text.split()),
    "tuple[str, ...]": lambda text: tuple(sorted(text.split(), key=len, reverse=True)),
    "frozenset[tuple[str, ...]]": lambda text: frozenset(tuple(line.split()) for line in text.strip().split("\n")),
    "Mapping[int, str]": str.maketrans,
    "Mapping[str, tuple[int, str, str]]": _cuts,
}
