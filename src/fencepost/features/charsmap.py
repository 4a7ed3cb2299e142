"""SentencePiece's normalisation of text, which is a table of strings and what replaces them (NFKC with small changes).

The table is a trie, stored as a double array: each unit says where the units of its children are. Unit p has its child
for a byte b at index p' ^ b, p' being where its children are, and that child is real if its label is b.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from fencepost.features.graphemes import clusters

LONGEST_TEXT: Final = 200  # bytes that replace a cluster; NFKC's longest has 33, and a stranger's could fill the memory
LONGEST_KEY: Final = 5  # bytes of a cluster that is replaced as a whole; in others each character is
_HAS_VALUE, _SHIFTS, _VALUE, _LABEL = 1 << 8, 1 << 9, 2**31 - 1, 2**31 + 255


class Charsmap:
    """The table of a tokenizer, which may come from a stranger. Raises ValueError or IndexError if it is damaged."""

    def __init__(self, table: bytes) -> None:
        size = int.from_bytes(table[:4], "little")
        self._units: list[int] = np.frombuffer(table, "<u4", size // 4, 4).tolist()
        self._texts = table[4 + size // 4 * 4 :]
        self.replacement = lru_cache(1 << 16)(self._replacement)

    def _replacement(self, text: str) -> str | None:
        """What replaces the shortest key that the text begins with."""
        at = self._children(0)
        for byte in text.encode():
            at ^= byte
            unit = self._units[at]
            if unit & _LABEL != byte or not byte:
                return None
            at ^= _offset(unit)
            if unit & _HAS_VALUE:
                value = self._units[at] & _VALUE
                return self._texts[value : self._texts.index(0, value, value + LONGEST_TEXT + 1)].decode()
        return None

    def _children(self, at: int) -> int:
        return at ^ _offset(self._units[at])

    def replacements(self, text: str) -> Iterator[tuple[int, str | None]]:
        """How many characters are replaced by what, from left to right. None: they stay."""
        for start, end in clusters(text):
            cluster = text[start:end]
            if len(cluster.encode()) <= LONGEST_KEY and (whole := self.replacement(cluster)) is not None:
                yield len(cluster), whole
            else:
                yield from ((1, self.replacement(letter)) for letter in cluster)


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & _SHIFTS) >> 6)
