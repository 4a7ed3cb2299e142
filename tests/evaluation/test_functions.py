from __future__ import annotations

import pytest

from fencepost.errors import MismatchError
from fencepost.evaluation.functions import FunctionBaseline, FunctionCounts, score_functions
from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree

GOLD = Tree.from_string("(TOP (S (NP-SBJ (NN a)) (VP (V b) (NP (N c)) (PP-LOC (P d) (NP (N e)))) (. .)))")


def counts_of(gold: str, predicted: str) -> tuple[int, int, int]:
    total = score_functions([Tree.from_string(gold)], [Tree.from_string(predicted)]).total()
    return total.matched, total.gold, total.predicted


def test_the_gold_tree_is_perfect() -> None:
    counts = score_functions([GOLD], [GOLD])
    assert counts.total().f1 == 100
    assert [(row.name, row.gold, row.f1) for row in counts.rows()] == [("LOC", 1, 100.0), ("SBJ", 1, 100.0)]


def test_only_constituents_that_are_in_both_trees_count() -> None:
    assert counts_of("(TOP (S (NP-SBJ (N a) (N b)) (VP (V c))))", "(TOP (S (NP-SBJ (N a)) (VP (N b) (V c))))") == (
        0,
        0,
        0,
    )
    assert counts_of("(TOP (S (NP-SBJ (N a)) (VP (V c))))", "(TOP (S (ADVP-SBJ (N a)) (VP (V c))))") == (0, 0, 0)


def test_a_wrong_function_is_an_error_of_both_sides() -> None:
    assert counts_of("(TOP (PP-LOC (P a) (N b)))", "(TOP (PP-TMP (P a) (N b)))") == (0, 1, 1)
    assert counts_of("(TOP (PP-LOC (P a) (N b)))", "(TOP (PP (P a) (N b)))") == (0, 1, 0)
    assert counts_of("(TOP (PP (P a) (N b)))", "(TOP (PP-TMP (P a) (N b)))") == (0, 0, 1)


def test_accuracy_counts_phrases_without_a_function_too() -> None:
    found = Tree.from_string("(TOP (S (NP-SBJ (NN a)) (VP (V b) (NP-TMP (N c)) (PP-LOC (P d) (NP (N e)))) (. .)))")
    counts = score_functions([GOLD], [found])
    assert (counts.right, counts.compared) == (5, 6)
    assert counts.to_json()["accuracy"] == counts.accuracy == pytest.approx(100 * 5 / 6)
    assert FunctionCounts().accuracy == 0


def test_a_function_that_the_gold_tree_leaves_open_does_not_count() -> None:
    assert counts_of("(TOP (PP-CLR? (P a) (N b)))", "(TOP (PP-CLR (P a) (N b)))") == (0, 0, 0)
    assert counts_of("(TOP (PP-CLR? (P a) (N b)))", "(TOP (PP-TMP (P a) (N b)))") == (0, 0, 1)
    assert counts_of("(TOP (SBAR-ADV-TMP? (P a) (N b)))", "(TOP (SBAR-TMP (P a) (N b)))") == (0, 0, 0)
    assert counts_of("(TOP (SBAR-ADV-TMP? (P a) (N b)))", "(TOP (SBAR-ADV (P a) (N b)))") == (1, 1, 1)
    assert counts_of("(TOP (SBAR-ADV-TMP? (P a) (N b)))", "(TOP (SBAR (P a) (N b)))") == (0, 1, 0)


def test_the_same_label_twice_over_the_same_words_is_compared_from_the_top() -> None:
    chain = "(TOP (S-{} (VP (S-{} (V a)))))"
    assert counts_of(chain.format("NOM", "ADV"), chain.format("NOM", "PRP")) == (1, 2, 2)


def test_trees_of_other_words_are_refused() -> None:
    with pytest.raises(MismatchError, match="sentence 1"):
        score_functions([GOLD], [Tree.from_string("(TOP (NP (N x)))")])


def test_the_baseline_knows_the_most_frequent_function_of_a_label_under_another() -> None:
    other = Tree.from_string("(TOP (S (NP-TMP (NN a)) (NP-SBJ (NN b)) (VP (V b) (PP-CLR? (P d)))))")
    baseline = FunctionBaseline([GOLD, other, GOLD])
    counts = FunctionCounts()
    found = baseline.functions(without_functions(other))
    assert [function for _, function in found] == [None, "SBJ", "SBJ", None, "LOC"]
    counts.add([], found)
    assert counts.total().predicted == 0
