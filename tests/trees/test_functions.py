"""Labels such as NP-SBJ, split into a label and a function and put together again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.trees.functions import Mark, choose, split_functions, split_label, with_functions, without_functions
from fencepost.trees.normalize import Normalization, normalize
from fencepost.trees.tree import Leaf, Node, Tree
from tests.samples import TREES


@pytest.mark.parametrize(
    ("label", "name", "mark"),
    [
        ("NP", "NP", Mark()),
        ("NP-SBJ", "NP", Mark("SBJ")),
        ("NP-SBJ-1", "NP", Mark("SBJ")),
        ("NP-SBJ=2", "NP", Mark("SBJ")),
        ("NP=2", "NP", Mark()),
        ("PP-LOC-PRD", "PP", Mark("PRD")),
        ("PP-LOC-CLR", "PP", Mark("LOC")),
        ("S-NOM-SBJ", "S", Mark("SBJ")),
        ("PP-CLR?", "PP", Mark(None, ("CLR",))),
        ("SBAR-ADV-TMP?-PRP?", "SBAR", Mark("ADV", ("TMP", "PRP"))),
        ("-LRB-", "-LRB-", Mark()),
    ],
)
def test_a_label_is_split_into_its_name_and_one_function(label: str, name: str, mark: Mark) -> None:
    assert split_label(label) == (name, mark)


def test_an_unknown_function_is_chosen_before_one_that_says_little() -> None:
    assert choose(["CLR", "XYZ"]) == "XYZ"
    assert choose(["XYZ", "ABC"]) == "XYZ"
    assert choose(["XYZ", "SBJ"]) == "SBJ"


def test_functions_are_those_of_the_phrases_below_the_root() -> None:
    tree = Tree.from_string("(TOP (S (NP-SBJ (PRP It)) (VP (VBZ is) (PP-LOC-PRD (IN in) (NP (NN view))))))")
    plain, marks = split_functions(tree)
    assert str(plain) == "(TOP (S (NP (PRP It)) (VP (VBZ is) (PP (IN in) (NP (NN view))))))"
    assert marks == [Mark(), Mark("SBJ"), Mark(), Mark("PRD"), Mark()]


def test_a_root_that_is_a_phrase_has_a_function_too() -> None:
    assert split_functions(Tree.from_string("(NP-VOC (NN friend))")) == (
        Tree.from_string("(NP (NN friend))"),
        [Mark("VOC")],
    )


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("(TOP (NP-SBJ (NP (NN cat))))", "SBJ"),
        ("(TOP (NP (NP-SBJ (NN cat))))", "SBJ"),
        ("(TOP (NP-LOC (NP-SBJ (NP (NN cat)))))", "LOC"),
    ],
)
def test_phrases_that_differ_only_in_their_function_are_one(text: str, function: str) -> None:
    assert split_functions(Tree.from_string(text)) == (Tree.from_string("(TOP (NP (NN cat)))"), [Mark(function)])


def test_a_label_over_the_same_label_stays_where_both_are_written_alike() -> None:
    tree = Tree.from_string("(TOP (NP (NP (NN cat))))")
    assert without_functions(tree) == tree


@pytest.mark.parametrize("tree", TREES)
def test_a_tree_without_functions_stays_as_it_is(tree: Tree) -> None:
    plain, marks = split_functions(tree)
    assert plain == tree
    assert not any(marks)
    assert with_functions(tree, [None] * len(marks)) == tree


LABELS = st.sampled_from(["S", "NP", "NP-SBJ", "NP-SBJ-1", "PP-LOC", "PP-CLR?", "SBAR-ADV-TMP?", "TOP"])
NODES: st.SearchStrategy[Node] = st.recursive(
    st.builds(Leaf, st.sampled_from(["NN", "-NONE-"]), st.just("x")),
    lambda inner: st.builds(Tree, LABELS, st.lists(inner, min_size=1, max_size=3)),
    max_leaves=8,
)


@given(NODES)
def test_splitting_what_was_put_together_gives_the_same_parts(node: Node) -> None:
    plain, marks = split_functions(Tree("TOP", [node]))
    assert split_functions(with_functions(plain, marks)) == (plain, marks)


@given(NODES)
def test_normalizing_with_functions_loses_nothing_but_functions(node: Node) -> None:
    tree = Tree("TOP", [node])
    kept = normalize(tree, Normalization(keep_functions=True))
    assert (None if kept is None else without_functions(kept)) == normalize(tree)


def test_a_deep_tree_is_split() -> None:
    deep = Tree("NP-SBJ", [Leaf("NN", "x")])
    for _ in range(3000):
        deep = Tree("S", [Tree("VP-PRD", [deep])])
    assert len(split_functions(deep)[1]) == 6001
