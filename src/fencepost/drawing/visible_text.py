"""Text made safe to show: nothing in it can move the cursor or reverse the line."""

from __future__ import annotations

import unicodedata

_SHAPES_LETTERS = "\u200c\u200d"  # the non-joiner and the joiner: they shape letters and join emoji


def visible(text: str) -> str:
    """Replaces control characters with U+FFFD and removes direction marks and other invisible characters."""
    if text.isprintable():
        return text
    return "".join(map(_visible_character, text)) or "\ufffd"


def _visible_character(character: str) -> str:
    if character in _SHAPES_LETTERS:
        return character
    category = unicodedata.category(character)
    return "" if category == "Cf" else "\ufffd" if category in ("Cc", "Cs", "Cn", "Co") else character
