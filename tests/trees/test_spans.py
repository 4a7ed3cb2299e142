from __future__ import annotations

import pytest
from hypothesis import given, settings

from fencepost.errors import TreeError
from fencepost.trees.spans import Span, nest, spans_below_root, spans_of
from fencepost.trees.tree import Leaf, Tree
from tests.samples import nested
from tests.trees.strategies import trees

WORKS = Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBZ works))))")
PAIR = [Leaf("PRP", "It"), Leaf("VBZ", "works")]


def test_a_unary_chain_is_one_span_with_all_its_labels() -> None:
    assert spans_of(WORKS) == [Span(0, 2, ("TOP", "S")), Span(0, 1, ("NP",)), Span(1, 2, ("VP",))]


def test_the_root_symbol_can_be_left_out() -> None:
    assert spans_below_root(WORKS) == [Span(0, 2, ("S",)), Span(0, 1, ("NP",)), Span(1, 2, ("VP",))]
    assert spans_below_root(Tree.from_string("(TOP (NP (PRP It)) (VP (VBZ works)))")) == [
        Span(0, 1, ("NP",)),
        Span(1, 2, ("VP",)),
    ]


@given(trees)
@settings(deadline=None, max_examples=60)
def test_spans_give_the_tree_back(tree: Tree) -> None:
    assert nested(tree.leaves(), spans_of(tree)) == tree


@given(trees)
@settings(deadline=None, max_examples=60)
def test_spans_below_the_root_give_the_tree_back_under_its_root(tree: Tree) -> None:
    tree = Tree("TOP", [tree])
    assert nested(tree.leaves(), spans_below_root(tree), root="TOP") == tree


def test_a_root_that_is_a_phrase_is_not_left_out() -> None:
    tree = Tree.from_string("(S (NP (PRP It)) (VP (VBZ works)))")
    assert spans_below_root(tree) == spans_of(tree)


def test_no_spans_at_all_hang_every_word_from_the_root() -> None:
    assert str(nested(PAIR, [], root="TOP")) == "(TOP (PRP It) (VBZ works))"


def test_without_a_root_some_span_must_cover_all_words() -> None:
    with pytest.raises(TreeError, match="no span covers all words"):
        nested(PAIR, [Span(0, 1, ("NP",))])


def test_spans_that_cross_are_refused() -> None:
    with pytest.raises(TreeError, match="spans cross"):
        nested([*PAIR, Leaf(".", ".")], [Span(0, 2, ("A",)), Span(1, 3, ("B",))], root="TOP")


@pytest.mark.parametrize(("start", "end"), [(0, 3), (1, 1), (2, 3), (2, 1)])
def test_what_is_no_span_of_the_words_is_refused(start: int, end: int) -> None:
    with pytest.raises(TreeError):
        nested(PAIR, [Span(start, end, ("A",))], root="TOP")


def test_columns_build_a_tree() -> None:
    assert nest(PAIR, [0, 0, 1], [2, 1, 2], [("S",), ("NP",), ("VP",)], "TOP") == WORKS


def test_a_tree_two_thousand_deep_is_one_span_and_back() -> None:
    chain = tuple(f"X{level}" for level in range(2000))
    tree = nested([Leaf("NN", "word")], [Span(0, 1, chain)])
    assert spans_of(tree) == [Span(0, 1, chain)]
