"""Words as they stood in text, and where blanks stood: treebanks don't say, and pre-trained encoders read text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

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
        opens = word == _QUOTE and not inside
        closes = word == _QUOTE and inside
        inside ^= word == _QUOTE
        if place and (closes or _TO_THE_LEFT.fullmatch(word)):
            spaces[place - 1] = False
        if opens or _TO_THE_RIGHT.fullmatch(word):
            spaces[place] = False
    return tuple(spaces)
