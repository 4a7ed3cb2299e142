"""Lists the ways in which a node matches, with names and variables, as ``definitions`` does but without dead ends.

``definitions`` follows a relation to every node and finds out late that nothing there matches. Here ``matcher`` tells
first which nodes can match. Patterns without references then have no dead ends at all. Those with references still
can; a search that takes too many steps in one tree is an error.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Final, TypeAlias

from fencepost.errors import InputError
from fencepost.search.definitions import Bound, describe, relative
from fencepost.search.matcher import MEMOS, Count, count_in_large_tree, counter, is_large
from fencepost.search.nodes import Nodes
from fencepost.search.syntax import (
    Any,
    Condition,
    Description,
    NodePattern,
    Related,
    condition_binds,
    effort,
    has_references,
    relation_effort,
)

MOST_STEPS: Final = 1_000_000  # in one tree; a few seconds

_ANY: Final = Description("any")
List: TypeAlias = Callable[[Nodes, int, Bound], Iterator[Bound]]


class Lister:
    """Lists the ways in which the nodes of a tree match a pattern."""

    def __init__(self, pattern: NodePattern) -> None:
        self.refers = has_references(pattern)
        self.effort = effort(pattern)
        self.ways = self._node(pattern)  # takes the nodes of a tree, one of them, and what is bound already

    def _node(self, pattern: NodePattern) -> List:
        description = pattern.description
        condition = None if pattern.condition is None else self._condition(pattern.condition)

        def ways(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
            here = describe(description, nodes, node, bound)
            if here is None:
                return
            if condition is None:
                yield here
            else:
                yield from condition(nodes, node, here)

        return ways

    def _condition(self, condition: Condition) -> List:
        if not condition_binds(condition):
            return self._counted(condition)
        if isinstance(condition, Related):
            found = self._related(condition)
        else:
            parts = [self._condition(part) for part in condition.parts]
            found = _any(parts) if isinstance(condition, Any) else _all(parts)

        def negated(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
            if next(found(nodes, node, bound), None) is None:
                yield bound

        def optional(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
            yield next(found(nodes, node, bound), bound)

        return negated if condition.negated else optional if condition.optional else found

    def _counted(self, condition: Condition) -> List:
        """A condition without names and references has ways that are all the same, so they are only counted."""
        number_of_ways = self._count(NodePattern(_ANY, condition), once=False)

        def ways(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
            return repeat(bound, min(number_of_ways(nodes, node), sys.maxsize))

        return ways

    def _related(self, condition: Related) -> List:
        others = relative(condition.relation)
        inner = self._node(condition.node)
        can_match = self._count(condition.node, once=True)
        weight = relation_effort(condition.relation)

        def ways(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
            reached = others(nodes, node)
            if self.refers:
                _count_steps(nodes, (1 + len(reached)) * weight)
            for other in reached:
                if can_match(nodes, other):
                    yield from inner(nodes, other, bound)

        return ways

    def _count(self, pattern: NodePattern, once: bool) -> Count:
        """A function that tells in how many ways a node can match, whatever is bound."""
        ask = counter(pattern, once, remember=True)
        if pattern.condition is None:
            return ask
        number = next(MEMOS)

        def count(nodes: Nodes, node: int) -> int:
            if not is_large(nodes, self.effort):
                return ask(nodes, node)
            answers = nodes.memos[number]
            if not answers:
                answers.update({-1: 0, **dict(count_in_large_tree(pattern, nodes, once))})
            return answers.get(node, 0)

        return count


def _count_steps(nodes: Nodes, steps: int) -> None:
    nodes.steps += steps
    if nodes.steps > MOST_STEPS:
        raise InputError(
            f"the pattern takes more than {MOST_STEPS:,} steps on a tree of {len(nodes):,} nodes",
            hint="use labels instead of __, and references such as =name or #1%x only where they are needed",
        )


def _any(parts: list[List]) -> List:
    def ways(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
        for part in parts:
            yield from part(nodes, node, bound)

    return ways


def _all(parts: list[List]) -> List:
    def ways(nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
        stack = [parts[0](nodes, node, bound)]
        while stack:
            way = next(stack[-1], None)
            if way is None:
                stack.pop()
            elif len(stack) == len(parts):
                yield way
            else:
                stack.append(parts[len(stack)](nodes, node, way))

    return ways
