"""Maps a text to a text of the same length over a small alphabet, so that simple patterns work for every script.

Letters outside ASCII become ``a`` or ``A``, digits ``0``, whitespace a blank (but line ends and tabs stay), curly
apostrophes straight ones, and so on. Characters without a class of their own (combining marks, controls, direction
marks, unassigned) count as letters, so that they never split the word they are in.
"""

from __future__ import annotations

import unicodedata
from typing import Final

EMOJI: Final = "\x01"  # and any other symbol
JOINER: Final = "\x02"  # joins emoji, and letters of some scripts
EXTENDER: Final = "\x03"  # changes the emoji or the digit before it: skin tones, variants, key caps
FLAG_LETTER: Final = "\x04"
OTHER: Final = "\x05"  # any other punctuation, and mathematical signs
DASH: Final = "–"
BULLET: Final = "•"
FULL_STOP: Final = "。"  # ends a sentence without a blank after it

_SPECIAL: Final = {
    "\n": "\n",
    "\t": "\t",
    **dict.fromkeys("•‣◦⁃∙●○▪▫■□◆◇►➤➢", BULLET),
    "°": "°",
    "\u200d": JOINER,
    "\ufe0e": EXTENDER,
    "\ufe0f": EXTENDER,
    "\u20e3": EXTENDER,
    "\u2010": "-",
    "\u2212": "-",
    "\u2011": "-",
    "’": "'",
    "ʼ": "'",
    "‘": "‘",
    "‛": "‘",
    "“": "“",
    "„": "“",
    "‟": "“",
    "”": "”",
    "…": "…",
    "。": FULL_STOP,
    "｡": FULL_STOP,
    "！": FULL_STOP,
    "？": FULL_STOP,
    "।": FULL_STOP,
    "؟": "?",
    "۔": ".",
}
_CATEGORIES: Final = {
    "Lu": "A",
    "Lt": "A",
    "Lo": "A",  # scripts without lower case: any word may begin a sentence
    "Nd": "0",
    "Nl": "0",
    "No": "0",
    "Pd": DASH,
    "Ps": "(",
    "Pi": "(",
    "Pe": ")",
    "Pf": ")",
    "Pc": "_",
    "Po": OTHER,
    "Sc": "$",
    "Sm": OTHER,
    "Sk": OTHER,
    "So": EMOJI,
}


class _Classes(dict[int, str]):
    """The class of each code point, computed on first use."""

    def __missing__(self, code: int) -> str:
        self[code] = character_class = _class_of(chr(code))
        return character_class


def _class_of(character: str) -> str:
    if character in _SPECIAL:
        return _SPECIAL[character]
    if character.isspace():
        return " "
    if character.isascii() and character.isprintable():
        return character
    if "\U0001f1e6" <= character <= "\U0001f1ff":
        return FLAG_LETTER
    if "\U0001f3fb" <= character <= "\U0001f3ff" or "\U000e0020" <= character <= "\U000e007f":
        return EXTENDER
    return _CATEGORIES.get(unicodedata.category(character), "a")


_CLASSES: Final = _Classes()


def classify(text: str) -> str:
    return text.translate(_CLASSES)
