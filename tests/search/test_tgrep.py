"""The guide for people who come from NLTK's tgrep: both programs find the same nodes for each row of its table."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from nltk.tgrep import tgrep_positions
from nltk.tree import ParentedTree

from fencepost import Pattern, Tree

pytestmark = pytest.mark.filterwarnings("ignore:.* deprecated:DeprecationWarning")  # NLTK's calls of pyparsing
GUIDE = Path(__file__).parents[2] / "docs" / "from-tregex.md"
TREES = [
    "(S (NP (NP (DT the) (NN cat)) (PP (IN on) (NP (DT the) (NN mat)))) (VP (VBD saw) (NP (DT a) (NN dog))) (. .))",
    "(S (NP (PRP she)) (VP (VBD slept) (SBAR (IN while) (S (NP (NN rain)) (VP (VBD fell))))))",
    "(S (NP (NNS cats) (CC and) (NNS dogs)) (VP (VP (VBP eat) (NP (NN fish))) (CC and) (VP (VBP drink) (NN milk))))",
    "(SINV (VP (VBD said)) (NP (NP (DT the) (JJ old) (NN man)) (, ,) (ADJP (JJ tired))))",
    "(S (DT this) (VP (VBZ is) (VP (VBN said) (VP (TO to) (VP (VB help))))))",
]
OPERATORS = [
    "<",
    ">",
    "<2",
    ">2",
    "<-2",
    ">-2",
    "<,",
    ">,",
    "<-",
    ">-",
    "<'",
    ">'",
    "<:",
    ">:",
    "<<",
    ">>",
    "<<,",
    ">>,",
    "<<'",
    ">>'",
    "<<:",
    ">>:",
    ".",
    ",",
    "..",
    ",,",
    "$",
    "$.",
    "$,",
    "$..",
    "$,,",
]


def rows() -> list[tuple[str, str]]:
    table = GUIDE.read_text("utf-8").partition("| tgrep | here |")[2].partition("\n\n")[0]
    found = re.findall(r"^\| `(.*?)` \| `(.*?)` \|", table, re.MULTILINE)
    return [(theirs.replace("\\|", "|"), ours.replace("\\|", "|")) for theirs, ours in found]


def by_tgrep(pattern: str, tree: Tree) -> list[tuple[str, int, int]]:
    """The label and the words of each node that tgrep finds."""
    parented = ParentedTree.convert(tree.to_nltk())
    leaves = parented.treepositions("leaves")
    found = []
    for place in next(iter(tgrep_positions(pattern, [parented]))):
        words = [number for number, leaf in enumerate(leaves) if leaf[: len(place)] == place]
        node = parented[place]
        found.append((node if isinstance(node, str) else node.label(), words[0], words[-1] + 1))
    return found


def by_us(pattern: str, tree: Tree) -> list[tuple[str, int, int]]:
    return [(match.label, match.start, match.end) for match in Pattern(pattern).search(tree, once=True)]


def test_the_guide_has_a_table() -> None:
    assert len(rows()) >= 23


@pytest.mark.parametrize(("theirs", "ours"), rows())
def test_every_row_of_the_guide(theirs: str, ours: str) -> None:
    trees = [Tree.from_string(text) for text in TREES]
    expected = [by_tgrep(theirs, tree) for tree in trees]
    assert any(expected)
    assert [by_us(ours, tree) for tree in trees] == expected


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("shape", ["/P$/ {} /^[NV]/", "NP|VP|S {} (NP|VP < NN|VBD)", "/P$/ !{} __"])
def test_every_relation_that_both_have(operator: str, shape: str) -> None:
    for text in TREES:
        tree = Tree.from_string(text)
        assert by_us(shape.format(operator), tree) == by_tgrep(shape.format(operator), tree)
