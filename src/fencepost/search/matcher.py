"""Counts the ways in which the nodes of one tree match, for patterns without references.

``definitions`` lists the ways one by one; here they are only counted, by functions that are put together once per tree.
With ``once`` they stop at the first way, and answer 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from fencepost.search.definitions import relative
from fencepost.search.nodes import Nodes
from fencepost.search.syntax import Any, Condition, NodePattern, Related

Count: TypeAlias = Callable[[int], int]


def counter(pattern: NodePattern, nodes: Nodes, once: bool = False) -> Count:
    """A function that tells in how many ways a node matches."""
    fits, labels = pattern.description.fits, nodes.labels
    if pattern.condition is None:
        return lambda node: 1 if fits[labels[node]] else 0
    condition = _condition(pattern.condition, nodes, once)
    return lambda node: condition(node) if fits[labels[node]] else 0


def _condition(condition: Condition, nodes: Nodes, once: bool) -> Count:
    if condition.optional:
        return lambda node: 1
    if isinstance(condition, Related):
        if condition.negated:
            found = _related(condition, nodes, once=True)
            return lambda node: 0 if found(node) else 1
        return _related(condition, nodes, once)
    parts = [_condition(part, nodes, once or condition.negated) for part in condition.parts]
    combined = _any(parts, once) if isinstance(condition, Any) else _all(parts)
    if condition.negated:
        return lambda node: 0 if combined(node) else 1
    return combined


def _related(condition: Related, nodes: Nodes, once: bool) -> Count:
    others = relative(condition.relation)
    if condition.node.condition is None:
        return _with_label(condition, nodes, once)
    inner = counter(condition.node, nodes, once)
    if once:
        return lambda node: 1 if any(map(inner, others(nodes, node))) else 0
    return lambda node: sum(map(inner, others(nodes, node)))


def _with_label(condition: Related, nodes: Nodes, once: bool) -> Count:
    """A relation to a node with nothing but a label, which is the most frequent one."""
    others, fits, labels = relative(condition.relation), condition.node.description.fits, nodes.labels

    def total(node: int) -> int:
        ways = 0
        for other in others(nodes, node):
            if fits[labels[other]]:
                ways += 1
        return ways

    def first(node: int) -> int:
        for other in others(nodes, node):
            if fits[labels[other]]:
                return 1
        return 0

    return first if once else total


def _all(parts: list[Count]) -> Count:
    def product(node: int) -> int:
        ways = 1
        for part in parts:
            ways *= part(node)
            if not ways:
                return 0
        return ways

    return product


def _any(parts: list[Count], once: bool) -> Count:
    if once:
        return lambda node: 1 if any(part(node) for part in parts) else 0
    return lambda node: sum(part(node) for part in parts)
