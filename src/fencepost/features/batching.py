"""Groups sentences into batches: of similar length, so that little is padded, and within a budget of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

SPANS_PER_TOKEN: Final = 16  # chart cells that take about as much memory as one token


def cost(length: int) -> int:
    """The cost of a sentence of ``length`` words, in tokens: its own tokens, and its chart at SPANS_PER_TOKEN."""
    return length + 2 + length * (length + 1) // (2 * SPANS_PER_TOKEN)


def pieces(lengths: Sequence[int], budget: int) -> Iterator[list[int]]:
    """Groups sentences of similar length, longest first; each group costs at most ``budget``.

    Yields indices into ``lengths``. A sentence that costs more than the budget is a group of its own.
    """
    group: list[int] = []
    spent = 0
    for index in sorted(range(len(lengths)), key=lengths.__getitem__, reverse=True):
        price = cost(lengths[index])
        if group and spent + price > budget:
            yield group
            group, spent = [], 0
        group.append(index)
        spent += price
    if group:
        yield group
