"""Nodes that match a part of a pattern, as columns: what ``joins`` adds up.

Trees lie one after the other and nodes before their children, so most sums are over ranges of nodes: differences of
running sums.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from fencepost.search.columns import Columns

if TYPE_CHECKING:
    import numpy.typing as npt

    Array = npt.NDArray[np.integer]
    Sums = npt.NDArray[np.float64]

_SPARSE: Final = 16  # below this share of all nodes, searching is faster than an array with an entry for each


class Bag:
    """Nodes that match, in order, and in how many ways each."""

    def __init__(self, columns: Columns, nodes: Array, ways: Sums) -> None:
        self.columns = columns
        self.nodes = nodes
        self.ways = ways

    @cached_property
    def running(self) -> Sums:
        """``running[i]`` is the sum of the ways of the first i nodes."""
        return running_sums(self.ways)

    def between(self, first: Array, last: Array) -> Sums:
        """The ways of the nodes from ``first`` up to but not including ``last``, pair by pair."""
        nodes = self.nodes
        return self.running[np.searchsorted(nodes, last)] - self.running[np.searchsorted(nodes, first)]

    def of(self, nodes: Array) -> Sums:
        """The ways of these nodes; 0 for those that aren't here, and for -1."""
        if len(self.nodes) == 0 or len(nodes) < len(self.columns) // _SPARSE:
            place = np.minimum(np.searchsorted(self.nodes, nodes), max(len(self.nodes) - 1, 0))
            return (
                np.where(self.nodes[place] == nodes, self.ways[place], 0) if len(self.nodes) else np.zeros(len(nodes))
            )
        return self._by_node[nodes]

    @cached_property
    def _by_node(self) -> Sums:
        ways = np.zeros(len(self.columns) + 1)
        ways[self.nodes] = self.ways
        return ways

    def below(self, nodes: Array, where: npt.NDArray[np.bool_] | None = None) -> Sums:
        """The ways of the children of each node. ``where`` tells which of the nodes here count."""
        above = self.columns.parent[self.nodes]
        kept = above >= 0 if where is None else (above >= 0) & where
        return by_key(above[kept], self.ways[kept], nodes, len(self.columns))

    @cached_property
    def ended(self) -> tuple[Array, Sums]:
        """The ends of the nodes in order, and running sums of their ways."""
        ends = self.columns.end[self.nodes]
        order = np.argsort(ends, kind="stable")
        return ends[order], running_sums(self.ways[order])

    def ended_by(self, place: Array) -> Sums:
        """The ways of the nodes that end at or before a node."""
        ends, running = self.ended
        return running[np.searchsorted(ends, place, side="right")]

    def above(self, nodes: Array) -> Sums:
        """The ways of the ancestors of each node: of those that begin before it but don't end before it."""
        return self.running[np.searchsorted(self.nodes, nodes)] - self.ended_by(nodes)

    def in_group(self, group: Array, nodes: Array, after: bool) -> Sums:
        """The ways of the nodes that are in the same group as each node, and after or before it."""
        size = np.int64(len(self.columns) + 1)
        keys = group[self.nodes].astype(np.int64) * size + self.nodes
        order = np.argsort(keys, kind="stable")
        running = running_sums(self.ways[order])
        mine = group[nodes].astype(np.int64) * size
        here = np.searchsorted(keys[order], mine + nodes + after)
        edge = np.searchsorted(keys[order], mine + size if after else mine)
        between: Sums = running[edge] - running[here]
        return between if after else -between


def by_key(keys: Array, ways: Sums, wanted: Array, size: int) -> Sums:
    """The sum of the ways with each wanted key. Keys are 0 up to ``size``; a wanted key of -1 has no ways."""
    if len(keys) < size // _SPARSE:
        order = np.argsort(keys, kind="stable")
        running = running_sums(ways[order])
        keys = keys[order]
        first, last = np.searchsorted(keys, wanted), np.searchsorted(keys, wanted, side="right")
        return np.asarray(running[last] - running[first])
    sums = np.asarray(np.bincount(keys, weights=ways, minlength=size + 1), np.float64)
    return sums[wanted]


def running_sums(ways: Sums) -> Sums:
    running = np.zeros(len(ways) + 1)
    np.cumsum(ways, out=running[1:])
    return running
