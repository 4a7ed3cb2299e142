"""Counts over a treebank: sizes, labels, unary chains, depth. Counts of several files can be added."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from fencepost.trees.brackets import ROOT_SYMBOLS
from fencepost.trees.spans import Chain, spans_below_root
from fencepost.trees.tree import Tree


@dataclass
class Stats:
    """Counts over trees. The root symbol isn't counted: not as a label, not in a chain, not for depth."""

    lengths: Counter[int] = field(default_factory=Counter)  # number of words -> number of sentences
    tags: Counter[str] = field(default_factory=Counter)
    chains: Counter[Chain] = field(default_factory=Counter)  # constituents; a unary chain counts as one
    depth: int = 0  # phrases on the longest path from the root to a word
    distinct: set[int] = field(default_factory=set)  # hashes of trees: they reveal repeated trees, and are smaller

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Stats:
        stats = cls()
        for tree in trees:
            stats.add(tree)
        return stats

    def add(self, tree: Tree) -> None:
        tags = tree.tags()
        self.lengths[len(tags)] += 1
        self.tags.update(tags)
        self.chains.update(span.label for span in spans_below_root(tree))
        self.depth = max(self.depth, _depth(tree))
        self.distinct.add(hash(tree))

    def __add__(self, other: Stats) -> Stats:
        return Stats(
            self.lengths + other.lengths,
            self.tags + other.tags,
            self.chains + other.chains,
            max(self.depth, other.depth),
            self.distinct | other.distinct,
        )

    @property
    def labels(self) -> Counter[str]:
        labels: Counter[str] = Counter()
        for chain, count in self.chains.items():
            for label in chain:
                labels[label] += count
        return labels

    def figures(self) -> dict[str, int | float]:
        """The figures by name, as the table and ``--json`` show them."""
        sentences = self.lengths.total()
        tokens = sum(length * count for length, count in self.lengths.items())
        return {
            "sentences": sentences,
            "tokens": tokens,
            "average_length": round(tokens / sentences, 1) if sentences else 0.0,
            "longest": max(self.lengths, default=0),
            "labels": len(self.labels),
            "tags": len(self.tags),
            "unary_chains": sum(len(chain) > 1 for chain in self.chains),
            "depth": self.depth,
            "one_word": self.lengths[1],
            "repeated": sentences - len(self.distinct),
        }


def _depth(tree: Tree) -> int:
    depth = 0 if tree.label in ROOT_SYMBOLS else 1
    level = [tree]
    while level := [child for node in level for child in node.children if type(child) is Tree]:
        depth += 1
    return depth
