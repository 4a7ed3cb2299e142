"""The position of each span in a packed chart.

The chart of a sentence of n words is a row of n(n+1)/2 cells, all spans of width 1 first, then width 2 and so on,
each diagonal from left to right. The charts of a batch follow each other without gaps.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


class Cells(NamedTuple):
    """Spans of a batch: the sentence and the half-open fenceposts of each."""

    sentences: Ints
    starts: Ints
    ends: Ints


def span_count(lengths: Ints) -> Ints:
    """The number of spans in sentences of these lengths."""
    return np.asarray(lengths * (lengths + 1) // 2, dtype=np.int64)


def offsets(lengths: Ints) -> Ints:
    """The index of each sentence's first cell. [B]"""
    return np.asarray(np.cumsum(span_count(lengths)) - span_count(lengths), dtype=np.int64)


def roots(lengths: Ints) -> Ints:
    """The index of each sentence's last cell, which is the span of all its words. [B]"""
    return np.asarray(np.cumsum(span_count(lengths)) - 1, dtype=np.int64)


def cell_index(lengths: Ints | np.int64, starts: Ints | np.int64, ends: Ints | np.int64) -> Ints:
    """The index of spans within the charts of their sentences; add ``offsets`` for their index in a batch."""
    widths = ends - starts
    return np.asarray((widths - 1) * (lengths + 1) - widths * (widths - 1) // 2 + starts, dtype=np.int64)


def cells(lengths: Ints) -> Cells:
    """All spans of a batch in packed order."""
    sentences, widths, first = _diagonals(lengths)
    sizes = lengths[sentences] - widths + 1
    starts = np.arange(sizes.sum()) - np.repeat(first, sizes)
    return Cells(np.repeat(sentences, sizes), starts, starts + np.repeat(widths, sizes))


def locate(lengths: Ints, indices: Ints) -> Cells:
    """The spans at some indices of a packed batch."""
    sentences, widths, first = _diagonals(lengths)
    rows = np.searchsorted(first, indices, side="right") - 1
    starts = indices - first[rows]
    return Cells(sentences[rows], starts, starts + widths[rows])


def _diagonals(lengths: Ints) -> tuple[Ints, Ints, Ints]:
    """For each diagonal of each chart: its sentence, its width and the index of its first cell."""
    sentences = np.repeat(np.arange(len(lengths)), lengths)
    widths = np.arange(len(sentences)) - np.repeat(np.cumsum(lengths) - lengths, lengths) + 1
    sizes = lengths[sentences] - widths + 1
    return sentences, widths, np.cumsum(sizes) - sizes
