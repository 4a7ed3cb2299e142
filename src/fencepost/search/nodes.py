"""One tree as lists: its nodes numbered from the root, each before its children, words included."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import Final

from fencepost.trees.heads import COLLINS
from fencepost.trees.tree import Leaf, Node, Tree, escape


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


class Nodes:
    """The nodes of a tree, by number. A tag and its word are two nodes, as in Tregex.

    ``labels[n]`` is the label, tag or word of node n, ``parents[n]`` its parent (-1 for the root), ``children[n]`` its
    children, and ``ends[n]`` the number after its last descendant: the nodes below n are n + 1 up to ends[n] - 1.
    """

    def __init__(self, labels: list[str], parents: list[int]) -> None:
        self.labels = labels
        self.parents = parents
        self._heads: dict[int, int] = {}

    @classmethod
    def of(cls, tree: Tree) -> Nodes:
        labels: list[str] = []
        parents: list[int] = []
        add_label, add_parent = labels.append, parents.append
        stack: list[Node] = [tree]
        above = [-1]
        while stack:
            node = stack.pop()
            add_parent(above.pop())
            if type(node) is Leaf:
                add_parent(len(labels))
                add_label(node.tag)
                add_label(_word_labels[node.word])
            else:
                children = node.children  # type: ignore[union-attr]
                above.extend((len(labels),) * len(children))
                stack.extend(children[::-1])
                add_label(node.label)  # type: ignore[union-attr]
        return cls(labels, parents)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def children(self) -> list[list[int]]:
        children: list[list[int]] = [[] for _ in self.labels]
        for number in range(1, len(self)):
            children[self.parents[number]].append(number)
        return children

    @cached_property
    def ends(self) -> list[int]:
        parents, ends = self.parents, list(range(1, len(self) + 1))
        for number in range(len(self) - 1, 0, -1):
            parent = parents[number]
            if ends[parent] < ends[number]:
                ends[parent] = ends[number]
        return ends

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
