"""Training trees as arrays: what the model reads, the gold label of every span (§2.1), and gold functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.chart import packing
from fencepost.features.batch import Batch, Ints
from fencepost.features.constituents import Constituents
from fencepost.features.indexer import IndexedSentence, Indexer
from fencepost.features.lists import firsts, ranges
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

    @classmethod
    def joined(cls, parts: Sequence[GoldFunctions]) -> GoldFunctions:
        """Those of several sentences as one batch."""
        constituents = Constituents.joined([part.constituents for part in parts])
        return cls(constituents, np.concatenate([part.allowed for part in parts]))


@dataclass(frozen=True)
class GoldTree:
    """A tree's labelled spans in its packed chart, the tags of its words, and its functions if a model learns them."""

    cells: Ints
    labels: Ints
    tags: Ints
    functions: GoldFunctions | None = None


@dataclass(frozen=True)
class GoldBatch:
    """A batch with its gold constituents and tags."""

    sentences: Batch
    spans: int  # S, in the charts of all sentences
    cells: Ints  # the constituents, as indices of spans ...
    labels: Ints  # ... and the label of each
    tags: Ints  # [W] gold tag of every word
    functions: GoldFunctions | None = None


class TrainingSet:
    """Trees indexed once, batched many times."""

    def __init__(self, trees: Sequence[Tree], indexer: Indexer) -> None:
        sentences = [Sentence.of(tree) for tree in trees]
        self._indexer = indexer
        self._indexed: list[IndexedSentence] = [indexer.index(sentence) for sentence in sentences]
        self.lengths: list[int] = [len(sentence) for sentence in sentences]
        gold = [gold_tree(tree, indexer.vocabularies) for tree in trees]
        # End to end: picking many small arrays from all over memory would take longer than anything else in a batch.
        self._cells, self._labels, self._tags = (
            Lists([getattr(tree, name) for tree in gold]) for name in ("cells", "labels", "tags")
        )
        self._functions = [tree.functions for tree in gold if tree.functions is not None]

    def __len__(self) -> int:
        return len(self._indexed)

    def batch(self, indices: Sequence[int]) -> GoldBatch:
        sentences = self._indexer.collate([self._indexed[index] for index in indices])
        spans = packing.span_count(sentences.lengths)
        cells, constituents = self._cells.pick(indices)
        cells += np.repeat(np.cumsum(spans) - spans, constituents)
        functions = [self._functions[index] for index in indices] if self._functions else []
        return GoldBatch(
            sentences,
            int(spans.sum()),
            cells,
            self._labels.pick(indices)[0],
            self._tags.pick(indices)[0],
            GoldFunctions.joined(functions) if functions else None,
        )


class Lists:
    """Many lists of numbers, end to end in one array."""

    def __init__(self, lists: Sequence[Ints]) -> None:
        self._numbers = np.concatenate(lists)
        self._counts = np.array([len(each) for each in lists], np.int64)
        self._firsts = firsts(self._counts)

    def pick(self, indices: Sequence[int]) -> tuple[Ints, Ints]:
        """Some of the lists, end to end, and how long each is."""
        chosen = np.asarray(indices)
        counts = self._counts[chosen]
        return self._numbers[ranges(self._firsts[chosen], counts)], counts


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
