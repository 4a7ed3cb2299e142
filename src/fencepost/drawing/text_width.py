"""The width of text: in cells of a terminal, and estimated in pixels for a font size.

Both measures agree on which characters take no room of their own:

- combining marks and invisible format characters;
- Korean vowels and final consonants that are written as separate characters: they share the first consonant's square;
- emoji that join the one before: a skin tone, or whatever follows a zero-width joiner.
"""

from __future__ import annotations

import unicodedata
from typing import Final

_JOINER: Final = "\u200d"
_EMOJI_STYLE: Final = "\ufe0f"  # makes the character before it an emoji, which is wide
_NARROW_LETTERS: Final = frozenset("ijlI.,;:'`|!()[]{}ftr/\\-\" ")
_BROAD_LETTERS: Final = frozenset("mwMW@%")


def cells(text: str) -> int:
    """The number of terminal cells that a text takes: two for each Chinese character or emoji."""
    return sum(cell_widths(text))


def cell_widths(text: str) -> list[int]:
    """The number of cells that each character takes: 0, 1 or 2."""
    neighbours = zip(" " + text, text, text[1:] + " ", strict=False)
    return [
        0 if _takes_no_room(character, before) else 2 if _is_wide(character, after) else 1
        for before, character, after in neighbours
    ]


def pixels(text: str, font_size: float) -> float:
    """The approximate width of a text in a sans-serif font; the reader's actual font is unknown."""
    neighbours = zip(" " + text, text, text[1:] + " ", strict=False)
    return font_size * sum(
        0.0 if _takes_no_room(character, before) else _letter_width(character, after)
        for before, character, after in neighbours
    )


def _takes_no_room(character: str, before: str) -> bool:
    if character.isascii():
        return False
    if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return True
    if "\u1160" <= character <= "\u11ff" or "\ud7b0" <= character <= "\ud7ff":
        return True  # Korean vowels and final consonants
    if "\U0001f3fb" <= character <= "\U0001f3ff":
        return unicodedata.category(before) == "So"  # a skin tone; without an emoji to colour it is a square
    return before == _JOINER and unicodedata.category(character) == "So"


def _is_wide(character: str, after: str) -> bool:
    return unicodedata.east_asian_width(character) in "WF" or after == _EMOJI_STYLE


def _letter_width(character: str, after: str) -> float:
    """In units of the font size."""
    if _is_wide(character, after):
        return 1.05
    if character in _NARROW_LETTERS:
        return 0.36
    if character in _BROAD_LETTERS:
        return 0.92
    return 0.7 if character.isupper() else 0.58
