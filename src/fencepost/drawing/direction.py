"""Decides whether a sentence runs from right to left, like Hebrew and Arabic.

The rule has two steps:

1. A word runs the way of its first letter. Later letters don't matter, as in Unicode's own rule (UAX #9, P2):
   ``"ב-IBM"`` runs to the left and ``"abcש"`` to the right. Numbers and punctuation have no letters and don't count.
2. A sentence runs to the left if more than half of the words that count do. A sentence with as many words either way,
   or without letters, runs to the right.

Looking at the sentence's first letter alone would turn a Hebrew sentence around because it begins with "IBM".
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable


def is_right_to_left(words: Iterable[str]) -> bool:
    """True if most words are written from right to left. The first word then stands on the right."""
    first_letters = [next(filter(str.isalpha, word), "") for word in words]
    letters = [letter for letter in first_letters if letter]
    return sum(unicodedata.bidirectional(letter) in ("R", "AL") for letter in letters) > len(letters) / 2
