"""The ways that are listed with their names, against the definitions; and how long the worst patterns take."""

from __future__ import annotations

import time
from itertools import islice

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fencepost import Pattern, Tree
from fencepost.errors import InputError
from fencepost.search.definitions import matches
from fencepost.search.grammar import parse_pattern
from fencepost.search.index import Index
from fencepost.search.listing import MOST_STEPS, Lister
from fencepost.search.nodes import Nodes
from fencepost.trees.tree import Leaf
from tests.search.random_patterns import DESCRIPTIONS, PATTERNS, RELATIONS, TREES

MOST = 500


def large_tree(words: int) -> Tree:
    """A tree whose left and right halves are alike, all the way down."""
    nodes: list[Tree | Leaf] = [Leaf("NN", "a") for _ in range(words)]
    while len(nodes) > 1:
        nodes = [Tree("NP", nodes[at : at + 2]) for at in range(0, len(nodes), 2)]
    return Tree("TOP", nodes)


NAMED = st.builds(
    "{}=a {} ({}=b {} ({} {} (__ {} =a)))".format,
    *(each for _ in range(2) for each in (DESCRIPTIONS.filter(lambda text: text[0] != "!"), RELATIONS)),
    DESCRIPTIONS,
    RELATIONS,
    RELATIONS,
)


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.one_of(PATTERNS, NAMED), TREES)
def test_the_same_ways_in_the_same_order_as_by_the_definitions(text: str, tree: Tree) -> None:
    pattern, nodes = parse_pattern(text), Nodes.of(tree)
    ways = Lister(pattern).ways
    for node in range(len(nodes)):
        expected = list(islice(matches(pattern, nodes, node, {}), MOST))
        assert list(islice(ways(nodes, node, {}), MOST)) == expected


@pytest.mark.parametrize(
    "text",
    [
        "__ << (__ << (__ << (__ << (__ << (__ << NOWHERE)))))",
        "__=a << (__=b << (__=c << (__=d << (__=e << (__ << NOWHERE)))))",
        "__ .. (__ ,, (__ .. (__ ,, (__ .. (__ ,, NOWHERE)))))",
        "__ !<< (__ $ (__ >> (__ << (__ : (__ : NOWHERE)))))",
        "__ <+(__) (__ >+(__) (__ <+(__) (__ .+(__) NOWHERE)))",
        "__ < (__ > (__ < (__ > (__ < (__ > (__ < (__ > (__ < (__ > (__ < NOWHERE))))))))))",
    ],
)
def test_nested_patterns_ask_for_each_node_only_once(text: str) -> None:
    tree = large_tree(300)
    began = time.process_time()
    Pattern(text).count(tree, once=True)
    Pattern(text).count(tree)
    list(islice(Pattern(text).search(tree), 100))
    assert time.process_time() - began < 10


def test_references_that_take_too_long_are_an_error() -> None:
    pattern = Pattern("__=a << (__ << (__ << (__ .. (__ .. (__ .. (__ == =a))))))")
    with pytest.raises(InputError, match=f"more than {MOST_STEPS:,} steps on a tree of 904 nodes") as error:
        list(pattern.search(large_tree(300)))
    assert error.value.hint is not None


def test_the_ways_of_a_node_are_not_all_in_memory_at_once() -> None:
    pattern = Pattern("TOP << __ << __ << __ << __ << __")
    tree = large_tree(300)
    assert pattern.count(tree) > 10**14
    assert len(list(islice(pattern.search(tree), 10))) == 10
    assert len(list(islice(Index.of([tree]).search(pattern), 10))) == 10
    assert Index.of([tree]).count(Pattern("TOP" + " << __" * 9), once=True) == 1


@pytest.mark.parametrize("text", ["NP=a << (NN=b , NN)", "NP <# (NP $+ NP) !> TOP", "__ << (__ << (__ << NN))"])
def test_large_trees_have_the_same_matches_as_small_ones(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tree, pattern = large_tree(120), Pattern(text)
    lists = [[(match.node, match.names) for match in pattern.search(tree, once=once)] for once in (False, True)]
    counts = [pattern.count(tree, once=once) for once in (False, True)]
    monkeypatch.setattr("fencepost.search.matcher._LARGE", 0)
    assert [[(match.node, match.names) for match in pattern.search(tree, once=once)] for once in (False, True)] == lists
    assert [pattern.count(tree, once=once) for once in (False, True)] == counts == list(map(len, lists))
