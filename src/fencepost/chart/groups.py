"""Charts of several sentences side by side, so that a diagonal of all of them is filled in one numpy operation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from fencepost.chart import packing
from fencepost.chart.packing import Ints

GROUP_CELLS = 1 << 19  # larger groups leave the processor's cache


class Group:
    """Sentences of a batch, longest first, that are processed together."""

    def __init__(self, sentences: Ints, lengths: Ints, offsets: Ints) -> None:
        self.sentences = sentences  # [G] their indices in the batch
        self.lengths = lengths[sentences]  # [G]
        self.offsets = offsets[sentences]  # [G]
        self.longest = int(self.lengths[0])

    def __len__(self) -> int:
        return len(self.sentences)

    def active(self, width: int) -> int:
        """The number of sentences with spans of this width; they come first."""
        return int(np.searchsorted(-self.lengths, -width, side="right"))

    def cells(self, width: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
        """Packed indices of a diagonal, [starts, active], and which of them are real spans; the rest are padding.

        Filling a chart bottom-up can ignore the padding: a span only reads spans inside it, so no real span reads any.
        """
        lengths = self.lengths[: self.active(width)]
        starts = np.arange(self.longest - width + 1)[:, None]
        real = starts + width <= lengths
        first = self.offsets[: len(lengths)] + packing.cell_index(lengths, np.int64(0), np.int64(width))
        return np.where(real, first + starts, first), real


def groups(lengths: Ints) -> Iterator[Group]:
    """Divides all sentences into groups of similar length."""
    order = np.argsort(-lengths, kind="stable")
    offsets = packing.offsets(lengths)
    done = 0
    while done < len(order):
        size = max(1, GROUP_CELLS // int(lengths[order[done]] + 1) ** 2)
        yield Group(order[done : done + size], lengths, offsets)
        done += size


class Grid:
    """A value for each span of a group: ``by_start[width, start, sentence]`` or ``by_end[width, end, sentence]``.

    Both are views of one buffer. The rows of ``by_end`` are one shorter, which puts a span in the column of its end.
    """

    def __init__(self, group: Group, dtype: type[np.floating[Any]], fill: float = 0.0) -> None:
        rows, size = group.longest + 1, len(group)
        buffer = np.full(rows * (rows + 1) * size, fill, dtype=dtype)
        self.by_start = buffer.reshape(rows, rows + 1, size)
        self.by_end = buffer[: rows * rows * size].reshape(rows, rows, size)

    def set(self, width: int, values: npt.NDArray[Any]) -> None:
        """Fills a diagonal with values [starts, active]."""
        starts, active = values.shape
        self.by_start[width, :starts, :active] = values
