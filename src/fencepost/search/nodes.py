"""One tree as lists: its nodes numbered from the root, each before its children, words included."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property

from fencepost.trees.heads import COLLINS
from fencepost.trees.tree import Leaf, Node, Tree, escape


class Nodes:
    """The nodes of a tree, by number. A tag and its word are two nodes, as in Tregex.

    ``labels[n]`` is the label, tag or word of node n, ``parents[n]`` its parent (-1 for the root), ``children[n]`` its
    children, and ``ends[n]`` the number after its last descendant: the nodes below n are n + 1 up to ends[n] - 1.
    """

    def __init__(self, labels: list[str], parents: list[int], children: list[list[int]]) -> None:
        self.labels = labels
        self.parents = parents
        self.children = children

    @classmethod
    def of(cls, tree: Tree) -> Nodes:
        labels: list[str] = []
        parents: list[int] = []
        children: list[list[int]] = []
        stack: list[Node] = [tree]
        above = [-1]
        while stack:
            node, parent, number = stack.pop(), above.pop(), len(labels)
            parents.append(parent)
            if parent >= 0:
                children[parent].append(number)
            if type(node) is Tree:
                labels.append(node.label)
                children.append([])
                stack.extend(node.children[::-1])
                above.extend([number] * len(node.children))
            else:
                assert isinstance(node, Leaf)
                labels += (node.tag, escape(node.word))
                children += ([number + 1], [])
                parents.append(number)
        return cls(labels, parents, children)

    def __len__(self) -> int:
        return len(self.labels)

    @cached_property
    def ends(self) -> list[int]:
        ends = list(range(1, len(self) + 1))
        for number in range(len(self) - 1, -1, -1):
            if below := self.children[number]:
                ends[number] = ends[below[-1]]
        return ends

    @cached_property
    def words(self) -> list[int]:
        """The nodes that are words."""
        return [number for number, below in enumerate(self.children) if not below]

    def span(self, number: int) -> tuple[int, int]:
        """The words under a node: the first, and the one after the last."""
        return bisect_left(self.words, number), bisect_left(self.words, self.ends[number])

    @cached_property
    def heads(self) -> list[int]:
        """The child that is the head of each node by Collins' rules; -1 for words."""
        labels = self.labels
        return [
            below[COLLINS.choose(labels[number], [labels[child] for child in below])] if below else -1
            for number, below in enumerate(self.children)
        ]
