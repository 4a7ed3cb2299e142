from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.chart.cky import decode
from fencepost.chart.kbest import k_best
from fencepost.chart.scores import SpanScores
from tests.chart.brute_force import all_scores, random_scores, spans, whole_scores

ROOT = pytest.mark.parametrize("force_root", [False, True])


@pytest.mark.parametrize(("length", "labels"), [(1, 3), (2, 3), (3, 3), (4, 3), (5, 2), (6, 2)])
@pytest.mark.parametrize("k", [1, 2, 7, 40])
@ROOT
def test_no_tree_left_out_is_better(length: int, labels: int, k: int, force_root: bool) -> None:
    scores = random_scores([length], labels)
    every = all_scores(scores, force_root)
    expected = sorted(every.values(), reverse=True)[:k]
    found = k_best(scores, 0, k, force_root)
    assert [tree.score for tree in found] == pytest.approx(expected)
    assert [every[spans(tree)] for tree in found] == pytest.approx(expected)


@ROOT
def test_all_trees_come_once_when_more_are_asked_for_than_there_are(force_root: bool) -> None:
    scores = whole_scores([4], labels=2)
    every = all_scores(scores, force_root)
    found = [spans(tree) for tree in k_best(scores, 0, len(every) + 10, force_root)]
    assert len(found) == len(every)
    assert set(found) == set(every)


@given(st.integers(1, 12), st.integers(2, 5), st.integers(0, 10_000), st.integers(0, 2), st.booleans())
def test_the_first_is_the_best_tree_even_among_ties(
    length: int, labels: int, seed: int, most: int, force_root: bool
) -> None:
    scores = whole_scores([length], labels, seed)
    scores = SpanScores(np.minimum(scores.scores, most), scores.lengths)  # at most 0: any label is as good as none
    (best,) = decode(scores.reduce(force_root))
    first = k_best(scores, 0, 3, force_root)[0]
    assert spans(first) == spans(best)
    assert first.score == best.score


@given(st.integers(1, 10), st.integers(0, 1000))
def test_trees_are_sorted_and_distinct_even_among_ties(length: int, seed: int) -> None:
    found = k_best(whole_scores([length], labels=3, seed=seed), 0, 25)
    assert [tree.score for tree in found] == sorted((tree.score for tree in found), reverse=True)
    assert len({spans(tree) for tree in found}) == len(found)


def test_one_sentence_of_a_batch_is_read() -> None:
    scores = random_scores([6, 3, 5], labels=3)
    (second,) = k_best(scores, 1, 1)
    assert spans(second) == spans(decode(scores.reduce())[1])


def test_spans_come_in_pre_order() -> None:
    for tree in k_best(random_scores([8], labels=3), 0, 5):
        keys = list(zip(tree.starts, -tree.ends, strict=True))
        assert keys == sorted(keys)


def test_a_tree_deeper_than_pythons_recursion_limit() -> None:
    length = 1200
    scores = np.zeros((1, length + 1, length + 1, 2), dtype=np.float32)
    scores[..., 1] = -1
    scores[0, :, length, 1] = 1
    found = k_best(SpanScores(scores, np.array([length])), 0, 3)
    assert [tree.score for tree in found] == [length, length - 1, length - 1]
    assert found[0].starts.tolist() == list(range(length))
