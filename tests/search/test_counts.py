"""The index against the definitions: the same nodes, in as many ways, for random patterns over random trees."""

from __future__ import annotations

from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost.errors import InputError
from fencepost.search.build_columns import columns_of
from fencepost.search.counts import count
from fencepost.search.definitions import matches
from fencepost.search.grammar import parse_pattern
from fencepost.search.joins import CHAINS, NUMBERED, SIMPLE
from fencepost.search.matcher import counter
from fencepost.search.nodes import Nodes
from fencepost.search.syntax import NodePattern
from fencepost.trees.tree import Tree
from tests.search.random_patterns import DESCRIPTIONS, PATTERNS, TREES

MOST = 2_000  # ways that a test is willing to list


def listed(pattern: NodePattern, trees: list[Tree]) -> dict[int, int]:
    """The number of ways of each node that matches, by the definitions."""
    found: dict[int, int] = {}
    first = 0
    for tree in trees:
        nodes = Nodes.of(tree)
        for node in range(len(nodes)):
            if ways := sum(1 for _ in islice(matches(pattern, nodes, node, {}), MOST)):
                found[first + node] = ways
        first += len(nodes)
    return found


def counted(pattern: NodePattern, trees: list[Tree]) -> dict[int, int]:
    nodes, ways = count(pattern, columns_of(trees))
    return {int(node): min(int(number), MOST) for node, number in zip(nodes, ways, strict=True)}


def test_columns_know_every_relation_of_the_definitions() -> None:
    from fencepost.search import definitions

    assert set(SIMPLE) == set(definitions.SIMPLE)
    assert set(NUMBERED) == set(definitions.NUMBERED)
    assert set(CHAINS) == set(definitions.STEPS)


RELATIONS_BY_NAME = [
    *sorted(SIMPLE),
    *(f"{symbol[:-1]}{number}" for symbol in sorted(NUMBERED) for number in (1, 2, -1, -2)),
    *(f"{symbol}({chain})" for symbol in sorted(CHAINS) for chain in ("__", "NP", "!/^N/")),
]


@pytest.mark.parametrize("relation", RELATIONS_BY_NAME)
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(one=DESCRIPTIONS, other=DESCRIPTIONS, trees=st.lists(TREES, min_size=1, max_size=3))
def test_one_relation_over_random_trees(relation: str, one: str, other: str, trees: list[Tree]) -> None:
    for text in (f"{one} {relation} {other}", f"__ {relation} __"):
        pattern = parse_pattern(text)
        assert counted(pattern, trees) == listed(pattern, trees)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATTERNS, st.lists(TREES, min_size=1, max_size=3))
def test_random_patterns_over_random_trees(text: str, trees: list[Tree]) -> None:
    pattern = parse_pattern(text)
    assert counted(pattern, trees) == listed(pattern, trees)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATTERNS, TREES)
def test_counting_in_one_tree_agrees_too(text: str, tree: Tree) -> None:
    pattern, nodes = parse_pattern(text), Nodes.of(tree)
    ways = counter(pattern)
    found = {node: min(ways(nodes, node), MOST) for node in range(len(nodes)) if ways(nodes, node)}
    assert found == listed(pattern, [tree])
    once = counter(pattern, once=True)
    assert {node: once(nodes, node) for node in range(len(nodes)) if once(nodes, node)} == dict.fromkeys(found, 1)


def test_too_many_ways_are_an_error_and_not_a_wrong_number() -> None:
    tree = Tree.from_string("(S " + "(NN a)" * 60 + ")")
    with pytest.raises(InputError, match="more often than can be counted"):
        count(parse_pattern("S " + "<< __ " * 10), columns_of([tree]))
