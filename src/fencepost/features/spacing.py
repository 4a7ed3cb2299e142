"""Words as they stood in text, and where blanks stood: treebanks don't say, and pre-trained encoders read text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

WORDS_KEPT: Final = 50_000  # that are remembered ...
LETTERS_KEPT: Final = 50  # ... if they are so short
_TO_THE_LEFT: Final = re.compile(r"[.,;:?!%)\]}…]|\.\.+|''|’’|”|'|’|['’](?:s|d|m|ll|re|ve)|n['’]t", re.IGNORECASE)
_TO_THE_RIGHT: Final = re.compile(r"[$#(\[{£€]|[A-Z]+\$|``|‘‘|“|`|‘")
_QUOTE: Final = '"'
PLAIN_QUOTES: Final = {"``": _QUOTE, "''": _QUOTE}  # from Penn's spelling


def guess_spaces(words: Sequence[str], language: str) -> tuple[bool, ...]:
    """Whether a blank stood after each word. English is written by its rules; elsewhere blanks stand everywhere."""
    spaces = [True] * len(words)
    if language != "en":
        return tuple(spaces)
    inside = False  # between straight quotes
    for place, word in enumerate(words):
        leans_left, leans_right = (_leans if len(word) <= LETTERS_KEPT else _leans.__wrapped__)(word)
        if word == _QUOTE:
            leans_left, leans_right = inside, not inside
            inside = not inside
        if place and leans_left:
            spaces[place - 1] = False
        if leans_right:
            spaces[place] = False
    return tuple(spaces)


@lru_cache(WORDS_KEPT)
def _leans(word: str) -> tuple[bool, bool]:
    """Whether no blank stands before, and after, a word."""
    return _TO_THE_LEFT.fullmatch(word) is not None, _TO_THE_RIGHT.fullmatch(word) is not None
