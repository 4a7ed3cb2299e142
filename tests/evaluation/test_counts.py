"""Scores: percentages from counts, sums of counts, and what ``score`` takes."""

from __future__ import annotations

import gzip
import json
import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import fencepost
from fencepost.errors import InputError, MismatchError, UnbalancedError, UsageError
from fencepost.evaluation.params import ScoreParams
from fencepost.evaluation.score import Score, score
from fencepost.trees.tree import Leaf, Node, Tree

GOLD = "(S (NP (D the) (N cat)) (VP (V sat)))"
PREDICTED = "(S (NP (D the)) (VP (N cat) (V sat)))"
SHORT = ScoreParams(cutoff=2)

leaves = st.builds(Leaf, st.sampled_from(["N", "V", ","]), st.sampled_from(["a", "b"]))
nodes = st.recursive(
    leaves, lambda below: st.builds(Tree, st.sampled_from(["NP", "VP", "TOP"]), st.lists(below, min_size=1, max_size=4))
)
trees = nodes.map(lambda node: node if isinstance(node, Tree) else Tree("S", [node]))


def another_tree(tree: Tree, seed: int) -> Tree:
    """A random tree over the same words."""
    generator = random.Random(seed)

    def under(leaves: list[Leaf]) -> Node:
        if len(leaves) == 1:
            return leaves[0]
        middle = generator.randrange(1, len(leaves))
        return Tree(generator.choice(("NP", "VP")), [under(leaves[:middle]), under(leaves[middle:])])

    return Tree("S", [under(tree.leaves())])


rivals = st.builds(lambda tree, seed: (tree, another_tree(tree, seed)), trees, st.integers(0, 1000))
pairs = rivals | st.tuples(trees, st.none() | trees)


def score_pairs(some: list[tuple[Tree, Tree | None]]) -> Score:
    return score([gold for gold, _ in some], [predicted for _, predicted in some], SHORT)


@given(st.lists(pairs, max_size=4), st.lists(pairs, max_size=4))
def test_the_score_of_a_concatenation_is_the_sum_of_the_scores(
    some: list[tuple[Tree, Tree | None]], others: list[tuple[Tree, Tree | None]]
) -> None:
    assert score_pairs(some + others) == score_pairs(some) + score_pairs(others)


@given(trees)
def test_a_tree_against_itself_has_nothing_wrong(tree: Tree) -> None:
    result = score([Tree("S", [tree, Leaf("N", "c")])] * 2, [Tree("S", [tree, Leaf("N", "c")])] * 2)
    assert (result.f1, result.complete_match, result.tag_accuracy, result.no_crossing) == (100, 100, 100, 100)


@given(rivals)
def test_precision_is_recall_with_the_sides_exchanged(two: tuple[Tree, Tree]) -> None:
    one, other = two
    assert score([one], [other]).precision == score([other], [one]).recall


def test_percentages_follow_from_counts() -> None:
    result = score([GOLD, GOLD], [PREDICTED, GOLD])
    assert (result.matched, result.gold, result.predicted, result.crossing) == (4, 6, 6, 1)
    assert result.f1 == pytest.approx(100 * 4 / 6)
    assert (result.complete_match, result.no_crossing, result.two_or_less_crossing) == (50, 50, 100)
    assert result.average_crossing == 0.5


def test_a_bracket_too_many_is_no_complete_match() -> None:
    assert score(["(S (N a))"], ["(S (X (N a)))"]).complete_match == 0


def test_sentences_with_two_crossing_brackets_are_told_from_those_with_three() -> None:
    gold = "(S (X (N a) (X (N b) (X (N c) (X (N d) (N e))))))"
    two = "(S (X (X (N a) (N b)) (N c)) (N d) (N e))"
    three = "(S (X (X (X (N a) (N b)) (N c)) (N d)) (N e))"
    result = score([gold, gold], [two, three])
    assert (result.crossing, result.two_or_less_crossing, result.no_crossing) == (5, 50, 0)


def test_an_error_is_left_out_of_f1_but_not_of_f1_with_errors() -> None:
    result = score([GOLD, GOLD], [GOLD, "(S (N other))"])
    assert (result.f1, result.errors, result.valid) == (100, 1, 1)
    assert result.f1_with_errors == pytest.approx(100 * 2 * 3 / (3 + 3 + 3))


def test_a_missing_parse_is_left_out_of_f1_but_not_of_f1_with_errors() -> None:
    result = score([GOLD, GOLD], [GOLD, None])
    assert (result.f1, result.skipped) == (100, 1)
    assert result.f1_with_errors == pytest.approx(100 * 2 * 3 / (3 + 3 + 3))


def test_errors_that_tags_are_to_blame_for_are_counted() -> None:
    result = score(["(S (N a) (, ,))", "(S (N a))"], ["(S (N a) (N ,))", "(S (N b))"])
    assert (result.errors, result.tag_errors) == (2, 1)


def test_short_sentences_are_summed_up_on_their_own() -> None:
    result = score([GOLD, "(S (N a) (V b))"], [PREDICTED, "(S (N a) (V b))"], SHORT)
    assert (result.sentences, result.short.sentences, result.short.f1, result.cutoff) == (2, 1, 100, 2)


def test_scores_with_different_cutoffs_do_not_add() -> None:
    with pytest.raises(UsageError, match="40 and 70"):
        score([GOLD], [GOLD]) + score([GOLD], [GOLD], "spmrl")


def test_json_has_the_promised_figures_and_no_nan() -> None:
    figures = json.loads(json.dumps(score([GOLD], ["(S (N other))"]).to_json(), allow_nan=False))
    assert {"sentences", "precision", "recall", "f1", "complete_match", "tag_accuracy", "errors"} <= figures.keys()
    assert (figures["f1"], figures["errors"], figures["f1_with_errors"]) == (0, 1, 0)


def test_a_span_of_more_than_200_words_counts() -> None:
    long = "(S " + "(N a) " * 300 + "(NP " + "(N b) " * 250 + "))"
    assert (score([long], [long]).gold, score([long], [long]).words) == (2, 550)


@pytest.mark.extras
def test_trees_nltk_trees_and_strings_score_alike() -> None:
    import nltk

    expected = score([GOLD], [PREDICTED])
    assert score([Tree.from_string(GOLD)], [nltk.Tree.fromstring(PREDICTED)]) == expected
    assert score([GOLD], [nltk.ParentedTree.fromstring(PREDICTED)]) == expected


def test_a_blank_string_is_a_missing_parse() -> None:
    assert score([GOLD], [" "]).skipped == 1


def test_several_trees_on_a_line_are_one_sentence() -> None:
    result = score(["(S (A a) (B b))"], ["(A a) (B b)"])
    assert (result.matched, result.gold, result.predicted, result.words) == (0, 1, 0, 2)


def test_files_are_read_line_by_line_with_blank_lines_as_missing_parses(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold", tmp_path / "predicted.gz"
    gold.write_text(f"{GOLD}\n{GOLD}\n{GOLD}\n")
    predicted.write_bytes(gzip.compress(f"{GOLD}\n\n{PREDICTED}\n".encode()))
    assert score(gold, predicted) == score([GOLD] * 3, [GOLD, None, PREDICTED])


def test_a_file_may_lack_every_parse(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text(f"{GOLD}\n{GOLD}\n")
    predicted.write_text("\n\n")
    assert score(gold, predicted) == score([GOLD, GOLD], [None, None])


def test_blank_lines_at_the_end_of_a_file_are_no_sentences(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text(f"{GOLD}\n{GOLD}\n\n\n")
    predicted.write_text(f"{GOLD}\n{PREDICTED}\n\n\n\n")
    assert score(gold, predicted) == score([GOLD, GOLD], [GOLD, PREDICTED])
    predicted.write_text(f"{GOLD}\n\n\n")
    assert score(gold, predicted) == score([GOLD, GOLD], [GOLD, None])


def test_blank_lines_between_gold_trees_are_no_sentences(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text(f"{GOLD}\n\n{GOLD}\n")
    for lines in (f"{GOLD}\n{PREDICTED}\n", f"{GOLD}\n{PREDICTED}\n\n"):
        predicted.write_text(lines)
        assert score(gold, predicted) == score([GOLD, GOLD], [GOLD, PREDICTED])


def test_a_sentence_without_a_gold_tree_is_an_error_as_before(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text(f"{GOLD}\n\n{GOLD}\n")
    predicted.write_text(f"{GOLD}\n{GOLD}\n{GOLD}\n")
    assert score(gold, predicted) == score([GOLD, None, GOLD], [GOLD] * 3)


def test_trees_over_several_lines_are_read_as_a_stream(tmp_path: Path) -> None:
    gold, predicted = tmp_path / "gold", tmp_path / "predicted"
    gold.write_text("\n( (S\n   (N a)))\n\n( (S\n   (N b)))\n")
    predicted.write_text("(S (N a))\n(S (N b))\n")
    result = score(str(gold), str(predicted))
    assert (result.sentences, result.f1) == (2, 100)


def test_a_line_inside_a_tree_is_never_a_comment(tmp_path: Path) -> None:
    path = tmp_path / "gold"
    path.write_text("# a comment\n(NP\n (SYM\n#)\n (SYM\n*))\n")
    assert score(path, ["(NP (SYM #) (SYM *))"]).f1 == 100


def test_different_numbers_of_sentences_are_an_error_that_names_both() -> None:
    with pytest.raises(MismatchError, match="gold has 2 sentences but predicted has 1"):
        score([GOLD, GOLD], [GOLD])


def test_a_broken_string_is_named_by_side_and_number() -> None:
    with pytest.raises(UnbalancedError, match="predicted sentence 2: a bracket is never closed"):
        score([GOLD, GOLD], [GOLD, "(S (N a)"])


def test_a_broken_line_is_named_by_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "broken"
    path.write_text(f"{GOLD}\n)S (N a)(\n")
    with pytest.raises(InputError, match="broken:2: "):
        score(path, path)


def test_what_is_no_tree_is_refused() -> None:
    with pytest.raises(UsageError, match="gold sentence 1: expected a tree"):
        score([3], [GOLD])


def test_a_file_without_trees_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_text("\n\n")
    with pytest.raises(InputError, match="there are no trees"):
        score(path, path)


def test_score_is_a_public_name() -> None:
    assert fencepost.score is score
    assert fencepost.Score is Score
