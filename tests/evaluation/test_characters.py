"""Brackets between the characters of a text."""

from __future__ import annotations

import pytest

from fencepost.errors import MismatchError
from fencepost.evaluation.characters import InText, score_in_text
from fencepost.evaluation.score import score
from fencepost.trees.tree import Tree
from tests.samples import TREES


def in_text(*trees: str) -> list[InText]:
    return [(tree, tree.words()) for tree in map(Tree.from_string, trees)]


def counts(gold: list[InText], predicted: list[InText]) -> tuple[int, int, int]:
    result = score_in_text(gold, predicted)
    return result.matched, result.gold, result.predicted


def test_a_text_against_itself_is_perfect_and_has_the_brackets_that_evalb_counts() -> None:
    sides: list[InText] = [(tree, tree.words()) for tree in TREES]
    expected = score(TREES, TREES).gold
    assert counts(sides, sides) == (expected, expected, expected)


def test_words_cut_differently_match_where_their_phrases_do() -> None:
    gold = in_text("(TOP (NP (DT a) (ADJP (RB well) (HYPH -) (VBN known)) (NN poet)))")
    predicted = in_text("(TOP (NP (DT a) (JJ well-known) (NN poet)))")
    assert counts(gold, predicted) == (1, 2, 1)


def test_sentences_cut_differently_match_where_their_phrases_do() -> None:
    gold = in_text("(TOP (S (NP (NN It)) (VP (VBZ is))))", "(TOP (NP (NN That)))")
    predicted = in_text("(TOP (S (NP (NN It)) (VP (VBZ is)) (NP (NN That))))")
    assert counts(gold, predicted) == (3, 4, 4)


def test_the_place_of_punctuation_makes_no_difference() -> None:
    gold = in_text("(TOP (S (NP (NNP U.S.)) (VP (VBZ is)) (. .)))")
    predicted = in_text("(TOP (S (NP (NNP U.S) (. .)) (VP (VBZ is) (. .))))")
    assert counts(gold, predicted) == (3, 3, 3)


def test_a_phrase_of_punctuation_is_left_out() -> None:
    assert counts(in_text("(TOP (NP (NN x)) (X (: --)))"), in_text("(TOP (NP (NN x)) (: --))")) == (1, 1, 1)


def test_labels_must_agree_but_for_those_that_count_as_equal() -> None:
    gold = in_text("(TOP (VP (VB go) (PRT (RP up))))")
    assert counts(gold, in_text("(TOP (VP (VB go) (ADVP (RP up))))")) == (2, 2, 2)
    assert counts(gold, in_text("(TOP (VP (VB go) (PP (RP up))))")) == (1, 2, 2)


def test_a_predicted_bracket_matches_once() -> None:
    assert counts(in_text("(TOP (NP (NN x)))"), in_text("(TOP (NP (NP (NN x))))")) == (1, 1, 2)


def test_words_are_measured_as_they_stand_in_the_text() -> None:
    gold: list[InText] = [(Tree.from_string("(TOP (NP (NN a_b)) (NP (NN c)))"), ["ab", "c"])]
    assert counts(gold, in_text("(TOP (NP (NN ab)) (NP (NN c)))")) == (2, 2, 2)


def test_blanks_inside_of_words_make_no_difference() -> None:
    gold: list[InText] = [(Tree.from_string("(TOP (NP (CD 10_000)) (NP (NN c)))"), ["10\u00a0000", "c"])]
    predicted = in_text("(TOP (NP (CD 10) (CD 000)) (NP (NN c)))")
    assert counts(gold, predicted) == (2, 2, 2)


@pytest.mark.parametrize("words", [["x"], ["x", "y", "z"]])
def test_a_tree_over_other_words_than_those_of_the_text_is_an_error(words: list[str]) -> None:
    sides = [(Tree.from_string("(TOP (NP (NN x) (NN y)))"), words)]
    with pytest.raises(MismatchError, match="for a tree of 2"):
        score_in_text(sides, sides)


def test_another_text_is_an_error() -> None:
    with pytest.raises(MismatchError, match="same text"):
        score_in_text(in_text("(TOP (NN x))"), in_text("(TOP (NN y))"))
