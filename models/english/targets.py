"""What a model learns about each sentence: the probability of each labelled span, and of each tag of each word.

In a gold tree, constituents and tags have probability 1. Of a teacher's probabilities only the larger ones are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
from corpus import Ragged

from fencepost.chart import packing
from fencepost.features.batch import Ints
from fencepost.features.vocabularies import Vocabularies
from fencepost.training.data import gold_tree
from fencepost.trees.tree import Tree

Floats = npt.NDArray[np.float32]


class Beliefs(NamedTuple):
    """The targets of a batch: each entry has the probability of a label over a cell, or of a tag over a word."""

    cells: Ints
    labels: Ints
    probabilities: Floats
    words: Ints
    tags: Ints
    tag_probabilities: Floats


@dataclass(frozen=True, eq=False)
class Targets:
    """The rows are sentences. Cells and words count from the start of their sentence."""

    cells: Ragged
    labels: Ragged
    probabilities: Ragged
    words: Ragged
    tags: Ragged
    tag_probabilities: Ragged
    confidence: Ragged  # one number per sentence: the probability of its best tree

    def __len__(self) -> int:
        return len(self.cells)

    @classmethod
    def of_trees(cls, trees: Sequence[Tree], vocabularies: Vocabularies) -> Targets:
        """Tags that are not in the vocabulary are left out."""
        gold = [gold_tree(tree, vocabularies) for tree in trees]
        known = [np.flatnonzero(tree.tags > 0) for tree in gold]
        return cls(
            Ragged.of([tree.cells for tree in gold], np.int32),
            Ragged.of([tree.labels for tree in gold], np.uint16),
            Ragged.of([np.ones(len(tree.cells)) for tree in gold], np.float16),
            Ragged.of(known, np.uint16),
            Ragged.of([tree.tags[words] for tree, words in zip(gold, known, strict=True)], np.uint16),
            Ragged.of([np.ones(len(words)) for words in known], np.float16),
            Ragged.of([[1.0]] * len(gold), np.float16),
        )

    @classmethod
    def joined(cls, parts: Sequence[Targets]) -> Targets:
        return cls(**{name: Ragged.joined([getattr(part, name) for part in parts]) for name in _RAGGED})

    def ordered(self, places: Sequence[int] | Ints) -> Targets:
        """The sentences at these places, in this order."""

        def reordered(rows: Ragged) -> Ragged:
            return Ragged(rows.take(places), np.concatenate([[0], np.cumsum(rows.counts(places))]))

        return Targets(**{name: reordered(getattr(self, name)) for name in _RAGGED})

    def batch(self, places: Sequence[int] | Ints, lengths: Ints) -> Beliefs:
        """The targets of the sentences at these places, which have these lengths."""
        chart, word = packing.offsets(lengths), np.cumsum(lengths) - lengths
        return Beliefs(
            self.cells.take(places) + np.repeat(chart, self.cells.counts(places)),
            self.labels.take(places).astype(np.int64),
            self.probabilities.take(places).astype(np.float32),
            self.words.take(places) + np.repeat(word, self.words.counts(places)),
            self.tags.take(places).astype(np.int64),
            self.tag_probabilities.take(places).astype(np.float32),
        )

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _RAGGED:
            getattr(self, name).save(folder, name)

    @classmethod
    def load(cls, folder: Path) -> Targets:
        return cls(**{name: Ragged.load(folder, name) for name in _RAGGED})


_RAGGED: Final = tuple(field.name for field in fields(Targets))


def by_sentence(entries: Ints, values: npt.NDArray[Any], kind: type[np.generic], count: int) -> Ragged:
    """The values of entries that are sorted by sentence, as one row for each of ``count`` sentences."""
    counts = np.bincount(entries, minlength=count)
    return Ragged(values.astype(kind), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
