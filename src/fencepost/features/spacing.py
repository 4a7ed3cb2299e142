"""Guesses the original text of words: treebanks don't say where spaces were, and pre-trained encoders read text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

WORDS_KEPT: Final = 50_000  # in the cache ...
LETTERS_KEPT: Final = 50  # ... which takes only words of at most this many letters
_TO_THE_LEFT: Final = re.compile(r"[.,;:?!%)\]}…]|\.\.+|''|’’|”|'|’|['’](?:s|d|m|ll|re|ve)|n['’]t", re.IGNORECASE)
_TO_THE_RIGHT: Final = re.compile(r"[$#(\[{£€]|[A-Z]+\$|``|‘‘|“|`|‘")
QUOTE: Final = '"'
PLAIN_QUOTES: Final = {"``": QUOTE, "''": QUOTE}  # the Penn Treebank's quotes


def guess_spaces(words: Sequence[str], language: str) -> tuple[bool, ...]:
    """True for each word that had a space after it. English has rules; in other languages every word has a space."""
    spaces = [True] * len(words)
    if language != "en":
        return tuple(spaces)
    inside = False  # between straight quotes
    for index, word in enumerate(words):
        leans_left, leans_right = (_remembered if len(word) <= LETTERS_KEPT else leans)(word)
        if word == QUOTE:
            leans_left, leans_right = inside, not inside
            inside = not inside
        if index and leans_left:
            spaces[index - 1] = False
        if leans_right:
            spaces[index] = False
    return tuple(spaces)


def leans(word: str) -> tuple[bool, bool]:
    """True if a word has no space before it, and True if it has none after it; a straight quote may do either."""
    return _TO_THE_LEFT.fullmatch(word) is not None, _TO_THE_RIGHT.fullmatch(word) is not None


_remembered = lru_cache(WORDS_KEPT)(leans)
