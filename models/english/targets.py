"""What a model learns about each sentence: the probability of each labelled span, and of each tag of each word.

In a gold tree, constituents and tags have probability 1. Of a teacher's probabilities only the larger ones are kept.
Models that predict functions also learn those of the constituents of one tree: the gold tree, or the teacher's best.
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
from fencepost.features.constituents import Constituents
from fencepost.features.vocabularies import Vocabularies
from fencepost.training.data import GoldTree, gold_tree
from fencepost.trees.tree import Tree

Floats = npt.NDArray[np.float32]


class FunctionBeliefs(NamedTuple):
    """The constituents of a batch, and entries with the probability of a function of one of them.

    If the entries of a constituent add up to more than 1, each of them is allowed: the treebank leaves the choice open.
    """

    starts: Ints  # [C], counted through the fenceposts of the batch, as are ends
    ends: Ints
    labels: Ints
    parents: Ints
    holders: Ints  # [E] the constituent of each entry
    functions: Ints
    probabilities: Floats


class Beliefs(NamedTuple):
    """The targets of a batch: each entry has the probability of a label over a cell, or of a tag over a word."""

    cells: Ints
    labels: Ints
    probabilities: Floats
    words: Ints
    tags: Ints
    tag_probabilities: Floats
    functions: FunctionBeliefs | None = None  # if the sentences have any


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
    starts: Ragged  # of constituents, as are ends, single labels and labels of parents; empty rows without functions
    ends: Ragged
    single_labels: Ragged
    parents: Ragged
    holders: Ragged  # entries: the constituent, counted from the start of its sentence; its function; the probability
    functions: Ragged
    function_probabilities: Ragged

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
            **_gold_functions(gold),
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
        functions = self._functions(places, lengths) if self.starts.counts(places).any() else None
        return Beliefs(
            self.cells.take(places) + np.repeat(chart, self.cells.counts(places)),
            self.labels.take(places).astype(np.int64),
            self.probabilities.take(places).astype(np.float32),
            self.words.take(places) + np.repeat(word, self.words.counts(places)),
            self.tags.take(places).astype(np.int64),
            self.tag_probabilities.take(places).astype(np.float32),
            functions,
        )

    def _functions(self, places: Sequence[int] | Ints, lengths: Ints) -> FunctionBeliefs:
        counts = self.starts.counts(places)
        post = np.repeat(np.cumsum(lengths + 1) - lengths - 1, counts)
        first = np.repeat(np.cumsum(counts) - counts, self.holders.counts(places))
        return FunctionBeliefs(
            post + self.starts.take(places),
            post + self.ends.take(places),
            self.single_labels.take(places).astype(np.int64),
            self.parents.take(places).astype(np.int64),
            first + self.holders.take(places),
            self.functions.take(places).astype(np.int64),
            self.function_probabilities.take(places).astype(np.float32),
        )

    def save(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in _RAGGED:
            getattr(self, name).save(folder, name)

    @classmethod
    def load(cls, folder: Path) -> Targets:
        """Labels that were made before there were functions have none."""
        there = [name for name in _RAGGED if (folder / f"{name}.npy").exists()]
        columns = {name: Ragged.load(folder, name) for name in there}
        return cls(**without_function_columns(len(columns["cells"])) | columns)


_RAGGED: Final = tuple(field.name for field in fields(Targets))
FUNCTION_COLUMNS: Final[dict[str, type[np.generic]]] = {
    "starts": np.uint16,
    "ends": np.uint16,
    "single_labels": np.uint16,
    "parents": np.uint16,
    "holders": np.uint16,
    "functions": np.uint16,
    "function_probabilities": np.float16,
}


def without_function_columns(count: int) -> dict[str, Ragged]:
    """The columns of sentences whose functions aren't known."""
    return {name: Ragged.of([[]] * count, kind) for name, kind in FUNCTION_COLUMNS.items()}


def function_columns(parts: Sequence[tuple[Constituents, Floats]]) -> dict[str, Ragged]:
    """The columns of sentences with these constituents; the weight of each function is [C, functions]."""
    entries = [weights.nonzero() for _, weights in parts]
    columns: dict[str, Sequence[Any]] = {
        "starts": [part.starts for part, _ in parts],
        "ends": [part.ends for part, _ in parts],
        "single_labels": [part.labels for part, _ in parts],
        "parents": [part.parents for part, _ in parts],
        "holders": [rows for rows, _ in entries],
        "functions": [functions for _, functions in entries],
        "function_probabilities": [weights[entry] for (_, weights), entry in zip(parts, entries, strict=True)],
    }
    return {name: Ragged.of(columns[name], kind) for name, kind in FUNCTION_COLUMNS.items()}


def _gold_functions(gold: Sequence[GoldTree]) -> dict[str, Ragged]:
    parts = [
        (tree.functions.constituents, tree.functions.allowed.astype(np.float32)) for tree in gold if tree.functions
    ]
    return function_columns(parts) if parts else without_function_columns(len(gold))


def by_sentence(entries: Ints, values: npt.NDArray[Any], kind: type[np.generic], count: int) -> Ragged:
    """The values of entries that are sorted by sentence, as one row for each of ``count`` sentences."""
    counts = np.bincount(entries, minlength=count)
    return Ragged(values.astype(kind), np.concatenate([[0], np.cumsum(counts)]).astype(np.int64))
