from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.chart.cky import decode
from fencepost.chart.groups import groups
from fencepost.chart.inside import MAX, inside, label_sums, log_partition, marginals, posterior, totals
from fencepost.chart.scores import SpanScores
from tests.chart.brute_force import all_scores, random_scores, spans

SHORT = pytest.mark.parametrize(("length", "labels"), [(1, 3), (2, 3), (3, 3), (4, 3), (5, 2), (6, 2)])
ROOT = pytest.mark.parametrize("force_root", [False, True])


@SHORT
@ROOT
def test_the_partition_counts_each_tree_once(length: int, labels: int, force_root: bool) -> None:
    for scores in (random_scores([length], labels), random_scores([length], labels, spread=0)):
        every = np.array(list(all_scores(scores, force_root).values()))
        assert log_partition(scores, force_root)[0] == pytest.approx(np.logaddexp.reduce(every))


@SHORT
@ROOT
def test_a_marginal_is_the_share_of_the_trees_with_the_span(length: int, labels: int, force_root: bool) -> None:
    scores = random_scores([length], labels)
    every = all_scores(scores, force_root)
    weights = np.exp(list(every.values()))
    expected = np.zeros(scores.scores.shape[1:])
    for tree, weight in zip(every, weights / weights.sum(), strict=True):
        for span in tree:
            expected[span] += weight
    assert marginals(scores, force_root)[0] == pytest.approx(expected)


@ROOT
def test_marginals_are_the_slope_of_the_log_partition(force_root: bool) -> None:
    lengths, step = [1, 4, 3], 0.5**6
    scores = random_scores(lengths, labels=3)
    found = marginals(scores, force_root)
    for sentence, length in enumerate(lengths):
        for start in range(length):
            for end in range(start + 1, length + 1):
                place = (sentence, start, end, 2)
                above, below = scores.scores.copy(), scores.scores.copy()
                above[place] += step
                below[place] -= step
                rise = log_partition(SpanScores(above, scores.lengths), force_root)
                fall = log_partition(SpanScores(below, scores.lengths), force_root)
                run = np.float64(above[place]) - np.float64(below[place])
                assert found[place] == pytest.approx((rise - fall)[sentence] / run, abs=1e-4)


@given(st.lists(st.integers(1, 10), min_size=1, max_size=6), st.integers(0, 1000), st.booleans())
def test_the_best_of_the_same_recursion_is_the_score_of_the_best_tree(
    lengths: list[int], seed: int, force_root: bool
) -> None:
    scores = random_scores(lengths, labels=3, seed=seed)
    labels = label_sums(scores, MAX)
    best = [tree.score for tree in decode(scores.reduce(force_root))]
    for group in groups(scores.lengths):
        found = totals(inside(labels, group, MAX), labels, group, force_root)
        assert found == pytest.approx([best[sentence] for sentence in group.sentences], abs=1e-4)


@given(st.lists(st.integers(1, 8), min_size=1, max_size=6), st.integers(0, 1000), st.booleans())
def test_a_sentence_has_the_same_marginals_in_any_company(lengths: list[int], seed: int, force_root: bool) -> None:
    scores = random_scores(lengths, labels=2, seed=seed)
    together = marginals(scores, force_root)
    for number, length in enumerate(lengths):
        posts = slice(0, length + 1)
        alone = SpanScores(scores.scores[number : number + 1, posts, posts], np.array([length]))
        assert marginals(alone, force_root)[0] == pytest.approx(together[number, posts, posts], abs=1e-9)


@ROOT
def test_spans_that_are_asked_for_have_the_probabilities_of_divided_scores(force_root: bool) -> None:
    scores = random_scores([4, 6, 1], labels=4)
    cooled = SpanScores(scores.scores / np.float32(4), scores.lengths)
    known = posterior(scores, force_root, temperature=4.0)
    assert known.log_z == pytest.approx(log_partition(cooled, force_root))
    starts, ends = np.array([0, 2, 1]), np.array([6, 3, 5])
    assert known.of_spans(1, starts, ends) == pytest.approx(marginals(cooled, force_root)[1, starts, ends])


def test_a_model_without_labels_has_one_tree() -> None:
    known = posterior(random_scores([3, 1], labels=1))
    assert known.log_z.tolist() == [0, 0]
    assert known.of_spans(0, np.array([0]), np.array([3])).tolist() == [[0]]


@pytest.mark.parametrize("sign", [-1, 1])
def test_very_large_scores_stay_exact(sign: int) -> None:
    scores = random_scores([7, 5], labels=3, spread=1)
    huge = SpanScores(
        np.where(scores.scores == 0, 0, scores.scores * 100 + sign * 1e4).astype(np.float32), scores.lengths
    )
    best = decode(huge.reduce())
    assert log_partition(huge) == pytest.approx([tree.score for tree in best], rel=1e-5)
    found = marginals(huge)
    certain = [spans(tree) for tree in best]
    assert [{tuple(p) for p in np.argwhere(found[b] > 0.5).tolist()} for b in range(2)] == certain


def test_a_forced_root_is_certain_to_have_a_label() -> None:
    scores = random_scores([5, 1, 3], labels=3)
    found = marginals(scores, force_root=True)
    assert [found[b, 0, n].sum() for b, n in enumerate(scores.lengths)] == pytest.approx([1, 1, 1])


def test_without_labels_there_is_one_bare_tree() -> None:
    scores = SpanScores(np.zeros((1, 5, 5, 1), dtype=np.float32), np.array([4]))
    assert log_partition(scores).tolist() == [0]
    assert not marginals(scores).any()


def test_a_root_without_labels_to_choose_from_is_an_error() -> None:
    scores = SpanScores(np.zeros((1, 5, 5, 1), dtype=np.float32), np.array([4]))
    with pytest.raises(ValueError, match="root"):
        marginals(scores, force_root=True)
