"""What a model is to learn about each sentence: how probable each labelled span is, and each tag of each word.

A gold tree says 1 of its constituents and tags; a teacher says what it believes, of which what is hardly likely is
left out.
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
    """Of a batch: each entry says how probable a label is over a cell, or a tag over a word."""

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
    confidence: Ragged  # one number a sentence: how probable its best tree is

    def __len__(self) -> int:
        return len(self.cells)

    @classmethod
    def of_trees(cls, trees: Sequence[Tree], vocabularies: Vocabularies) -> Targets:
        """A tag that the vocabulary lacks says nothing."""
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
        """The sentences in another order: those at these places."""

        def reordered(rows: Ragged) -> Ragged:
            return Ragged(rows.take(places), np.concatenate([[0], np.cumsum(rows.counts(places))]))

        return Targets(**{name: reordered(getattr(self, name)) for name in _RAGGED})

    def batch(self, places: Sequence[int] | Ints, lengths: Ints) -> Beliefs:
        """``lengths`` are those of the sentences at these places."""
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
    """Values of entries that are sorted by their sentence, of which there are so many."""
    counts = np.bincount(entries, minlength=count)
    return Ragged(values.astype(kind), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
