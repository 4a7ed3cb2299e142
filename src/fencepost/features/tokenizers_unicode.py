"""Characters as the `tokenizers` library sees them: its categories are from Unicode 8, Python's from a later version.

Characters added after Unicode 8 have no category there. They do have lower-case forms, because the library takes those
from a newer table; its latest letters are listed here for Pythons that don't have them yet.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from typing import Final

# Marks, punctuation and controls added after Unicode 8. The ranges also cover characters of other kinds in between.
_LATER: Final = """
5C8-5C9 61D 7FD 890-8E2 9FD-9FE A76 AFA-AFF B53-B55 C04-C3C C77 C84 D00 D3B-D3C D81 EBA ECE 1715 180F-1886 1ABF-1AF0
1B4E-1B4F 1B7D-1B7F 1DF6-1DFB 2E43-2E63 A82C A8C5 A8FF A9BD 105C9-105E4 10D24-10F89 11070-11074 110C2-110CD 111CF
1123E-11241 1133B 11383-1145E 11660-1166C 116B9 1182F-11FFF 12FF1-1612F 16D68-16F4F 16FE2-16FF1 1CF00-1D128 1D250-1D281
1E000-1E6F5 1E944-1E95F
"""
_NINE: Final = "8D4-8E1 1DFB 11442 11446 11C3F 1E000-1E02A 1E944-1E94A"  # later marks that the library does reorder
_CHANGED: Final = {"\u166d": "Po", "\u1734": "Mn", "\U000111c9": "Po", "\U0001171e": "Mn"}
# The library's own list, with its mistakes.
_IDEOGRAPHS: Final = "3400-4DBF 4E00-9FFF F900-FAFF 20000-2A6DF 2A700-2B81F 2B920-2CEAF 2F800-2FA1F"
_LOWERED: Final = (  # first and last capital, first small letter
    "1C89-1C89:1C8A 2C2F-2C2F:2C5F A7C0-A7C0:A7C1 A7CB-A7CB:264 A7CC-A7CC:A7CD A7CE-A7CE:A7CF A7D0-A7D0:A7D1 "
    "A7D2-A7D2:A7D3 A7D4-A7D4:A7D5 A7D6-A7D6:A7D7 A7D8-A7D8:A7D9 A7DA-A7DA:A7DB A7DC-A7DC:19B 10570-1057A:10597 "
    "1057C-1058A:105A3 1058C-10592:105B3 10594-10595:105BB 10D50-10D65:10D70 16EA0-16EB8:16EBB"
)


class _Ranges:
    """A set of characters, written as the first and the last code point of each run."""

    def __init__(self, ranges: str) -> None:
        pairs = [(item.partition("-")[0], item.rpartition("-")[2]) for item in ranges.split()]
        self._bounds = [bound for first, last in pairs for bound in (int(first, 16), int(last, 16) + 1)]

    def __contains__(self, letter: str) -> bool:
        return bisect_right(self._bounds, ord(letter)) % 2 == 1


def _lowered() -> dict[str, str]:
    capitals, table = [item.partition(":") for item in _LOWERED.split()], {}
    for run, _, small in capitals:
        first, last = (int(bound, 16) for bound in run.split("-"))
        table.update({chr(number): chr(int(small, 16) + number - first) for number in range(first, last + 1)})
    return table


_later, _nine, _lower = _Ranges(_LATER), _Ranges(_NINE), _lowered()
IDEOGRAPHS: Final = _Ranges(_IDEOGRAPHS)


def category(letter: str) -> str:
    """The library's answer to ``unicodedata.category``."""
    return _CHANGED.get(letter) or ("Cn" if letter in _later else unicodedata.category(letter))


def combining(letter: str) -> int:
    """The library's answer to ``unicodedata.combining``."""
    return 0 if letter in _later and letter not in _nine else unicodedata.combining(letter)


def decomposed(letter: str) -> str:
    """NFD of one letter."""
    return letter if letter in _later else unicodedata.normalize("NFD", letter)


def lowered(letter: str) -> str:
    """Lower-cases one letter without looking at its neighbours: Python would change a sigma at the end of a word."""
    return _lower.get(letter) or letter.lower()
