"""Training trees as arrays: what the model reads, the gold label of every span (§2.1), and gold functions.

Nothing here imports torch, so that another process can prepare batches within a moment of its start.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.chart import packing
from fencepost.features.batch import Array, Ints
from fencepost.features.batch_arrays import batch_arrays, constituent_arrays
from fencepost.features.batching import pieces
from fencepost.features.constituents import Constituents
from fencepost.features.flat import Form, forms, lay_out
from fencepost.features.indexer import Indexer
from fencepost.features.lists import Lists
from fencepost.features.vocab import Vocab
from fencepost.features.vocabularies import NO_FUNCTION, Vocabularies
from fencepost.trees.functions import Mark, split_functions, without_functions
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class GoldFunctions:
    """Constituents, and the functions that each may have according to the treebank: usually one. [C, functions]"""

    constituents: Constituents
    allowed: Bools


@dataclass(frozen=True)
class GoldTree:
    """A tree's labelled spans in its packed chart, the tags of its words, and its functions if a model learns them."""

    cells: Ints
    labels: Ints
    tags: Ints
    functions: GoldFunctions | None = None


class FlatBatch(NamedTuple):
    """The arrays of a batch, end to end."""

    pieces: list[list[Form]]  # the forms of the arrays, piece by piece
    numbers: Ints


class TrainingSet:
    """Trees indexed once, batched many times."""

    def __init__(self, trees: Sequence[Tree], indexer: Indexer) -> None:
        self._sentences = indexer.index([Sentence.of(tree) for tree in trees])
        self.lengths: list[int] = self._sentences.lengths.tolist()
        gold = [gold_tree(tree, indexer.vocabularies) for tree in trees]
        self._words = Lists(self._sentences.lengths, {"gold.tags": np.concatenate([tree.tags for tree in gold])})
        self._gold = Lists(
            np.array([len(tree.cells) for tree in gold], np.int64),
            {f"gold.{name}": np.concatenate([getattr(tree, name) for tree in gold]) for name in ("cells", "labels")},
        )
        functions = [tree.functions for tree in gold if tree.functions is not None]
        self._functions = _function_lists(functions) if functions else None

    def __len__(self) -> int:
        return len(self.lengths)

    def flat(self, indices: Sequence[int], batch_tokens: int) -> FlatBatch:
        """The sentences with these indices, in pieces of at most ``batch_tokens`` tokens."""
        chosen = np.asarray(indices, np.int64)
        groups = pieces([self.lengths[index] for index in indices], batch_tokens)
        batches = [self.arrays(chosen[group]) for group in groups]
        own = [forms(batch) for batch in batches]
        numbers = np.empty(sum(form.size for piece in own for form in piece), np.int64)
        if batches:
            lay_out([array for batch in batches for array in batch.values()], numbers)
        return FlatBatch(own, numbers)

    def arrays(self, chosen: Ints) -> dict[str, Array]:
        """What the model reads of some sentences, and the gold labels of their constituents, tags and functions."""
        batch = self._sentences.batch(chosen)
        gold = self._gold.pick(chosen)
        gold["gold.cells"] += np.repeat(packing.offsets(batch.lengths), self._gold.counts[chosen])
        arrays = batch_arrays(batch) | gold | self._words.pick(chosen)
        if self._functions is not None:
            functions = self._functions.pick(chosen)
            sentences = np.repeat(np.arange(len(chosen)), self._functions.counts[chosen])
            allowed = functions.pop("gold.functions")
            constituents = Constituents(sentences, **functions)
            arrays |= constituent_arrays(constituents, batch.lengths, "constituents.") | {"gold.functions": allowed}
        return arrays


def _function_lists(trees: Sequence[GoldFunctions]) -> Lists:
    columns = {
        field.name: np.concatenate([getattr(tree.constituents, field.name) for tree in trees])
        for field in fields(Constituents)[1:]
    }
    columns["gold.functions"] = np.concatenate([tree.allowed for tree in trees])
    return Lists(np.array([len(tree.constituents) for tree in trees], np.int64), columns)


def gold_tree(tree: Tree, vocabularies: Vocabularies) -> GoldTree:
    """The tree without labels that the vocabulary lacks: their spans don't count as constituents."""
    label_ids, functions = vocabularies.labels.ids, None
    if vocabularies.functions is not None:
        tree, marks = split_functions(tree)
        functions = _gold_functions(tree, marks, vocabularies, vocabularies.functions)
    spans = [span for span in spans_below_root(tree) if span.label in label_ids]
    tags = np.array([vocabularies.tags.id(tag) for tag in tree.tags()], np.int64)
    starts = np.array([span.start for span in spans], np.int64)
    ends = np.array([span.end for span in spans], np.int64)
    lengths = np.full(len(spans), len(tags), np.int64)
    labels = np.array([label_ids[span.label] for span in spans], np.int64)
    return GoldTree(packing.cell_index(lengths, starts, ends), labels, tags, functions)


def _gold_functions(tree: Tree, marks: Sequence[Mark], vocabularies: Vocabularies, functions: Vocab) -> GoldFunctions:
    constituents = Constituents.of([spans_below_root(tree)], vocabularies.labels)
    allowed = np.zeros((len(marks), len(functions)), np.bool_)
    for row, mark in zip(allowed, marks, strict=True):
        certain = NO_FUNCTION if mark.function is None else functions.ids.get(mark.function)
        if certain is None:
            row[:] = True  # a function that the model doesn't know teaches it nothing
        else:
            row[[certain, *(functions.ids[name] for name in mark.maybe if name in functions.ids)]] = True
    return GoldFunctions(constituents, allowed)


def unseen_labels(trees: Sequence[Tree], vocabularies: Vocabularies) -> dict[str, int]:
    """The labels of these trees that the vocabulary lacks, and how often each occurs."""
    counts: dict[str, int] = {}
    for tree in trees:
        plain = tree if vocabularies.functions is None else without_functions(tree)
        for span in spans_below_root(plain):
            if span.label not in vocabularies.labels.ids:
                name = "+".join(span.label)
                counts[name] = counts.get(name, 0) + 1
    return counts
