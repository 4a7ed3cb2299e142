"""Counts the ways in which the nodes of one tree match, for patterns without references.

``definitions`` lists the ways one by one; here they are only counted, by functions that are put together once per tree.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fencepost.search.definitions import relative
from fencepost.search.nodes import Nodes
from fencepost.search.syntax import Any, Condition, NodePattern, Related

Count: TypeAlias = Callable[[int], int]


def counter(pattern: NodePattern, nodes: Nodes) -> Count:
    """A function that tells in how many ways a node matches."""
    fits, labels = pattern.description.fits, nodes.labels
    if pattern.condition is None:
        return lambda node: 1 if fits[labels[node]] else 0
    condition = _condition(pattern.condition, nodes)
    return lambda node: condition(node) if fits[labels[node]] else 0


def _condition(condition: Condition, nodes: Nodes) -> Count:
    if condition.optional:
        return lambda node: 1
    if isinstance(condition, Related):
        return _related(condition, nodes)
    parts = [_condition(part, nodes) for part in condition.parts]
    combined = _any(parts) if isinstance(condition, Any) else _all(parts)
    if condition.negated:
        return lambda node: 0 if combined(node) else 1
    return combined


def _related(condition: Related, nodes: Nodes) -> Count:
    others = relative(condition.relation)
    inner = counter(condition.node, nodes)
    if condition.negated:

        def missing(node: int) -> int:
            for other in others(nodes, node):
                if inner(other):
                    return 0
            return 1

        return missing

    def total(node: int) -> int:
        ways = 0
        for other in others(nodes, node):
            ways += inner(other)
        return ways

    return total


def _all(parts: list[Count]) -> Count:
    def product(node: int) -> int:
        ways = 1
        for part in parts:
            ways *= part(node)
            if not ways:
                return 0
        return ways

    return product


def _any(parts: list[Count]) -> Count:
    return lambda node: sum(part(node) for part in parts)
