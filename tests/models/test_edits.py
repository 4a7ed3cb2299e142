"""The same sentence written differently."""

from __future__ import annotations

from edits import (
    CURLY,
    STRAIGHT,
    as_headline,
    in_capitals,
    in_small_letters,
    with_quotes,
    with_small_start,
    without_final_stop,
)

from fencepost.trees.tree import Tree

TREE = Tree.from_string("(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NNP Ada)))) (. .)))")
QUOTED = Tree.from_string("(TOP (S (`` ``) (NP (DT The) (NNS cats) (POS ')) ('' '') (`` `) (NN x) ('' ')))")


def test_the_final_stop_goes() -> None:
    shorter = without_final_stop(TREE)
    assert str(shorter) == "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (NNP Ada))))))"


def test_a_phrase_that_held_the_stop_alone_goes_with_it() -> None:
    shorter = without_final_stop(Tree.from_string("(TOP (NP (NN x)) (X (. .)))"))
    assert str(shorter) == "(TOP (NP (NN x)))"


def test_a_phrase_that_held_one_of_its_own_kind_and_the_stop_is_merged_with_it() -> None:
    shorter = without_final_stop(Tree.from_string("(TOP (S (S (VP (VB Go))) (. .)))"))
    assert str(shorter) == "(TOP (S (VP (VB Go))))"


def test_a_sentence_without_a_stop_or_of_a_stop_has_no_shorter_form() -> None:
    assert without_final_stop(Tree.from_string("(TOP (NP (NN x)))")) is None
    assert without_final_stop(Tree.from_string("(TOP (. .))")) is None


def test_letters_change_and_tags_stay() -> None:
    assert in_capitals(TREE).words() == ["THE", "CAT", "SAT", "ON", "ADA", "."]
    assert in_small_letters(TREE).words() == ["the", "cat", "sat", "on", "ada", "."]
    assert in_capitals(TREE).tags() == TREE.tags()


def test_a_headline_has_capitals_but_for_short_words_in_between() -> None:
    assert as_headline(TREE).words() == ["The", "Cat", "Sat", "on", "Ada", "."]


def test_the_end_of_a_contraction_has_no_capital_in_a_headline() -> None:
    tree = Tree.from_string("(TOP (S (NP (PRP it)) (VP (VBZ does) (RB n't) (VP (VB rain)))))")
    assert as_headline(tree).words() == ["It", "Does", "n't", "Rain"]


def test_the_first_capital_is_lowered() -> None:
    small = with_small_start(TREE)
    assert small is not None
    assert small.words()[:2] == ["the", "cat"]


def test_names_and_abbreviations_keep_their_capital() -> None:
    assert with_small_start(Tree.from_string("(TOP (NNP Ada))")) is None
    assert with_small_start(Tree.from_string("(TOP (NN DNA))")) is None
    assert with_small_start(Tree.from_string("(TOP (PRP I))")) is None


def test_quotes_are_written_in_every_fashion_and_apostrophes_stay() -> None:
    assert with_quotes(QUOTED, STRAIGHT).words() == ['"', "The", "cats", "'", '"', "'", "x", "'"]
    assert with_quotes(QUOTED, CURLY).words() == ["“", "The", "cats", "'", "”", "‘", "x", "’"]
