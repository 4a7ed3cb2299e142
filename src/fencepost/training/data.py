"""Training trees as arrays: what the model reads, and the gold label of every span (§2.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from fencepost.chart import packing
from fencepost.features.batch import Batch, Ints
from fencepost.features.indexer import IndexedSentence, Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence


@dataclass(frozen=True)
class GoldTree:
    """A tree's labelled spans in its packed chart, and the tags of its words."""

    cells: Ints
    labels: Ints
    tags: Ints


@dataclass(frozen=True)
class GoldBatch:
    """A batch with its gold labels and tags."""

    sentences: Batch
    labels: Ints  # [S] gold label of every span; 0 where there is no constituent
    tags: Ints  # [W] gold tag of every word


class TrainingSet:
    """Trees indexed once, batched many times."""

    def __init__(self, trees: Sequence[Tree], indexer: Indexer) -> None:
        sentences = [Sentence.of(tree) for tree in trees]
        self._indexer = indexer
        self._indexed: list[IndexedSentence] = [indexer.index(sentence) for sentence in sentences]
        self._gold = [gold_tree(tree, indexer.vocabularies) for tree in trees]
        self.lengths: list[int] = [len(sentence) for sentence in sentences]

    def __len__(self) -> int:
        return len(self._indexed)

    def batch(self, indices: Sequence[int]) -> GoldBatch:
        sentences = self._indexer.collate([self._indexed[index] for index in indices])
        gold = [self._gold[index] for index in indices]
        offsets = packing.offsets(sentences.lengths)
        cells = np.concatenate([tree.cells + offset for tree, offset in zip(gold, offsets, strict=True)])
        labels = np.zeros(int(packing.span_count(sentences.lengths).sum()), np.int64)
        labels[cells] = np.concatenate([tree.labels for tree in gold])
        return GoldBatch(sentences, labels, np.concatenate([tree.tags for tree in gold]))


def gold_tree(tree: Tree, vocabularies: Vocabularies) -> GoldTree:
    """The tree without labels that the vocabulary lacks: their spans don't count as constituents."""
    label_ids = vocabularies.labels.ids
    spans = [span for span in spans_below_root(tree) if span.label in label_ids]
    tags = np.array([vocabularies.tags.id(tag) for tag in tree.tags()], np.int64)
    starts = np.array([span.start for span in spans], np.int64)
    ends = np.array([span.end for span in spans], np.int64)
    lengths = np.full(len(spans), len(tags), np.int64)
    labels = np.array([label_ids[span.label] for span in spans], np.int64)
    return GoldTree(packing.cell_index(lengths, starts, ends), labels, tags)


def unseen_labels(trees: Sequence[Tree], vocabularies: Vocabularies) -> dict[str, int]:
    """The labels of these trees that the vocabulary lacks, and how often each occurs."""
    counts: dict[str, int] = {}
    for tree in trees:
        for span in spans_below_root(tree):
            if span.label not in vocabularies.labels.ids:
                name = "+".join(span.label)
                counts[name] = counts.get(name, 0) + 1
    return counts
