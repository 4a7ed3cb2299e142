"""Which sentences go together: by length, so that little is padded, and by a budget, so that a batch fits in memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

SPANS_A_TOKEN: Final = 16  # so many chart cells take about as much memory as one token


def cost(length: int) -> int:
    """What a sentence of so many words takes, in tokens: itself and its share of the chart."""
    return length + 2 + length * (length + 1) // (2 * SPANS_A_TOKEN)


def pieces(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Cuts sentences, given by their lengths, into groups of like length that cost at most ``budget``, longest first.

    A sentence that alone costs more is a group of its own.
    """
    group: list[int] = []
    spent = 0
    for index in sorted(range(len(lengths)), key=lambda index: -lengths[index]):
        price = cost(lengths[index])
        if group and spent + price > budget:
            yield group
            group, spent = [], 0
        group.append(index)
        spent += price
    if group:
        yield group
