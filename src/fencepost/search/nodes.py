"""One tree as lists: its nodes numbered from the root, each before its children, words included."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

from fencepost.trees.heads import COLLINS
from fencepost.trees.tree import Leaf, Node, Tree, escape

if TYPE_CHECKING:
    from fencepost.search.columns import Columns


class _WordLabels(dict[str, str]):
    """The labels of words. The same words come again and again, so they are remembered."""

    def __missing__(self, word: str) -> str:
        if len(self) >= _REMEMBERED:
            self.clear()
        label = self[word] = word_label(word)
        return label


def word_label(word: str) -> str:
    """A word as patterns see it: with brackets as treebanks write them, and without the Penn Treebank's backslashes."""
    return escape(word).replace("\\/", "/").replace("\\*", "*")


_REMEMBERED: Final = 2**16
_word_labels = _WordLabels()


def labels_of(tree: Tree) -> list[str]:
    """The labels, tags and words of a tree, as in ``Nodes``, which takes longer to make."""
    labels: list[str] = []
    add_label = labels.append
    stack: list[Node] = [tree]
    while stack:
        node = stack.pop()
        if type(node) is Leaf:
            add_label(node.tag)
            add_label(_word_labels[node.word])
        else:
            add_label(node.label)  # type: ignore[union-attr]
            stack.extend(node.children[::-1])  # type: ignore[union-attr]
    return labels


class Nodes:
    """The nodes of a tree, by number. A tag and its word are two nodes, as in Tregex.

    ``labels[n]`` is the label, tag or word of node n, ``parents[n]`` its parent (-1 for the root), ``children[n]`` its
    children, and ``ends[n]`` the number after its last descendant: the nodes below n are n + 1 up to ends[n] - 1.
    """

    def __init__(self, labels: list[str], parents: list[int], children: list[Sequence[int]] | None = None) -> None:
        self.labels = labels
        self.parents = parents
        self.children = _children(parents) if children is None else children
        self.memos: defaultdict[int, dict[int, int]] = defaultdict(dict)  # for ``matcher``
        self.steps = 0  # that ``listing`` has taken
        self._heads: dict[int, int] = {}

    @classmethod
    def of(cls, tree: Tree) -> Nodes:
        labels = [tree.label]
        parents = [-1]
        siblings: list[int] = []
        children: list[Sequence[int]] = [siblings]
        add_label, add_parent, add_children = labels.append, parents.append, children.append
        current, number = 0, 1
        remaining = iter(tree.children)
        stack: list[tuple[Iterator[Node], int, list[int]]] = []
        while True:
            for node in remaining:
                siblings.append(number)
                add_parent(current)
                if type(node) is Leaf:
                    add_parent(number)
                    add_label(node.tag)
                    add_label(_word_labels[node.word])
                    add_children((number + 1,))
                    add_children(())
                    number += 2
                else:
                    stack.append((remaining, current, siblings))
                    current, siblings = number, []
                    add_label(node.label)  # type: ignore[union-attr]
                    add_children(siblings)
                    remaining = iter(node.children)  # type: ignore[union-attr]
                    number += 1
                    break
            else:
                if not stack:
                    return cls(labels, parents, children)
                remaining, current, siblings = stack.pop()

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def ends(self) -> list[int]:
        parents, ends = self.parents, list(range(1, len(self) + 1))
        for number in range(len(self) - 1, 0, -1):
            parent = parents[number]
            if ends[parent] < ends[number]:
                ends[parent] = ends[number]
        return ends

    @cached_property
    def columns(self) -> Columns:
        """The same tree as arrays."""
        from fencepost.search.build_columns import columns_of_nodes

        return columns_of_nodes(self)

    @cached_property
    def words(self) -> list[int]:
        """The nodes that are words."""
        return [number for number, below in enumerate(self.children) if not below]

    def span(self, number: int) -> tuple[int, int]:
        """The words under a node: the first, and the one after the last."""
        return bisect_left(self.words, number), bisect_left(self.words, self.ends[number])

    def head(self, number: int) -> int:
        """The child that is the head of a node by Collins' rules; -1 for a word."""
        head = self._heads.get(number)
        if head is None:
            labels, children = self.labels, self.children[number]
            chosen = COLLINS.choose(labels[number], [labels[child] for child in children]) if children else 0
            head = self._heads[number] = children[chosen] if children else -1
        return head

    def brackets(self, number: int) -> str:
        """A node as brackets on one line; only the word for a word."""
        text, starts, ends = self._brackets
        return text[starts[number] : ends[number]]

    def place_in_brackets(self, number: int) -> tuple[int, int]:
        """Where a node begins and ends in the brackets of the whole tree."""
        _, starts, ends = self._brackets
        return starts[number], ends[number]

    @cached_property
    def _brackets(self) -> tuple[str, list[int], list[int]]:
        """The whole tree as brackets, and where each node begins and ends in it."""
        parts: list[str] = []
        starts, ends = [0] * len(self), [0] * len(self)
        opened: list[int] = []
        at = 0
        for number, label in enumerate(self.labels):
            if number:
                parts.append(" ")
                at += 1
            starts[number] = at
            if self.children[number]:
                opened.append(number)
                parts.append(f"({label}")
                at += len(label) + 1
                continue
            parts.append(label)
            at += len(label)
            ends[number] = at
            while opened and self.ends[opened[-1]] == number + 1:
                parts.append(")")
                at += 1
                ends[opened.pop()] = at
        return "".join(parts), starts, ends


def _children(parents: list[int]) -> list[Sequence[int]]:
    children: list[list[int]] = [[] for _ in parents]
    for number in range(1, len(parents)):
        children[parents[number]].append(number)
    return [*children]
