"""Exact decoding (§2.1): the tree with the greatest sum of label scores.

    best(i, j) = label(i, j) + max over k of best(i, k) + best(k, j)

Spans that only join others in the binary tree carry the empty label and are dropped. Every backend gives the same tree:
the leftmost of equal splits wins, and sums are taken in the precision of the scores, as (left + right) + label.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
import numpy.typing as npt

from fencepost.chart import packing
from fencepost.chart.groups import Grid, Group, groups
from fencepost.chart.packing import Ints
from fencepost.chart.scores import Floats, LabelChart

Marks = npt.NDArray[np.bool_]


@dataclass(eq=False, slots=True)
class Decoded:
    """A tree as its labelled spans in pre-order: parents before children, left before right."""

    score: float
    starts: Ints
    ends: Ints
    labels: Ints


@dataclass(frozen=True, eq=False)
class DecodedTrees(Sequence[Decoded]):
    """The trees of a batch as columns: sentence i has the spans from ``bounds[i]`` to ``bounds[i + 1]``."""

    scores: npt.NDArray[np.float64]  # [B]
    bounds: Ints  # [B + 1]
    starts: Ints  # [C], as are the other two; in the order of ``Decoded``
    ends: Ints
    labels: Ints

    @classmethod
    def of(cls, trees: Sequence[Decoded]) -> DecodedTrees:
        if isinstance(trees, DecodedTrees):
            return trees
        bounds = np.cumsum([0, *(len(tree.starts) for tree in trees)])
        columns = (
            np.concatenate([np.zeros(0, np.int64), *(getattr(tree, name) for tree in trees)])
            for name in ("starts", "ends", "labels")
        )
        return cls(np.array([tree.score for tree in trees], np.float64), bounds, *columns)

    def __len__(self) -> int:
        return len(self.scores)

    @overload
    def __getitem__(self, index: int) -> Decoded: ...
    @overload
    def __getitem__(self, index: slice) -> list[Decoded]: ...
    def __getitem__(self, index: int | slice) -> Decoded | list[Decoded]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        number = range(len(self))[index]
        here = slice(self.bounds[number], self.bounds[number + 1])
        return Decoded(float(self.scores[number]), self.starts[here], self.ends[here], self.labels[here])


def decode(chart: LabelChart) -> DecodedTrees:
    """The best tree of each sentence."""
    return collect(chart, *mark(chart.scores, chart.lengths))


def mark(scores: Floats, lengths: Ints) -> tuple[Floats, Marks]:
    """The score of the best binary tree of each sentence [B], and which cells are in it [S].

    ``scores`` [S] has the score of each span's best label.
    """
    totals = np.zeros(len(lengths), dtype=scores.dtype)
    marked = np.zeros(len(scores), dtype=np.bool_)
    for group in groups(lengths):
        best = _best(scores, group)
        totals[group.sentences] = best.by_start[group.lengths, 0, np.arange(len(group))]
        _trace(best, group, marked)
    return totals, marked


def collect(chart: LabelChart, scores: Floats, marked: Marks) -> DecodedTrees:
    """The trees made of the marked cells, whichever device marked them."""
    indices = np.flatnonzero(marked & (chart.labels != 0))
    sentences, starts, ends = packing.locate(chart.lengths, indices)
    # By sentence, then start, then the later end first; each sentence's starts follow those of the one before.
    longest = int(chart.lengths.max(initial=0))
    words_before = np.cumsum(chart.lengths) - chart.lengths
    order = np.argsort((words_before[sentences] + starts) * (longest + 1) - (ends - starts))
    labels = chart.labels[indices[order]].astype(np.int64)
    bounds = np.searchsorted(sentences, np.arange(len(chart.lengths) + 1))
    return DecodedTrees(scores.astype(np.float64), bounds, starts[order], ends[order], labels)


def _best(scores: Floats, group: Group) -> Grid:
    best = Grid(group, scores.dtype.type)
    best.set(1, scores[group.cells(1)[0]])
    for width in range(2, group.longest + 1):
        cells, _ = group.cells(width)
        starts, active = cells.shape
        left = best.by_start[1:width, :starts, :active]
        right = best.by_end[width - 1 : 0 : -1, width:, :active]
        best.set(width, (left + right).max(axis=0) + scores[cells])
    return best


def _trace(best: Grid, group: Group, marked: Marks) -> None:
    """Marks the best trees of a group from the top down, recomputing the splits on the way."""
    waiting = np.zeros(best.by_start.shape, dtype=np.bool_)
    waiting[group.lengths, 0, np.arange(len(group))] = True
    for width in range(group.longest, 0, -1):
        starts, members = np.nonzero(waiting[width])
        marked[group.cells(width)[0][starts, members]] = True
        if width == 1:
            return
        left = best.by_start[1:width, starts, members]
        right = best.by_end[width - 1 : 0 : -1, starts + width, members]
        sizes = 1 + (left + right).argmax(axis=0)
        waiting[sizes, starts, members] = True
        waiting[width - sizes, starts + sizes, members] = True
