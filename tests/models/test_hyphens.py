"""Hyphenated words made whole."""

from __future__ import annotations

import pytest
from hyphens import join_hyphens, joined_tag

from fencepost.trees.tree import Tree


def check(before: str, after: str) -> None:
    assert str(join_hyphens(Tree.from_string(before))) == after


def test_a_phrase_before_a_noun_becomes_a_bare_word() -> None:
    check(
        "(TOP (NP (DT a) (ADJP (RB well) (HYPH -) (VBN known)) (NN poet)))",
        "(TOP (NP (DT a) (JJ well-known) (NN poet)))",
    )


def test_a_predicate_keeps_its_phrase() -> None:
    check("(TOP (VP (VBZ is) (ADJP (RB well) (HYPH -) (VBN known))))", "(TOP (VP (VBZ is) (ADJP (JJ well-known))))")


def test_neighbours_in_a_longer_phrase_are_joined_in_place() -> None:
    check(
        "(TOP (NP (DT the) (NN follow) (HYPH -) (NN up) (PP (IN of) (NP (NN it)))))",
        "(TOP (NP (DT the) (NN follow-up) (PP (IN of) (NP (NN it)))))",
    )


def test_a_word_of_many_pieces_is_one() -> None:
    check(
        "(TOP (NP (ADJP (NN state) (HYPH -) (PP (IN of) (HYPH -) (NP (DT the) (HYPH -) (NN art)))) (NN work)))",
        "(TOP (NP (JJ state-of-the-art) (NN work)))",
    )


def test_pieces_that_cross_brackets_stay_apart() -> None:
    tree = "(TOP (NP (ADJP (NP (JJ New) (NNP York)) (HYPH -) (VBN based)) (NN firm)))"
    check(tree, tree)


def test_slashes_join_too() -> None:
    check("(TOP (NP (NNS savers) (SYM /) (NNS investors)))", "(TOP (NP (NNS savers/investors)))")


def test_a_range_of_numbers_is_a_number() -> None:
    check("(TOP (NP (NP (CD 3)) (PP (SYM -) (NP (CD 5)))))", "(TOP (NP (CD 3-5)))")


def test_a_dash_between_words_joins_nothing() -> None:
    tree = "(TOP (NP (NP (NN work)) (: -) (NP (NN life))))"
    check(tree, tree)


def test_a_symbol_beside_signs_joins_nothing() -> None:
    tree = "(TOP (NP (NN Pten) (SYM +) (HYPH /) (SYM +)))"
    check(tree, tree)


def test_a_hyphen_before_and_belongs_to_the_word_before_it() -> None:
    check(
        "(TOP (NP (ADJP (JJ pre) (HYPH -) (CC and) (JJ postnatal)) (NN care)))",
        "(TOP (NP (ADJP (JJ pre-) (CC and) (JJ postnatal)) (NN care)))",
    )


def test_black_and_white_is_one_word() -> None:
    check(
        "(TOP (NP (ADJP (JJ black) (HYPH -) (CC and) (HYPH -) (JJ white)) (NN film)))",
        "(TOP (NP (JJ black-and-white) (NN film)))",
    )


def test_a_prepositional_phrase_alone_stays_apart() -> None:
    tree = "(TOP (VP (VBN fused) (PP (IN in) (HYPH -) (NP (NN frame)))))"
    check(tree, tree)


@pytest.mark.parametrize(
    ("tags", "phrase", "before_noun", "expected"),
    [
        (["CD", "NN"], "NML", True, "JJ"),  # two-day trip
        (["JJ", "NN"], "NML", True, "JJ"),  # long-term plan
        (["NN", "NN"], "NML", True, "NN"),  # stock-index futures
        (["NN", "NN"], "ADJP", True, "JJ"),
        (["CD", "CD"], "QP", False, "CD"),  # twenty-six
        (["CC", "CC"], "CONJP", False, "CC"),  # and/or
        (["NNP", "NNP"], "NP", True, "NNP"),  # Hewlett-Packard
        (["NN", "CD"], "NP", False, "NN"),  # interleukin-3
        (["NN", "VBG"], "NP", False, "NN"),  # profit-taking
        (["VB", "RP"], "NP", False, "NN"),  # follow-up
        (["JJ", "NNS"], "NP", False, "NNS"),  # half-brothers
        (["RB", "VBN"], "VP", False, "VBN"),  # up-regulated
        (["NN", "RB"], "ADVP", False, "RB"),  # tissue-specifically
    ],
)
def test_joined_words_are_tagged_as_in_the_wsj(tags: list[str], phrase: str, before_noun: bool, expected: str) -> None:
    assert joined_tag(tags, phrase, before_noun) == expected
