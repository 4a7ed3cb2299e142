from __future__ import annotations

import numpy as np
import pytest

from fencepost.chart import packing
from fencepost.chart.scores import SpanScores
from tests.chart.brute_force import random_scores


def test_packing_and_unpacking_keeps_every_span() -> None:
    scores = random_scores([3, 1, 4], labels=3)
    again = SpanScores.from_packed(scores.packed(), scores.lengths)
    assert np.array_equal(again.packed(), scores.packed())
    assert again.scores[2, 1, 3].tolist() == scores.scores[2, 1, 3].tolist()


def test_scores_go_and_come_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.chart.scores.PIECE", 4)
    scores = random_scores([3, 1, 4], labels=3)
    pieces = [piece for _, piece in scores.pieces()]
    assert [len(piece) for piece in pieces] == [4, 4, 4, 4, 1]
    again = SpanScores.from_pieces(iter(pieces), scores.lengths)
    assert np.array_equal(again.packed(), scores.packed())


def test_cells_that_are_no_spans_are_never_read() -> None:
    scores = random_scores([2], labels=2)
    spoiled = scores.scores.copy()
    spoiled[0][np.tril_indices(3)] = np.nan
    assert np.isfinite(SpanScores(spoiled, scores.lengths).packed()).all()


def test_the_lowest_of_equal_labels_wins() -> None:
    packed = np.array([[0, 0, 0], [0, 2, 2], [0, -1, 1]], dtype=np.float32)
    chart = SpanScores.from_packed(packed, np.array([2])).reduce()
    assert chart.labels.tolist() == [0, 1, 2]
    assert chart.scores.tolist() == [0, 2, 1]


def test_a_forced_root_has_the_best_label_that_is_not_empty() -> None:
    packed = np.array([[0, -3, -2], [0, -3, -2], [0, -3, -2]], dtype=np.float32)
    chart = SpanScores.from_packed(packed, np.array([2])).reduce(force_root=True)
    assert chart.labels.tolist() == [0, 0, 2]
    assert chart.scores.tolist() == [0, 0, -2]


def test_forcing_the_root_changes_the_root_of_each_sentence_alone() -> None:
    scores = random_scores([1, 4, 2], labels=3)
    free, forced = scores.reduce(), scores.reduce(force_root=True)
    changed = np.flatnonzero(free.labels != forced.labels)
    assert set(changed) == {r for r in packing.roots(scores.lengths) if free.labels[r] == 0}
