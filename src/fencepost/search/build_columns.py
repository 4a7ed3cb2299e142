"""Builds columns from trees, or straight from text in brackets, which is faster than making trees of it first.

The text is cut at ``(`` as in ``trees.brackets``. Pieces repeat, so each different one is read once and then stands for
a number; the rest is done for all of them at once. Text that isn't plain brackets goes the long way through
``trees.brackets``, which also explains what is wrong with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from fencepost.errors import InputError, MissingLabelError
from fencepost.search.columns import NUMBER, Columns
from fencepost.search.nodes import Nodes, word_label
from fencepost.storage.text_reader import SourceLine, read_lines
from fencepost.trees.brackets import PieceError, parse_trees, read_piece, tree_texts
from fencepost.trees.tree import Tree

if TYPE_CHECKING:
    import numpy.typing as npt

    from fencepost.search.columns import Integers

_CHUNK: Final = 2**22  # characters that are read at once
_MOST_PIECES: Final = 2**20  # different pieces that are remembered
_MOST_NODES: Final = 2**31 - 2


def columns_of(trees: Iterable[Tree]) -> Columns:
    """The columns of trees in memory."""
    builder = ColumnsBuilder()
    for tree in trees:
        builder.add_tree(tree)
    return builder.columns()


def columns_of_nodes(nodes: Nodes) -> Columns:
    """The columns of one tree."""
    builder = ColumnsBuilder()
    builder.add_nodes(nodes)
    return builder.columns()


class ColumnsBuilder:
    """Collects trees into columns."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}  # of labels
        self.trees = 0
        self._nodes = 0
        self._parts: list[tuple[Integers, Integers]] = []  # labels and depths
        self._labels: list[int] = []  # of trees that were added one by one, not yet in a part
        self._depths: list[int] = []
        self._pieces = _Pieces(self.numbers)

    def add_tree(self, tree: Tree) -> None:
        self.add_nodes(Nodes.of(tree))

    def add_nodes(self, nodes: Nodes) -> None:
        depths: list[int] = []
        for parent in nodes.parents:
            depths.append(depths[parent] + 1 if depths else 0)
        numbers = self.numbers
        self._labels.extend([numbers.setdefault(label, len(numbers)) for label in nodes.labels])
        self._depths.extend(depths)
        self._grow(len(nodes), 1)

    def add_file(self, path: str | Path) -> None:
        for _ in self.add_lines(read_lines(path), str(path)):
            pass

    def add_lines(self, lines: Iterable[SourceLine], source: str) -> Iterator[None]:
        """Adds the trees on these lines, some megabytes at each step. Error messages name ``source``."""
        for texts in _chunks(tree_texts(lines, source)):
            plain = self._pieces.read("".join(text for text, _ in texts))
            if plain is None:
                for text, first in texts:
                    for tree in parse_trees(text, source, first):
                        self.add_tree(tree)
            else:
                self._flush()
                self._parts.append(plain)
                self._grow(len(plain[0]), int((plain[1] == 0).sum()))
            yield

    def _grow(self, nodes: int, trees: int) -> None:
        self._nodes += nodes
        self.trees += trees
        if self._nodes > _MOST_NODES:
            raise InputError("there are more than two billion nodes", hint="search the files one by one")

    def _flush(self) -> None:
        if self._labels:
            self._parts.append((np.array(self._labels, NUMBER), np.array(self._depths, NUMBER)))
            self._labels, self._depths = [], []

    def take(self) -> Columns:
        """The columns of the trees so far. The next ones will have only trees that are added from here on."""
        columns = self.columns()
        self._parts, self._nodes, self.trees = [], 0, 0
        return columns

    def columns(self) -> Columns:
        self._flush()
        empty = np.zeros(0, NUMBER)
        label = np.concatenate([empty, *(labels for labels, _ in self._parts)])
        depth = np.concatenate([empty, *(depths for _, depths in self._parts)])
        parent, end = _parents_and_ends(depth)
        roots = np.append(np.flatnonzero(depth == 0), len(depth)).astype(NUMBER)
        return Columns(list(self.numbers), label, parent, end, roots)


def _chunks(texts: Iterator[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    held: list[tuple[str, int]] = []
    size = 0
    for text, first in texts:
        held.append((text, first))
        size += len(text)
        if size >= _CHUNK:
            yield held
            held, size = [], 0
    if held:
        yield held


class _Pieces:
    """The different pieces of text between opening brackets, by number."""

    def __init__(self, numbers: dict[str, int]) -> None:
        self.numbers = numbers
        self._clear()

    def _clear(self) -> None:
        self.known: dict[str, int] = {}
        self.label: list[int] = []
        self.word: list[int] = []  # -1 for a phrase
        self.closing: list[int] = []  # brackets that close after the piece

    def read(self, text: str) -> tuple[Integers, Integers] | None:
        """The labels and depths of the nodes in a text, or None if something about it is unusual."""
        if len(self.known) > _MOST_PIECES:
            self._clear()
        pieces = text.split("(")
        if pieces[0].strip() or len(pieces) == 1:
            return None
        del pieces[0]
        known = self.known
        try:
            for piece in {*pieces}.difference(known):
                self._learn(piece)
        except PieceError:
            return None
        codes = np.fromiter(map(known.__getitem__, pieces), np.intp, len(pieces))
        word = np.array(self.word, NUMBER)[codes]
        is_leaf = word >= 0
        change = 1 - np.array(self.closing, NUMBER)[codes]
        after = np.cumsum(change, dtype=NUMBER)
        before = after - change
        # A leaf that isn't below a phrase and a bracket too many are unusual.
        if after[-1] != 0 or after.min() < 0 or is_leaf[before == 0].any():
            return None
        place = np.cumsum(1 + is_leaf) - (1 + is_leaf)  # of each piece's first node
        size = int(place[-1]) + 1 + int(is_leaf[-1])
        label, depth = np.empty(size, NUMBER), np.empty(size, NUMBER)
        label[place] = np.array(self.label, NUMBER)[codes]
        depth[place] = before
        label[place[is_leaf] + 1] = word[is_leaf]
        depth[place[is_leaf] + 1] = before[is_leaf] + 1
        return label, depth

    def _learn(self, piece: str) -> None:
        leaf, label, closing = read_piece(piece)
        if leaf is None and not label:
            raise PieceError(MissingLabelError, "a node has no label")
        numbers = self.numbers
        tag = label if leaf is None else leaf.tag
        self.known[piece] = len(self.label)
        self.label.append(numbers.setdefault(tag, len(numbers)))
        self.word.append(-1 if leaf is None else numbers.setdefault(word_label(leaf.word), len(numbers)))
        self.closing.append(0 if leaf is None else closing + 1)


def _parents_and_ends(depth: Integers) -> tuple[Integers, Integers]:
    """The parent of each node and the number after its last descendant, level by level."""
    parent = np.full(len(depth), -1, NUMBER)
    end = np.arange(1, len(depth) + 1, dtype=NUMBER)
    order = np.argsort(depth, kind="stable").astype(NUMBER)
    starts = np.searchsorted(depth[order], np.arange(int(depth.max(initial=0)) + 2))
    levels: list[npt.NDArray[np.int32]] = [order[one:two] for one, two in pairwise(starts)]
    for above, nodes in pairwise(levels):
        parent[nodes] = above[np.searchsorted(above, nodes) - 1]
    for nodes in reversed(levels[1:]):
        end[parent[nodes]] = end[nodes]  # of several children, the last one decides
    return parent, end
