from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.chart import packing
from fencepost.chart.cky import decode, mark
from fencepost.chart.scores import Floats, LabelChart, SpanScores
from tests.chart.brute_force import all_scores, random_scores, spans, whole_scores

SHORT = pytest.mark.parametrize(("length", "labels"), [(1, 3), (2, 3), (3, 3), (4, 3), (5, 2), (6, 2)])
ROOT = pytest.mark.parametrize("force_root", [False, True])


@SHORT
@ROOT
def test_no_tree_is_better(length: int, labels: int, force_root: bool) -> None:
    for seed in range(5):
        scores = random_scores([length], labels, seed)
        every = all_scores(scores, force_root)
        (tree,) = decode(scores.reduce(force_root))
        assert tree.score == pytest.approx(max(every.values()), abs=1e-5)
        assert every[spans(tree)] == pytest.approx(tree.score, abs=1e-5)


@given(st.lists(st.integers(1, 9), min_size=1, max_size=8), st.integers(0, 1000))
def test_a_sentence_has_the_same_tree_in_any_company(lengths: list[int], seed: int) -> None:
    scores = whole_scores(lengths, labels=3, seed=seed)
    together = decode(scores.reduce())
    for number, length in enumerate(lengths):
        posts = slice(0, length + 1)
        alone = SpanScores(scores.scores[number : number + 1, posts, posts], np.array([length]))
        (tree,) = decode(alone.reduce())
        assert spans(tree) == spans(together[number])
        assert tree.score == together[number].score


@given(st.integers(1, 9), st.integers(0, 1000))
def test_equal_splits_are_settled_to_the_left(length: int, seed: int) -> None:
    chart = whole_scores([length], labels=2, seed=seed).reduce()
    assert set(np.flatnonzero(mark(chart.scores, chart.lengths)[1])) == _leftmost(chart.scores, length)


def _leftmost(scores: Floats, length: int) -> set[int]:
    """The best binary tree by the definition, one span at a time."""
    index = {}
    for number, (start, end) in enumerate(zip(*packing.cells(np.array([length]))[1:], strict=True)):
        index[int(start), int(end)] = number
    best: dict[tuple[int, int], tuple[np.float32, int]] = {}
    for (start, end), number in index.items():
        splits = [(best[start, k][0] + best[k, end][0], -k) for k in range(start + 1, end)]
        score, split = max(splits, default=(np.float32(0), 0))
        best[start, end] = (score + scores[number], -split)
    marked, stack = set(), [(0, length)]
    while stack:
        start, end = stack.pop()
        marked.add(index[start, end])
        if end - start > 1:
            stack += [(start, best[start, end][1]), (best[start, end][1], end)]
    return marked


@given(st.lists(st.integers(1, 12), min_size=1, max_size=5), st.integers(0, 100))
def test_a_binary_tree_of_n_words_has_2n_minus_1_spans(lengths: list[int], seed: int) -> None:
    chart = random_scores(lengths, labels=2, seed=seed).reduce()
    sentences = packing.cells(chart.lengths).sentences[mark(chart.scores, chart.lengths)[1]]
    assert np.bincount(sentences).tolist() == [2 * length - 1 for length in lengths]


def test_spans_come_in_pre_order() -> None:
    packed = np.zeros((10, 3), dtype=np.float32)
    lengths = np.array([4])
    for start, end, label in [(0, 4, 1), (0, 1, 2), (1, 4, 2), (1, 3, 1), (3, 4, 1)]:
        packed[packing.cell_index(lengths, np.array([start]), np.array([end])), label] = 1
    (tree,) = decode(SpanScores.from_packed(packed, lengths).reduce())
    found = list(zip(tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist(), strict=True))
    assert found == [(0, 4, 1), (0, 1, 2), (1, 4, 2), (1, 3, 1), (3, 4, 1)]


def test_a_word_on_its_own_may_stay_bare() -> None:
    (tree,) = decode(SpanScores.from_packed(np.array([[0, -1]], dtype=np.float32), np.array([1])).reduce())
    assert (tree.score, len(tree.starts)) == (0, 0)


def test_a_batch_of_no_sentences_has_no_trees() -> None:
    nothing = LabelChart(np.zeros(0, np.float32), np.zeros(0, np.int32), np.zeros(0, np.int64))
    assert list(decode(nothing)) == []


def test_a_thousand_words_decode_in_seconds() -> None:
    scores = np.random.default_rng(0).normal(size=1000 * 1001 // 2).astype(np.float32)
    chart = LabelChart(scores, np.ones(len(scores), np.int32), np.array([1000]))
    began = time.process_time()
    (tree,) = decode(chart)
    assert len(tree.starts) == 1999
    assert time.process_time() - began < 10


def test_a_tree_as_deep_as_its_sentence_is_long_decodes() -> None:
    lengths = np.array([400])
    _, starts, ends = packing.cells(lengths)
    chart = LabelChart((ends == 400).astype(np.float32), np.ones(len(starts), np.int32), lengths)
    (tree,) = decode(chart)
    assert tree.score == 400
    assert (tree.ends == 400).sum() == 400
