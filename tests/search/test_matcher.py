"""``Pattern`` on one tree against the definitions, and the labels without which a tree can't match."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings

from fencepost import Pattern, Tree
from fencepost.search.matcher import needed_labels
from tests.search.random_patterns import PATTERNS, TREES
from tests.search.test_counts import MOST, listed


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(PATTERNS, TREES)
def test_patterns_count_what_the_definitions_list(text: str, tree: Tree) -> None:
    pattern = Pattern(text)
    expected = listed(pattern.root, [tree])
    assert pattern.count(tree, once=True) == len(expected)
    if all(ways < MOST for ways in expected.values()):
        assert pattern.count(tree) == sum(expected.values())


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("S << (NP < NN) << (NP < DT)", 1),
        ("S << (NP < NN) << (NP < JJ)", 0),
        ("S << (NP < JJ) | << (NP < NN)", 1),
        ("S !<< (NP < JJ) << (NP < __)", 2),
        ("__ >> (S << (NP < NN)) $ (NP < DT)", 1),
    ],
)
def test_each_part_of_a_pattern_has_its_own_answers(text: str, ways: int) -> None:
    tree = Tree.from_string("(S (NP (NN a)) (NP (DT b)))")
    assert Pattern(text).count(tree) == ways
    assert Pattern(text).count(tree, once=True) == min(ways, 1)


@pytest.mark.parametrize(
    ("text", "needed"),
    [
        ("NP", [{"NP"}]),
        ("NP|VP < (PP < IN)", [{"NP", "VP"}, {"PP"}, {"IN"}]),
        ("NP !< NN ?< JJ", [{"NP"}]),
        ("NP < DT | < NN", [{"NP"}]),
        ("NP [< DT < NN]", [{"NP"}, {"DT"}, {"NN"}]),
        ("NP ![< DT < NN]", [{"NP"}]),
        ("!NP < @VP < /^N/ < __ < NN", [{"NN"}]),
        ("NP << (NP << NP)", [{"NP"}]),
    ],
)
def test_labels_that_a_match_needs(text: str, needed: list[set[str]]) -> None:
    assert sorted(map(sorted, needed_labels(Pattern(text).root))) == sorted(map(sorted, needed))
