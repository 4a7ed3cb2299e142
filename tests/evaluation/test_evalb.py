"""Each rule by which two trees of one sentence are compared."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.evaluation.evalb import Bracket, Comparer, Comparison, Status, count_crossing, strip_functions
from fencepost.evaluation.params import ScoreParams, load_params
from fencepost.trees.tree import Leaf, Node, Tree

PLAIN = ScoreParams(deleted=frozenset({"TOP"}))


def compare(gold: str | None, predicted: str | None, params: str | ScoreParams = PLAIN) -> Comparison:
    trees = [None if text is None else Tree.from_string(text) for text in (gold, predicted)]
    return Comparer(load_params(params)).compare(*trees)


def totals(comparison: Comparison) -> tuple[int, int, int]:
    return comparison.matched.total(), comparison.gold.total(), comparison.predicted.total()


def test_a_bracket_matches_by_label_and_span() -> None:
    comparison = compare("(S (NP (D a) (N b)) (VP (V c)))", "(S (NP (D a)) (VP (N b) (V c)))")
    assert totals(comparison) == (1, 3, 3)


def test_brackets_match_as_multisets() -> None:
    assert totals(compare("(S (A (A (X x))) (Y y))", "(S (A (A (A (X x)))) (Y y))")) == (3, 3, 4)


def test_tags_are_no_brackets() -> None:
    assert totals(compare("(TOP (A a) (B b))", "(TOP (A a) (B b))")) == (0, 0, 0)


def test_a_deleted_tag_drops_its_word() -> None:
    comparison = compare("(S (NP (N a) (, ,)) (VP (V b)))", "(S (NP (N a)) (, ,) (VP (V b)))", "collins")
    assert totals(comparison) == (3, 3, 3)
    assert comparison.words == 2


def test_a_deleted_phrase_label_drops_only_its_bracket() -> None:
    assert totals(compare("(TOP (S (N a)))", "(S (N a))", "collins")) == (1, 1, 1)


def test_a_phrase_label_equal_to_a_deleted_one_is_deleted_but_a_tag_is_not() -> None:
    params = ScoreParams(deleted=frozenset({"PRT"}), equal_labels={"PRT": "ADVP|PRT", "ADVP": "ADVP|PRT"})
    comparison = compare("(S (ADVP (ADVP a)) (N b))", "(S (ADVP a) (N b))", params)
    assert (totals(comparison), comparison.words) == ((1, 1, 1), 2)


def test_a_deleted_phrase_label_is_deleted_with_its_function() -> None:
    assert totals(compare("(TOP-1 (S (N a)))", "(S (N a))", "collins")) == (1, 1, 1)


def test_a_phrase_without_words_left_is_gone() -> None:
    comparison = compare("(S (NP (NP (-NONE- *))) (VP (V b)))", "(S (VP (V b)))", "collins")
    assert totals(comparison) == (2, 2, 2)


def test_length_counts_punctuation_but_no_traces() -> None:
    assert compare("(S (-NONE- *) (V b) (. .))", "(S (V b) (. .))", "collins").length == 2


@pytest.mark.parametrize(
    ("label", "stripped"),
    [("NP-SBJ-1", "NP"), ("NP=2", "NP"), ("NP=2-SBJ", "NP"), ("-NONE-", "-NONE-"), ("-LRB-", "-LRB-"), ("S", "S")],
)
def test_function_tags_are_stripped(label: str, stripped: str) -> None:
    assert strip_functions(label) == stripped


def test_phrases_match_whatever_their_function() -> None:
    assert totals(compare("(S-1 (NP-SBJ (N a)) (V b))", "(S (NP=3 (N a)) (V b))")) == (2, 2, 2)


def test_tags_are_compared_with_their_function() -> None:
    assert compare("(S (N-X a) (V b))", "(S (N a) (V b))").correct_tags == 1


def test_equal_labels_match_on_phrases_and_tags() -> None:
    comparison = compare("(S (ADVP (PRT a)))", "(S (PRT (ADVP a)))", "collins")
    assert (totals(comparison), comparison.correct_tags) == ((2, 2, 2), 1)


def test_equal_words_match() -> None:
    params = ScoreParams(equal_words={"This": "w", "this": "w"})
    assert compare("(S (D This))", "(S (D this))", params).status is Status.VALID


def test_without_labels_only_spans_matter() -> None:
    assert totals(compare("(S (A (X x)) (Y y))", "(T (B (X x)) (Y y))", ScoreParams(labeled=False))) == (2, 2, 2)


def test_wrong_tags_lower_tag_accuracy_alone() -> None:
    comparison = compare("(S (N a) (V b))", "(S (N a) (N b))")
    assert (totals(comparison), comparison.words, comparison.correct_tags) == ((1, 1, 1), 2, 1)


def test_a_missing_parse_is_skipped_and_its_gold_brackets_are_known() -> None:
    comparison = compare("(S (N a) (V b))", None)
    assert (comparison.status, comparison.length, totals(comparison)) == (Status.SKIPPED, 2, (0, 1, 0))


def test_a_missing_gold_tree_is_an_error_unless_the_predicted_one_is_missing_too() -> None:
    assert compare(None, "(S (N a))").problem == "Length unmatch (0|1)"
    assert compare(None, None).status is Status.SKIPPED


def test_a_sentence_is_skipped_if_no_predicted_word_is_left() -> None:
    assert compare("(S (. .))", "(S (. .))", "collins").status is Status.SKIPPED
    assert compare("(S (N a))", "(S (, a))", "collins").status is Status.SKIPPED
    assert compare("(S (. .))", "(S (N .))", "collins").problem == "Length unmatch (0|1)"


def test_other_words_are_an_error_that_names_them() -> None:
    comparison = compare("(S (N a) (-LRB- -LRB-))", "(S (N a) (V b))")
    assert (comparison.status, comparison.problem) == (Status.ERROR, "Words unmatch (-LRB-|b)")
    assert not comparison.tags_disagree


def test_another_number_of_words_is_an_error_that_says_so() -> None:
    comparison = compare("(S (N a))", "(S (N a) (V b))")
    assert (comparison.status, comparison.problem) == (Status.ERROR, "Length unmatch (1|2)")


def test_a_mistagged_comma_is_an_error_that_tags_are_to_blame_for() -> None:
    comparison = compare("(S (N a) (, ,))", "(S (N a) (N ,))", "collins")
    assert (comparison.problem, comparison.tags_disagree) == ("Length unmatch (1|2)", True)


WITH_QUOTES = ScoreParams(
    deleted=frozenset({"``", "''", ",", "-NONE-"}),
    deleted_for_length=frozenset({"-NONE-"}),
    quotes=frozenset({"``", "''", "POS", "NN"}),
)


def test_a_mistagged_quote_is_put_back() -> None:
    comparison = compare("(S (NP (N a) ('' ')) (V b))", "(S (NP (N a) (POS ')) (V b))", WITH_QUOTES)
    assert (comparison.status, comparison.words, comparison.correct_tags) == (Status.VALID, 3, 2)
    assert totals(comparison) == (2, 2, 2)


def test_a_phrase_of_nothing_but_a_quote_comes_back_with_it() -> None:
    assert compare("(S (X ('' ')) (V b))", "(S (POS ') (V b))", WITH_QUOTES).gold[("X", 0, 1)] == 1


def test_quotes_that_both_sides_delete_stay_deleted() -> None:
    gold, predicted = "(S (`` ') (N a) ('' '))", "(S ('' ') (N a) (POS '))"
    assert compare(gold, predicted, WITH_QUOTES).words == 2


def test_quotes_are_put_back_beside_traces() -> None:
    gold, predicted = "(S (-NONE- *) (`` ') (N a))", "(S (NN ') (N a))"
    assert compare(gold, predicted, WITH_QUOTES).words == 2


def test_quotes_are_put_back_although_one_side_lacks_a_deleted_comma() -> None:
    assert compare("(S (`` ') (N a) (, ,))", "(S (POS ') (N a))", WITH_QUOTES).words == 2


def test_nothing_is_put_back_where_as_many_words_are_left_on_both_sides() -> None:
    gold, predicted = "(S (`` ') (N a) (POS '))", "(S (POS ') (N a) ('' '))"
    assert compare(gold, predicted, WITH_QUOTES).problem == "Words unmatch (a|')"


@pytest.mark.parametrize("word", ["'", '"', "/", "''", "cat"])
def test_only_what_can_be_a_quotation_mark_is_put_back(word: str) -> None:
    comparison = compare(f"(S (N a) ('' {word}))", f"(S (N a) (NN {word}))", WITH_QUOTES)
    assert (comparison.status is Status.VALID) == (word in ("'", '"', "/"))


@pytest.mark.parametrize("tags", [(",", "NN"), ("''", "JJ"), ("NN", ",")])
def test_a_word_is_not_put_back_unless_both_tags_are_those_of_quotes(tags: tuple[str, str]) -> None:
    gold, predicted = (f"(S (N a) ({tag} '))" for tag in tags)
    assert compare(gold, predicted, WITH_QUOTES).status is Status.ERROR


def test_nothing_is_put_back_where_the_words_left_agree() -> None:
    gold, predicted = "(S ('' ') (POS ') (N a))", "(S (POS ') ('' ') (N a))"
    assert compare(gold, predicted, WITH_QUOTES).words == 2


def test_a_predicted_bracket_that_overlaps_a_gold_one_crosses_it() -> None:
    gold, predicted = "(S (X (A a) (B b)) (C c))", "(S (A a) (X (B b) (C c)))"
    assert compare(gold, predicted).crossing == 1


def test_a_bracket_that_crosses_two_counts_once() -> None:
    gold = "(S (X (A a) (B b)) (X (C c) (D d)))"
    assert compare(gold, "(S (A a) (X (B b) (C c)) (D d))").crossing == 1


def test_nesting_is_not_crossing() -> None:
    assert compare("(S (X (A a) (B b)) (C c))", "(S (X (X (A a)) (X (B b))) (C c))").crossing == 0


@given(st.integers(1, 12), st.integers(0, 10**6), st.integers(0, 10**6))
def test_crossing_is_what_comparing_all_pairs_gives(words: int, one: int, other: int) -> None:
    gold, predicted = random_brackets(words, one), random_brackets(words, other)
    pairwise = sum(any(crosses(mine, theirs) for theirs in gold) for mine in predicted)
    assert count_crossing(gold, predicted, words) == pairwise


def crosses(one: Bracket, other: Bracket) -> bool:
    (_, a, b), (_, c, d) = one, other
    return a < c < b < d or c < a < d < b


def random_brackets(words: int, seed: int) -> list[Bracket]:
    """The brackets of a random tree, inner before outer; some spans twice, some splits without a bracket."""
    generator = random.Random(seed)

    def under(start: int, end: int) -> list[Bracket]:
        own = [("X", start, end)] * generator.choice((0, 1, 1, 2))
        if end - start < 2:
            return own
        middle = generator.randrange(start + 1, end)
        return under(start, middle) + under(middle, end) + own

    return under(0, words)


def test_a_tree_2000_deep_is_compared() -> None:
    tree: Node = Leaf("N", "a")
    for _ in range(2000):
        tree = Tree("X", [tree, Leaf("N", "a")])
    comparison = Comparer(PLAIN).compare(tree, tree)  # type: ignore[arg-type]
    assert totals(comparison) == (2000, 2000, 2000)


def test_a_sentence_of_5000_words_is_compared_with_its_mirror_image() -> None:
    leaves = [Leaf("N", str(number)) for number in range(5000)]
    right: Node = leaves[-1]
    left: Node = leaves[0]
    for number in range(1, 5000):
        right = Tree("X", [leaves[-1 - number], right])
        left = Tree("X", [left, leaves[number]])
    comparison = Comparer(PLAIN).compare(right, left)  # type: ignore[arg-type]
    assert (totals(comparison), comparison.crossing) == ((1, 4999, 4999), 4998)
