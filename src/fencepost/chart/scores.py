"""What a model says about a batch of sentences: a score for every span and label (§2.1), or the best label alone.

Label 0 is the empty label, "not a constituent"; its score is 0 everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.chart import layout
from fencepost.chart.layout import Ints

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class LabelChart:
    """The best label of every span and its score, packed as ``chart.layout`` says: all that one tree needs."""

    scores: Floats  # [S]
    labels: npt.NDArray[np.int32]  # [S]
    lengths: Ints  # [B]


@dataclass(frozen=True, eq=False)
class SpanScores:
    """The score s(i, j, l) of every label over half-open fenceposts. Cells with i >= j are never read."""

    scores: Floats  # [B, N+1, N+1, L]
    lengths: Ints  # [B]

    @classmethod
    def from_packed(cls, scores: Floats, lengths: Ints) -> SpanScores:
        """From packed scores [S, L]."""
        sentences, starts, ends = layout.cells(lengths)
        posts = int(lengths.max(initial=0)) + 1
        dense = np.zeros((len(lengths), posts, posts, scores.shape[1]), dtype=np.float32)
        dense[sentences, starts, ends] = scores
        return cls(dense, lengths)

    def packed(self) -> Floats:
        """The scores of the real spans alone. [S, L]"""
        return self.scores[layout.cells(self.lengths)]

    def reduce(self, force_root: bool = False) -> LabelChart:
        """The best label of every span; of equal ones the lowest. ``force_root``: the whole sentence gets a label."""
        packed = self.packed()
        labels = packed.argmax(axis=1)
        if force_root:
            roots = layout.roots(self.lengths)
            labels[roots] = 1 + packed[roots, 1:].argmax(axis=1)
        best = np.take_along_axis(packed, labels[:, None], axis=1)[:, 0]
        return LabelChart(best, labels.astype(np.int32), self.lengths)
