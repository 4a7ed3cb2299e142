"""The constituents of trees as numbers: what the function scorer reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from fencepost.features.batch import Ints
from fencepost.features.vocab import Labels
from fencepost.trees.spans import Span, phrases


@dataclass(frozen=True)
class Constituents:
    """The phrases of some trees, outer before inner; a unary chain has one for each of its labels. [C] each."""

    sentences: Ints  # the index of the sentence in its batch
    starts: Ints
    ends: Ints
    labels: Ints  # numbers of single labels, as ``Labels.symbols`` gives them
    parents: Ints  # the number of the label right above; 0 for the root symbol

    def __len__(self) -> int:
        return len(self.starts)

    @classmethod
    def of(cls, trees: Sequence[Sequence[Span]], labels: Labels) -> Constituents:
        """``trees`` gives the spans of each sentence below the root symbol, outer before inner."""
        numbers = labels.symbols
        rows = [
            (sentence, start, end, numbers.get(label, 0), numbers.get(parent, 0))
            for sentence, spans in enumerate(trees)
            for label, start, end, parent in phrases(spans)
        ]
        return cls(*np.array(rows, np.int64).reshape(-1, len(fields(cls))).T)

    def fenceposts(self, lengths: Ints) -> tuple[Ints, Ints]:
        """Where each constituent starts and ends, counted through the fenceposts of a batch with these lengths."""
        first = (np.cumsum(lengths + 1) - lengths - 1)[self.sentences]
        return first + self.starts, first + self.ends
