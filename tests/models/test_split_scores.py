"""Scores of sentence boundaries and tokens."""

from __future__ import annotations

from corpora import Item
from raw_text import text_of
from split_scores import at_blank_lines, found_splits, gold_splits, list_mistakes, scores

from fencepost.trees.tree import Tree


def item(tree: str) -> Item:
    return Item(Tree.from_string(tree), "a", "", True)


ITEMS = [
    item("(TOP (NP (NN Abstract)))"),
    item("(TOP (S (NP (PRP It)) (VP (VBZ is) (ADJP (RB well) (HYPH -) (VBN known))) (. .)))"),
    item("(TOP (S (NP (NNP nano)) (VP (VBD grew)) (. .)))"),
    item("(TOP (S (NP (PRP It)) (VP (VBD fell) (NP (CD 1\\/2))) (. .)))"),
]
TEXT = "Abstract\n\nIt is well-known. nano grew. It fell 1/2. "


def test_boundaries_at_blank_lines_are_given_away() -> None:
    assert text_of(ITEMS) == TEXT
    gold, found, given_away = gold_splits(ITEMS), found_splits(TEXT), at_blank_lines(TEXT)
    ends = scores(gold.boundaries - given_away, found.boundaries - given_away)
    assert (ends.matched, ends.gold, ends.predicted) == (1, 2, 1)  # "known. nano" is missed


def test_a_hyphenated_word_is_one_token_and_a_missed_boundary_costs_one() -> None:
    gold, found = gold_splits(ITEMS), found_splits(TEXT)
    tokens = scores(gold.tokens, found.tokens)
    assert (tokens.matched, tokens.gold, tokens.predicted) == (10, 12, 11)  # "known." should be two tokens


def test_mistakes_are_shown_in_their_text() -> None:
    lines = list_mistakes(TEXT, gold_splits(ITEMS), found_splits(TEXT), at_blank_lines(TEXT), 5)
    assert lines == [
        "- Abstract⏎⏎It is well-known.‖ nano grew. It fell 1/2. ",
        "token Abstract⏎⏎It is [well-known.] nano grew. It ",
    ]
