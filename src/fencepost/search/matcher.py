"""Counts the ways in which the nodes of one tree match.

``definitions`` lists the ways one by one; here they are only counted, by functions that are put together once per
pattern. With ``once`` they stop at the first way, and answer 0 or 1. An answer that may be needed again is kept with
the tree, so that nested patterns such as ``__ << (__ << (__ << NP))`` ask for each node only once.

For patterns with references the answer is an upper bound: a node with 0 ways can't match, others may.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Final, TypeAlias

from fencepost.search.definitions import Relative, relative
from fencepost.search.labels import LabelTest
from fencepost.search.nodes import Nodes
from fencepost.search.syntax import Any, Condition, NodePattern, Related, Relation, condition_refers

Count: TypeAlias = Callable[[Nodes, int], int]

_FROM_ONE: Final = frozenset({"<", "<i", "<:", "<#", "=="})  # a node B has one A for these relations, or none
_LARGE: Final = 2_000  # nodes
_MOST_EFFORT: Final = 4_000  # nodes times the effort of a pattern
MEMOS: Final = count()  # numbers for the answers that trees keep


def is_large(nodes: Nodes, effort: int) -> bool:
    """True for trees and patterns that may take long node by node. Arrays are fast for all of them."""
    return len(nodes) > _LARGE or len(nodes) * effort > _MOST_EFFORT


def count_in_large_tree(pattern: NodePattern, nodes: Nodes, once: bool) -> list[tuple[int, int]]:
    """The nodes that match, and in how many ways."""
    from fencepost.search.counts import count

    matching, ways = count(pattern, nodes.columns, once=once)
    return list(zip(matching.tolist(), map(int, ways.tolist()), strict=True))


def counter(pattern: NodePattern, once: bool = False, remember: bool = False) -> Count:
    """A function that tells in how many ways a node matches.

    Args:
        pattern: What to count.
        once: Count at most one way.
        remember: Keep the answers. Needed if the function may be called several times for the same node.
    """
    fits = pattern.description.fits
    if pattern.condition is None:
        return lambda nodes, node: 1 if fits[nodes.labels[node]] else 0
    condition = _condition(pattern.condition, once)
    if not remember:
        return lambda nodes, node: condition(nodes, node) if fits[nodes.labels[node]] else 0
    number = next(MEMOS)

    def remembered(nodes: Nodes, node: int) -> int:
        if not fits[nodes.labels[node]]:
            return 0
        memo = nodes.memos[number]
        ways = memo.get(node)
        if ways is None:
            ways = memo[node] = condition(nodes, node)
        return ways

    return remembered


def _condition(condition: Condition, once: bool) -> Count:
    if condition.optional or (condition.negated and condition_refers(condition)):
        return lambda nodes, node: 1
    once = once or condition.negated
    if isinstance(condition, Related):
        found = _related(condition, once)
    else:
        parts = [_condition(part, once) for part in condition.parts]
        found = _any(parts, once) if isinstance(condition, Any) else _all(parts)
    if condition.negated:
        return lambda nodes, node: 0 if found(nodes, node) else 1
    return found


def _related(condition: Related, once: bool) -> Count:
    inner = counter(condition.node, once, remember=condition.relation.symbol not in _FROM_ONE)
    reach = _reach_one(condition.relation)
    if reach is not None:
        return _to_one(reach, inner, condition.node)
    others = relative(condition.relation)
    if condition.node.condition is None:
        return _with_label(others, condition.node.description.fits, once)
    if not once:
        return lambda nodes, node: sum([inner(nodes, other) for other in others(nodes, node)])

    def first(nodes: Nodes, node: int) -> int:
        for other in others(nodes, node):
            if inner(nodes, other):
                return 1
        return 0

    return first


def _reach_one(relation: Relation) -> Count | None:
    """A function that gives the only node to which a node can have this relation, or -1, for frequent relations."""
    if relation.symbol == ">":
        return lambda nodes, node: nodes.parents[node]
    if relation.symbol == "<#":
        return Nodes.head
    if relation.symbol == "<i" and relation.number == 1:
        return lambda nodes, node: node + 1 if nodes.children[node] else -1
    return None


def _to_one(reach: Count, inner: Count, pattern: NodePattern) -> Count:
    fits = pattern.description.fits

    def one(nodes: Nodes, node: int) -> int:
        other = reach(nodes, node)
        return inner(nodes, other) if other >= 0 and fits[nodes.labels[other]] else 0

    return one


def _with_label(others: Relative, fits: LabelTest, once: bool) -> Count:
    """A relation to a node with nothing but a label, which is the most frequent one."""

    def total(nodes: Nodes, node: int) -> int:
        labels = nodes.labels
        ways = 0
        for other in others(nodes, node):
            if fits[labels[other]]:
                ways += 1
        return ways

    def first(nodes: Nodes, node: int) -> int:
        labels = nodes.labels
        for other in others(nodes, node):
            if fits[labels[other]]:
                return 1
        return 0

    return first if once else total


def _all(parts: list[Count]) -> Count:
    def product(nodes: Nodes, node: int) -> int:
        ways = 1
        for part in parts:
            ways *= part(nodes, node)
            if not ways:
                return 0
        return ways

    return product


def _any(parts: list[Count], once: bool) -> Count:
    def first(nodes: Nodes, node: int) -> int:
        for part in parts:
            if part(nodes, node):
                return 1
        return 0

    return first if once else lambda nodes, node: sum([part(nodes, node) for part in parts])


def needed_labels(pattern: NodePattern) -> list[frozenset[str]]:
    """Sets of labels such that a tree without any label of one set has no match."""
    needed: list[frozenset[str]] = []
    waiting: list[NodePattern | Condition] = [pattern]
    while waiting:
        part = waiting.pop()
        if isinstance(part, NodePattern):
            description = part.description
            if description.kind == "labels" and not (description.negated or description.basic):
                needed.append(description.labels)
            waiting.extend([] if part.condition is None else [part.condition])
        elif part.negated or part.optional:
            continue
        elif isinstance(part, Related):
            waiting.append(part.node)
        elif not isinstance(part, Any) or len(part.parts) == 1:
            waiting.extend(part.parts)
    return list(dict.fromkeys(needed))
