"""What a model says about a batch of sentences: a score for every span and label (§2.1), or the best label alone.

Label 0 is the empty label, "not a constituent"; its score is 0 everywhere.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np
import numpy.typing as npt

from fencepost.chart import packing
from fencepost.chart.packing import Ints

Floats = npt.NDArray[np.float32]
PIECE: Final = 1 << 12  # cells processed at a time: their label scores stay in the processor's cache


@dataclass(frozen=True, eq=False)
class LabelChart:
    """The best label of every span and its score, packed as in ``chart.packing``: enough to decode the best tree."""

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
        return cls.from_pieces([scores], lengths)

    @classmethod
    def from_pieces(cls, pieces: Iterable[Floats], lengths: Ints) -> SpanScores:
        """From packed scores that arrive a slice at a time, so that memory never holds all of them twice."""
        sentences, starts, ends = packing.cells(lengths)
        posts = int(lengths.max(initial=0)) + 1
        remaining = iter(pieces)
        first = next(remaining)
        dense = np.zeros((len(lengths), posts, posts, first.shape[1]), dtype=np.float32)
        done = 0
        for piece in chain([first], remaining):
            here = slice(done, done + len(piece))
            dense[sentences[here], starts[here], ends[here]] = piece
            done += len(piece)
        return cls(dense, lengths)

    def packed(self) -> Floats:
        """The scores of the real spans alone. [S, L]"""
        return self.scores[packing.cells(self.lengths)]

    def pieces(self) -> Iterator[tuple[slice, Floats]]:
        """``packed``, a slice of cells at a time: some computations need many times the memory of their scores."""
        sentences, starts, ends = packing.cells(self.lengths)
        for low in range(0, len(starts), PIECE):
            here = slice(low, low + PIECE)
            yield here, self.scores[sentences[here], starts[here], ends[here]]

    def reduce(self, force_root: bool = False) -> LabelChart:
        """The best label of every span, the lowest of equal ones. ``force_root``: the whole sentence gets a label."""
        packed = self.packed()
        labels = packed.argmax(axis=1)
        if force_root:
            roots = packing.roots(self.lengths)
            labels[roots] = 1 + packed[roots, 1:].argmax(axis=1)
        best = np.take_along_axis(packed, labels[:, None], axis=1)[:, 0]
        return LabelChart(best, labels.astype(np.int32), self.lengths)
