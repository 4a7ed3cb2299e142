"""What patterns mean, one tree at a time: each relation is a function from a node to the nodes it relates to, in order.

The functions follow Tregex's manual, and where it leaves a choice (the order of nodes, which repetitions count) they
follow the answers of its program. ``counts`` must agree with this module on every pattern and tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, TypeAlias

from fencepost.search.labels import LabelTest, group_text
from fencepost.search.nodes import Nodes
from fencepost.search.syntax import Any, Condition, Description, NodePattern, Related, Relation

Relative: TypeAlias = Callable[[Nodes, int], Sequence[int]]


# Up and down


def children(nodes: Nodes, node: int) -> Sequence[int]:
    """A < B: A immediately dominates B."""
    return nodes.children[node]


def parent(nodes: Nodes, node: int) -> Sequence[int]:
    """A > B: A is immediately dominated by B."""
    return [nodes.parents[node]] if node else []


def descendants(nodes: Nodes, node: int) -> Sequence[int]:
    """A << B: A dominates B."""
    return range(node + 1, nodes.ends[node])


def ancestors(nodes: Nodes, node: int) -> Sequence[int]:
    """A >> B: A is dominated by B. The nearest comes first."""
    found = []
    while node:
        node = nodes.parents[node]
        found.append(node)
    return found


def nth_child(nodes: Nodes, node: int, number: int) -> Sequence[int]:
    """A <i B: B is the ith child of A. A <-i B: B is the ith-to-last child of A."""
    return _nth(nodes.children[node], number)


def parent_of_nth(nodes: Nodes, node: int, number: int) -> Sequence[int]:
    """A >i B: A is the ith child of B. A >-i B: A is the ith-to-last child of B."""
    return [above for above in parent(nodes, node) if node in nth_child(nodes, above, number)]


def only_child(nodes: Nodes, node: int) -> Sequence[int]:
    """A <: B: B is the only child of A."""
    return nodes.children[node] if len(nodes.children[node]) == 1 else []


def parent_of_only(nodes: Nodes, node: int) -> Sequence[int]:
    """A >: B: A is the only child of B."""
    return [above for above in parent(nodes, node) if len(nodes.children[above]) == 1]


def unary_descendants(nodes: Nodes, node: int) -> Sequence[int]:
    """A <<: B: A dominates B via an unbroken chain of unary local trees."""
    found = []
    while len(nodes.children[node]) == 1:
        node = nodes.children[node][0]
        found.append(node)
    return found


def unary_ancestors(nodes: Nodes, node: int) -> Sequence[int]:
    """A >>: B: A is dominated by B via an unbroken chain of unary local trees."""
    found = []
    while above := parent_of_only(nodes, node):
        node = above[0]
        found.append(node)
    return found


def leftmost_descendants(nodes: Nodes, node: int) -> Sequence[int]:
    """A <<, B: B is a leftmost descendant of A."""
    found = []
    while nodes.children[node]:
        node = nodes.children[node][0]
        found.append(node)
    return found


def rightmost_descendants(nodes: Nodes, node: int) -> Sequence[int]:
    """A <<- B: B is a rightmost descendant of A."""
    found = []
    while nodes.children[node]:
        node = nodes.children[node][-1]
        found.append(node)
    return found


def ancestors_of_leftmost(nodes: Nodes, node: int) -> Sequence[int]:
    """A >>, B: A is a leftmost descendant of B."""
    found = []
    while node and nodes.children[nodes.parents[node]][0] == node:
        node = nodes.parents[node]
        found.append(node)
    return found


def ancestors_of_rightmost(nodes: Nodes, node: int) -> Sequence[int]:
    """A >>- B: A is a rightmost descendant of B."""
    found = []
    while node and nodes.children[nodes.parents[node]][-1] == node:
        node = nodes.parents[node]
        found.append(node)
    return found


def words(nodes: Nodes, node: int) -> Sequence[int]:
    """A <<< B: A dominates B and B is a leaf."""
    return [below for below in descendants(nodes, node) if not nodes.children[below]]


def nth_word(nodes: Nodes, node: int, number: int) -> Sequence[int]:
    """A <<<i B: B is the ith leaf of A. A <<<-i B: B is the ith-to-last leaf of A."""
    return _nth(words(nodes, node), number)


def _nth(several: Sequence[int], number: int) -> Sequence[int]:
    """The ith of several nodes, counted from 1, or from -1 backwards."""
    index = number - 1 if number > 0 else len(several) + number
    return several[index : index + 1] if index >= 0 else []


# Sisters


def sisters(nodes: Nodes, node: int) -> Sequence[int]:
    """A $ B: A is a sister of B (and not equal to B)."""
    return [other for above in parent(nodes, node) for other in nodes.children[above] if other != node]


def right_sisters(nodes: Nodes, node: int) -> Sequence[int]:
    """A $++ B: A is a left sister of B. The last comes first."""
    return [other for other in sisters(nodes, node) if other > node][::-1]


def left_sisters(nodes: Nodes, node: int) -> Sequence[int]:
    """A $-- B: A is a right sister of B."""
    return [other for other in sisters(nodes, node) if other < node]


def next_sister(nodes: Nodes, node: int) -> Sequence[int]:
    """A $+ B: A is the immediate left sister of B."""
    return right_sisters(nodes, node)[-1:]


def previous_sister(nodes: Nodes, node: int) -> Sequence[int]:
    """A $- B: A is the immediate right sister of B."""
    return left_sisters(nodes, node)[-1:]


# Before and after


def following(nodes: Nodes, node: int) -> Sequence[int]:
    """A .. B: A precedes B: all of A's words come before all of B's. Those nearest to the root come first."""
    found: list[int] = []
    for above in reversed(ancestors(nodes, node)):
        for sister in nodes.children[above]:
            if sister >= nodes.ends[node]:
                found.extend(range(sister, nodes.ends[sister]))
    return found


def preceding(nodes: Nodes, node: int) -> Sequence[int]:
    """A ,, B: A follows B. Those nearest to the root come first, and of those the nearest sister."""
    found: list[int] = []
    for above in reversed(ancestors(nodes, node)):
        for sister in reversed(nodes.children[above]):
            if nodes.ends[sister] <= node:
                found.extend(range(sister, nodes.ends[sister]))
    return found


def next_nodes(nodes: Nodes, node: int) -> Sequence[int]:
    """A . B: A immediately precedes B: no word is between them."""
    after = nodes.ends[node]
    return [after, *leftmost_descendants(nodes, after)] if after < len(nodes) else []


def previous_nodes(nodes: Nodes, node: int) -> Sequence[int]:
    """A , B: A immediately follows B."""
    return [
        other for before in _phrase_before(nodes, node) for other in [before, *rightmost_descendants(nodes, before)]
    ]


def previous_starts(nodes: Nodes, node: int) -> Sequence[int]:
    """One step of A ,+(C) B. Unlike ``,`` it goes to the leftmost nodes of the phrase before A, as Tregex does."""
    return [other for before in _phrase_before(nodes, node) for other in [before, *leftmost_descendants(nodes, before)]]


def _phrase_before(nodes: Nodes, node: int) -> Sequence[int]:
    """The largest phrase that ends right before a node."""
    return [before for above in [node, *ancestors_of_leftmost(nodes, node)] for before in previous_sister(nodes, above)]


# Heads


def head(nodes: Nodes, node: int) -> Sequence[int]:
    """A <# B: B is the immediate head of phrase A."""
    return [nodes.heads[node]] if nodes.children[node] else []


def phrase_of_head(nodes: Nodes, node: int) -> Sequence[int]:
    """A ># B: A is the immediate head of phrase B."""
    return [above for above in parent(nodes, node) if nodes.heads[above] == node]


def heads(nodes: Nodes, node: int) -> Sequence[int]:
    """A <<# B: B is a head of phrase A."""
    found = []
    while nodes.children[node]:
        node = nodes.heads[node]
        found.append(node)
    return found


def phrases_of_head(nodes: Nodes, node: int) -> Sequence[int]:
    """A >># B: A is a head of phrase B."""
    found = []
    while above := phrase_of_head(nodes, node):
        node = above[0]
        found.append(node)
    return found


# Others


def itself(nodes: Nodes, node: int) -> Sequence[int]:
    """A == B: A and B are the same node."""
    return [node]


def itself_or_children(nodes: Nodes, node: int) -> Sequence[int]:
    """A <= B: A and B are the same node or A is the parent of B."""
    return [node, *nodes.children[node]]


def anywhere(nodes: Nodes, node: int) -> Sequence[int]:
    """A : B: B is anywhere in the tree."""
    return range(len(nodes))


SIMPLE: Final[dict[str, Relative]] = {
    "<": children,
    ">": parent,
    "<<": descendants,
    ">>": ancestors,
    "<:": only_child,
    ">:": parent_of_only,
    "<<:": unary_descendants,
    ">>:": unary_ancestors,
    "<<,": leftmost_descendants,
    "<<-": rightmost_descendants,
    ">>,": ancestors_of_leftmost,
    ">>-": ancestors_of_rightmost,
    "<<<": words,
    "$": sisters,
    "$++": right_sisters,
    "$--": left_sisters,
    "$+": next_sister,
    "$-": previous_sister,
    "..": following,
    ",,": preceding,
    ".": next_nodes,
    ",": previous_nodes,
    "<#": head,
    ">#": phrase_of_head,
    "<<#": heads,
    ">>#": phrases_of_head,
    "==": itself,
    "<=": itself_or_children,
    ":": anywhere,
}
NUMBERED: Final[dict[str, Callable[[Nodes, int, int], Sequence[int]]]] = {
    "<i": nth_child,
    ">i": parent_of_nth,
    "<<<i": nth_word,
}
STEPS: Final[dict[str, Relative]] = {"<+": children, ">+": parent, ".+": next_nodes, ",+": previous_starts}


def relative(relation: Relation) -> Relative:
    """The function that gives the nodes B to which a node A has a relation."""
    if relation.symbol in SIMPLE:
        return SIMPLE[relation.symbol]
    if relation.symbol in NUMBERED:
        numbered = NUMBERED[relation.symbol]
        return lambda nodes, node: numbered(nodes, node, relation.number)
    assert relation.chain is not None
    step, links = STEPS[relation.symbol], relation.chain.fits
    if relation.symbol in ("<+", ">+"):
        return lambda nodes, node: chained(nodes, node, step, links)
    return lambda nodes, node: chained(nodes, node, step, links)[::-1]


def chained(nodes: Nodes, node: int, step: Relative, links: LabelTest) -> Sequence[int]:
    """A <+(C) B and its like: the nodes that are reached from A by steps over zero or more nodes C, each once."""
    reached: dict[int, None] = {}
    stack = [iter(step(nodes, node))]
    while stack:
        other = next(stack[-1], None)
        if other is None:
            stack.pop()
        elif other not in reached:
            reached[other] = None
            if links[nodes.labels[other]]:
                stack.append(iter(step(nodes, other)))
    return list(reached)


# Matching

Bound: TypeAlias = dict[str, int | str]  # nodes by name, and texts by variable: "%x" for the variable x


def matches(pattern: NodePattern, nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
    """The ways in which a node matches a pattern: the names and variables of each."""
    here = describe(pattern.description, nodes, node, bound)
    if here is None:
        return
    if pattern.condition is None:
        yield here
    else:
        yield from satisfy(pattern.condition, nodes, node, here)


def describe(description: Description, nodes: Nodes, node: int, bound: Bound) -> Bound | None:
    """What is bound once a node fits a description, or None if it doesn't."""
    label = nodes.labels[node]
    if description.kind == "same node":
        found = bound.get(description.reference) == node
    elif description.kind == "same label":
        other = bound.get(description.reference)
        found = isinstance(other, int) and nodes.labels[other] == label
    else:
        found = description.fits[label]
    if not found:
        return None
    if not (description.name or description.groups):
        return bound
    bound = dict(bound)
    if description.name:
        bound[description.name] = node
    for number, variable in description.groups:
        text = group_text(description, label, number)
        if text is None or bound.setdefault(f"%{variable}", text) != text:
            return None
    return bound


def satisfy(condition: Condition, nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
    """The ways in which a node satisfies a condition."""
    found = _satisfy(condition, nodes, node, bound)
    if condition.negated:
        if next(found, None) is None:
            yield bound
    elif condition.optional:
        yield next(found, bound)
    else:
        yield from found


def _satisfy(condition: Condition, nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
    if isinstance(condition, Related):
        for other in relative(condition.relation)(nodes, node):
            yield from matches(condition.node, nodes, other, bound)
    elif isinstance(condition, Any):
        for part in condition.parts:
            yield from satisfy(part, nodes, node, bound)
    else:
        yield from _satisfy_all(condition.parts, nodes, node, bound)


def _satisfy_all(parts: tuple[Condition, ...], nodes: Nodes, node: int, bound: Bound) -> Iterator[Bound]:
    if not parts:
        yield bound
        return
    for way in satisfy(parts[0], nodes, node, bound):
        yield from _satisfy_all(parts[1:], nodes, node, way)
