"""What each relation means, on a tree small enough to check by eye."""

from __future__ import annotations

import pytest

from fencepost.search.definitions import NUMBERED, SIMPLE, STEPS, matches
from fencepost.search.grammar import parse_pattern
from fencepost.search.nodes import Nodes
from fencepost.trees.tree import Tree

TREE = Tree.from_string("(S (A a) (X (C c) (Y (E e) (F f) (G g)) (U (V v)) (K k)) (L l))")

# From the node with the first label, the labels of the nodes that the relation leads to, in order.
RELATED = [
    ("X", "<", "C Y U K"),
    ("F", ">", "Y"),
    ("S", ">", ""),
    ("X", "<<", "C c Y E e F f G g U V v K k"),
    ("f", ">>", "F Y X S"),
    ("X", "<1", "C"),
    ("X", "<2", "Y"),
    ("X", "<5", ""),
    ("X", "<-1", "K"),
    ("X", "<-4", "C"),
    ("X", "<-5", ""),
    ("Y", ">2", "X"),
    ("Y", ">-3", "X"),
    ("Y", ">1", ""),
    ("X", "<,", "C"),
    ("X", "<-", "K"),
    ("C", ">,", "X"),
    ("K", ">-", "X"),
    ("U", "<:", "V"),
    ("X", "<:", ""),
    ("V", ">:", "U"),
    ("C", ">:", ""),
    ("U", "<<:", "V v"),
    ("v", ">>:", "V U"),
    ("X", "<<,", "C c"),
    ("X", "<<-", "K k"),
    ("S", "<<-", "L l"),
    ("c", ">>,", "C X"),
    ("k", ">>-", "K X"),
    ("a", ">>,", "A S"),
    ("X", "<<<", "c e f g v k"),
    ("X", "<<<2", "e"),
    ("X", "<<<-1", "k"),
    ("X", "<<<9", ""),
    ("F", "$", "E G"),
    ("C", "$++", "K U Y"),
    ("K", "$--", "C Y U"),
    ("C", "$+", "Y"),
    ("K", "$+", ""),
    ("K", "$-", "U"),
    ("F", "..", "L l U V v K k G g"),
    ("F", ",,", "A a C c E e"),
    ("C", ".", "Y E e"),
    ("g", ".", "U V v"),
    ("l", ".", ""),
    ("U", ",", "Y G g"),
    ("e", ",", "C c"),
    ("a", ",", ""),
    ("U", "==", "U"),
    ("U", "<=", "U V"),
    ("X", "<+(Y)", "C Y E F G U K"),
    ("f", ">+(F|Y)", "F Y X"),
    ("C", ".+(Y|E|F)", "e f g G F E v V U Y"),
    ("K", ",+(U)", "v V e E Y U"),
    ("K", ",+(Z)", "v V U"),
]


@pytest.mark.parametrize(("label", "relation", "expected"), RELATED)
def test_relation(label: str, relation: str, expected: str) -> None:
    nodes = Nodes.of(TREE)
    pattern = parse_pattern(f"{label} {relation} __=b")
    found = [way["b"] for way in matches(pattern, nodes, nodes.labels.index(label), {})]
    assert [nodes.labels[int(node)] for node in found] == expected.split()


def test_every_relation_is_tried_here_or_has_heads() -> None:
    tried = {parse_pattern(f"X {relation} __").condition.relation.symbol for _, relation, _ in RELATED}  # type: ignore[union-attr]
    assert tried | {"<#", ">#", "<<#", ">>#", ":"} == {*SIMPLE, *NUMBERED, *STEPS}


HEADED = Nodes.of(Tree.from_string("(S (NP (DT the) (NN cat)) (VP (VBD sat) (ADVP (RB there))))"))


@pytest.mark.parametrize(
    ("label", "relation", "expected"),
    [
        ("S", "<#", "VP"),
        ("VP", "<#", "VBD"),
        ("VBD", "<#", "sat"),
        ("sat", "<#", ""),
        ("S", "<<#", "VP VBD sat"),
        ("sat", ">>#", "VBD VP S"),
        ("VP", ">#", "S"),
        ("NP", ">#", ""),
        ("NN", ":", "S NP DT the NN cat VP VBD sat ADVP RB there"),
    ],
)
def test_heads_and_segments(label: str, relation: str, expected: str) -> None:
    pattern = parse_pattern(f"{label} {relation} __=b")
    found = [way["b"] for way in matches(pattern, HEADED, HEADED.labels.index(label), {})]
    assert [HEADED.labels[int(node)] for node in found] == expected.split()


def ways(pattern: str, nodes: Nodes) -> int:
    return sum(1 for node in range(len(nodes)) for _ in matches(parse_pattern(pattern), nodes, node, {}))


@pytest.mark.parametrize(
    ("pattern", "count"),
    [
        ("Y < __", 3),
        ("Y < __ < __", 9),
        ("Y [< E | < F | < Z]", 2),
        ("Y !< E", 0),
        ("Y !< Z", 1),
        ("Y ![< E < Z]", 1),
        ("Y ![< E | < Z]", 0),
        ("Y ?< __", 1),
        ("Y ?< Z", 1),
        ("Y ?[< E | < F]", 1),
        ("Y < __=a < (__=b !== =a)", 6),
        ("Y < E=x < =x", 1),
        ("Y < E=x < (F $ =x)", 1),
        ("/^(.)$/#1%v < /(.)/#1%v", 0),
        ("/[A-Z]/#0%v << /[A-Z]/#0%v", 0),
        ("S=x << ~x", 0),
    ],
)
def test_conditions_multiply_and_alternatives_add(pattern: str, count: int) -> None:
    assert ways(pattern, Nodes.of(TREE)) == count
