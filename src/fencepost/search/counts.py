"""Answers a pattern for all nodes of some columns at once: which nodes match, and in how many ways.

A node matches in as many ways as the related nodes do: conditions that all must hold multiply their ways, alternatives
add them, a negation has one way or none, an option always one. Patterns that refer back to a named node, or bind
variables, depend on more than counts. For these the answer is the nodes that *may* match; the matcher looks at each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from fencepost.errors import InputError
from fencepost.search.bag import Bag
from fencepost.search.columns import Columns
from fencepost.search.joins import join
from fencepost.search.syntax import Any, Condition, Description, NodePattern, Related, condition_refers

if TYPE_CHECKING:
    import numpy.typing as npt

    from fencepost.search.bag import Array, Sums

_MOST: Final = 2.0**53  # the largest number up to which a float counts exactly


def count(pattern: NodePattern, columns: Columns, *, once: bool = False) -> tuple[Array, Sums]:
    """The nodes that match, in order, and the number of ways in which each does; 1 for each with ``once``.

    If ``has_references(pattern)``, these are only the nodes that may match.
    """
    bag = _Counter(columns, once).bag(pattern)
    return bag.nodes, bag.ways


class _Counter:
    def __init__(self, columns: Columns, once: bool) -> None:
        self.columns = columns
        self.once = once

    def bag(self, pattern: NodePattern) -> Bag:
        nodes = self.columns.with_labels(self.fitting_labels(pattern.description))
        ways = np.ones(len(nodes))
        if pattern.condition is not None and len(nodes):
            ways = self.ways(pattern.condition, nodes)
            kept = np.flatnonzero(ways)
            nodes, ways = nodes[kept], np.ones(len(kept)) if self.once else ways[kept]
            if len(ways) and ways.sum() > _MOST:
                raise InputError("the pattern matches more often than can be counted", hint="use __ for fewer nodes")
        return Bag(self.columns, nodes, ways)

    def fitting_labels(self, description: Description) -> Array | None:
        """The numbers of the labels that fit, or None for all."""
        if description.kind == "any" and not description.negated:
            return None
        columns = self.columns
        if description.kind == "labels" and not description.negated and not description.basic:
            return np.array(
                [columns.numbers[label] for label in description.labels if label in columns.numbers], np.intp
            )
        fits = description.fits
        return np.flatnonzero(np.fromiter((fits[label] for label in columns.vocabulary), bool, len(columns.vocabulary)))

    def links(self, chain: Description) -> npt.NDArray[np.bool_]:
        """True for the nodes that a chain may pass."""
        passable = np.zeros(len(self.columns), bool)
        passable[self.columns.with_labels(self.fitting_labels(chain))] = True
        return passable

    def ways(self, condition: Condition, nodes: Array) -> Sums:
        if condition.optional:
            return np.ones(len(nodes))
        if condition.negated:
            if condition_refers(condition):
                return np.ones(len(nodes))  # it may hold
            return np.where(self.positive_ways(condition, nodes) == 0, 1.0, 0.0)
        return self.positive_ways(condition, nodes)

    def positive_ways(self, condition: Condition, nodes: Array) -> Sums:
        if isinstance(condition, Related):
            chain = condition.relation.chain
            links = None if chain is None else self.links(chain)
            return join(condition.relation, self.columns, nodes, self.bag(condition.node), links)
        if isinstance(condition, Any):
            total = np.zeros(len(nodes))
            for part in condition.parts:
                total += self.ways(part, nodes)
            return total
        product = np.ones(len(nodes))
        left = np.arange(len(nodes))
        for part in condition.parts:
            product[left] = np.minimum(product[left] * self.ways(part, nodes[left]), 2 * _MOST)
            left = left[product[left] > 0]
            if not len(left):
                break
        return product
