"""Many trees as arrays: one entry per node, trees one after the other, each node before its children.

A tag and its word are two nodes, as in Tregex. Everything else about a tree (sisters, words, first and last children)
follows from the label, parent and end of its nodes, and is worked out when a pattern first asks for it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from fencepost.search.nodes import Nodes
from fencepost.trees.heads import COLLINS

if TYPE_CHECKING:
    import numpy.typing as npt

    Integers = npt.NDArray[np.int32]
    Booleans = npt.NDArray[np.bool_]
    Positions = npt.NDArray[np.intp]

NUMBER: Final = np.int32


class Columns:
    """Trees by number, from 0, and their nodes.

    ``label[n]`` is a number in ``vocabulary``, ``parent[n]`` the number of a node (-1 for a root), and ``end[n]`` the
    number after the last descendant. Tree t has the nodes from ``roots[t]`` up to ``roots[t + 1]``.
    """

    def __init__(
        self, vocabulary: Sequence[str], label: Integers, parent: Integers, end: Integers, roots: Integers
    ) -> None:
        self.vocabulary = vocabulary
        self.label = label
        self.parent = parent
        self.end = end
        self.roots = roots

    def __len__(self) -> int:
        """The number of nodes."""
        return len(self.label)

    @property
    def trees(self) -> int:
        """The number of trees."""
        return len(self.roots) - 1

    @property
    def tokens(self) -> int:
        return len(self.words)

    # By label

    @cached_property
    def numbers(self) -> dict[str, int]:
        """The number of each label."""
        return {label: number for number, label in enumerate(self.vocabulary)}

    @cached_property
    def by_label(self) -> Integers:
        """All nodes, those with label 0 first, then those with label 1, and so on."""
        return np.argsort(self.label, kind="stable").astype(NUMBER)

    @cached_property
    def label_starts(self) -> Positions:
        """Where the nodes with each label begin in ``by_label``, and where the last ones end."""
        sizes = np.bincount(self.label, minlength=len(self.vocabulary))
        return np.append(0, np.cumsum(sizes))

    def with_labels(self, labels: npt.NDArray[np.integer] | None) -> Positions:
        """The nodes that have one of these labels, or all nodes, in order."""
        if labels is None:
            return np.arange(len(self))
        starts = self.label_starts
        sizes = starts[labels + 1] - starts[labels]
        if sizes.sum() * 8 > len(self):
            chosen = np.zeros(len(self.vocabulary), bool)
            chosen[labels] = True
            return np.flatnonzero(chosen[self.label])
        parts = [self.by_label[starts[label] : starts[label + 1]] for label in labels.tolist()]
        if len(parts) == 1:
            return parts[0].astype(np.intp)
        return np.sort(np.concatenate([*parts, np.zeros(0, NUMBER)])).astype(np.intp)

    # Per node

    def is_word(self, nodes: npt.NDArray[np.integer]) -> Booleans:
        return np.asarray(self.end[nodes] == nodes + 1)

    def is_first(self, nodes: npt.NDArray[np.integer]) -> Booleans:
        """True for the first child of its parent."""
        return np.asarray((self.parent[nodes] == nodes - 1) & (nodes > 0))

    def is_last(self, nodes: npt.NDArray[np.integer]) -> Booleans:
        """True for the last child of its parent."""
        above = self.parent[nodes]
        return np.asarray((self.end[nodes] == self.end[above]) & (above >= 0))

    def next_sister(self, nodes: npt.NDArray[np.integer]) -> Integers:
        """The sister to the right of each node, or -1."""
        above, after = self.parent[nodes], self.end[nodes]
        return np.where((above >= 0) & (after < self.end[above]), after, -1)

    @cached_property
    def previous_sisters(self) -> Integers:
        """The sister to the left of every node, or -1."""
        nodes = np.arange(len(self), dtype=NUMBER)
        following = self.next_sister(nodes)
        previous = np.full(len(self), -1, NUMBER)
        previous[following[following >= 0]] = nodes[following >= 0]
        return previous

    @cached_property
    def places_from_last(self) -> Integers:
        """The place of every node among its sisters, counted from the last, which has 1 (0 for roots)."""
        places = np.zeros(len(self), NUMBER)
        waiting = np.flatnonzero(self.is_last(np.arange(len(self)))).astype(NUMBER)
        number = 0
        while len(waiting):
            number += 1
            places[waiting] = number
            waiting = self.previous_sisters[waiting]
            waiting = waiting[waiting >= 0]
        return places

    def nth_child(self, nodes: npt.NDArray[np.integer], number: int) -> Integers:
        """The child of each node with this number from 1, or -1."""
        child = np.where(self.is_word(nodes), -1, nodes + 1).astype(NUMBER)
        for _ in range(number - 1):
            if not (child >= 0).any():
                break
            child = np.where(child >= 0, self.next_sister(child), -1)
        return child

    @cached_property
    def words(self) -> Integers:
        """The nodes that are words."""
        return np.flatnonzero(self.is_word(np.arange(len(self)))).astype(NUMBER)

    @cached_property
    def words_before(self) -> Integers:
        """For each node, and for the number after the last, how many words come before it."""
        before = np.zeros(len(self) + 1, NUMBER)
        before[self.words + 1] = 1
        return np.cumsum(before, dtype=NUMBER)

    @cached_property
    def branching(self) -> Integers:
        """The nodes that don't have exactly one child, in order."""
        nodes = np.arange(len(self))
        unary = np.zeros(len(self) + 1, bool)
        unary[self.parent[self.is_first(nodes) & self.is_last(nodes)]] = True
        return np.flatnonzero(~unary[:-1]).astype(NUMBER)

    @cached_property
    def head_word(self) -> Integers:
        """The word that is the head of each node by Collins' rules."""
        head = np.arange(len(self), dtype=NUMBER)
        first = np.flatnonzero(self.is_first(head))
        head[first - 1] = first  # the head of a node with one child
        several = first[~self.is_last(first)] - 1
        head[several] = self._head_children(several)
        while True:  # each step doubles how far down the pointers reach
            further = head[head]
            if np.array_equal(further, head):
                return head
            head = further

    def is_head(self, nodes: npt.NDArray[np.integer]) -> Booleans:
        """True for the head child of its parent."""
        above = self.parent[nodes]
        if "head_word" in self.__dict__:
            return np.asarray((above >= 0) & (self.head_word[nodes] == self.head_word[above]))
        # Unless all heads are known already, only those of the parents are worked out.
        inside = above >= 0
        phrases, which = np.unique(above[inside], return_inverse=True)
        found = np.zeros(len(nodes), bool)
        found[inside] = self._head_children(phrases)[which] == nodes[inside]
        return found

    def _head_children(self, phrases: npt.NDArray[np.integer]) -> Integers:
        """The head child of each phrase. Phrases whose own and children's labels are the same are decided once."""
        kind = self.label[phrases].astype(np.int64)
        kinds = len(self.vocabulary)
        index, child = np.arange(len(phrases)), (phrases + 1).astype(NUMBER)
        children = []
        while len(index):
            children.append((index, child))
            pairs = (kind[index] + kinds) * len(self.vocabulary) + self.label[child]
            # Numbers of their own keep the pairs small; the kinds of phrases with fewer children stay as they are.
            numbers = np.unique(pairs, return_inverse=True)[1]
            kind[index] = kinds + numbers
            kinds += len(index)
            following = self.next_sister(child)
            more = following >= 0
            index, child = index[more], following[more]
        _, examples, kind = np.unique(kind, return_index=True, return_inverse=True)
        chosen = np.array([self._choose_head(int(phrases[example])) for example in examples], NUMBER)[kind]
        heads = np.empty(len(phrases), NUMBER)
        for place, (index, child) in enumerate(children):
            here = chosen[index] == place
            heads[index[here]] = child[here]
        return heads

    def _choose_head(self, phrase: int) -> int:
        labels = []
        child = phrase + 1
        while child < self.end[phrase]:
            labels.append(self.vocabulary[self.label[child]])
            child = int(self.end[child])
        return COLLINS.choose(self.vocabulary[self.label[phrase]], labels)

    # One tree

    def tree_of(self, nodes: npt.NDArray[np.integer]) -> Positions:
        """The numbers of the trees that nodes belong to."""
        return np.searchsorted(self.roots, nodes, side="right") - 1

    def nodes(self, tree: int) -> Nodes:
        """One tree as lists, with its nodes numbered from 0."""
        first, last = int(self.roots[tree]), int(self.roots[tree + 1])
        vocabulary = self.vocabulary
        labels = [vocabulary[number] for number in self.label[first:last].tolist()]
        parents = (self.parent[first:last] - first).tolist()
        parents[0] = -1
        return Nodes(labels, parents)
