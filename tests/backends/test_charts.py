from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from fencepost.backends import charts
from fencepost.backends.charts import decode, inside
from fencepost.chart import cky, packing
from fencepost.chart.inside import log_partition, marginals
from fencepost.chart.scores import Floats, SpanScores
from fencepost.model.cells import best_labels, sum_by_sentence
from tests.model.interpreted import run_interpreted

DEVICES = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
ON_EACH_DEVICE = pytest.mark.parametrize("device", DEVICES)
ROOT = pytest.mark.parametrize("force_root", [False, True])
LENGTHS = st.lists(st.integers(1, 14), min_size=1, max_size=6)


def random_cells(lengths: list[int], seed: int, whole: bool = False) -> Floats:
    """A score for each cell; whole numbers make many trees equal."""
    cells = int(packing.span_count(np.array(lengths)).sum())
    scores = np.random.default_rng(seed).normal(0, 1.5, cells)
    return (np.round(scores) if whole else scores).astype(np.float32)


def assert_same_trees(scores: Floats, lengths: list[int], device: str) -> None:
    expected_scores, expected = cky.mark(scores, np.array(lengths))
    found_scores, found = decode(torch.tensor(scores, device=device), torch.tensor(lengths, device=device))
    assert found_scores.cpu().numpy().tolist() == expected_scores.tolist()
    assert np.array_equal(found.cpu().numpy(), expected)


@ON_EACH_DEVICE
@given(lengths=LENGTHS, seed=st.integers(0, 1000))
@settings(deadline=None, max_examples=40)
def test_ties_are_settled_as_numpy_settles_them(device: str, lengths: list[int], seed: int) -> None:
    assert_same_trees(random_cells(lengths, seed, whole=True), lengths, device)


@ON_EACH_DEVICE
@pytest.mark.parametrize("lengths", [[1], [2], [1, 1, 70, 2], [33, 32, 31, 17, 16, 15], [130]])
def test_trees_are_those_of_numpy_to_the_last_bit(device: str, lengths: list[int]) -> None:
    assert_same_trees(random_cells(lengths, seed=0), lengths, device)


@ON_EACH_DEVICE
def test_a_chart_of_equal_scores_branches_to_the_right(device: str) -> None:
    lengths = [40, 3]
    assert_same_trees(np.zeros(40 * 41 // 2 + 6, dtype=np.float32), lengths, device)
    _, marked = decode(torch.zeros(6, device=device), torch.tensor([3], device=device))
    assert marked.tolist() == [True, True, True, False, True, True]


@ON_EACH_DEVICE
def test_scores_in_double_precision_are_compared_in_double_precision(device: str) -> None:
    scores = torch.zeros(6, dtype=torch.float64, device=device)
    scores[3] = 1e-12  # the first two words together
    total, marked = decode(scores, torch.tensor([3], device=device))
    assert total.tolist() == [1e-12]
    assert marked.tolist() == [True, True, True, True, False, True]
    scores[0] = 1.0
    assert decode(scores, torch.tensor([3], device=device))[1].tolist() == marked.tolist()


@ON_EACH_DEVICE
@ROOT
def test_the_best_labels_are_those_of_numpy_even_among_ties(device: str, force_root: bool) -> None:
    lengths = [1, 9, 4]
    packed = np.stack([random_cells(lengths, seed, whole=True) for seed in range(5)], axis=1)
    packed[:, 0] = 0
    expected = SpanScores.from_packed(packed, np.array(lengths)).reduce(force_root)
    for dtype in (torch.float32, torch.bfloat16):
        scores = torch.tensor(packed, device=device, dtype=dtype)
        best, labels = best_labels(scores, torch.tensor(lengths, device=device), force_root)
        assert best.tolist() == expected.scores.tolist()
        assert labels.tolist() == expected.labels.tolist()


@ON_EACH_DEVICE
@ROOT
@pytest.mark.parametrize("lengths", [[1], [1, 5, 2], [20, 33, 1, 17]])
def test_sums_over_trees_are_those_of_numpy(device: str, force_root: bool, lengths: list[int]) -> None:
    scores = random_cells(lengths, seed=1)
    packed = SpanScores.from_packed(np.stack([np.zeros_like(scores), scores], axis=1), np.array(lengths))
    total, found = inside(torch.tensor(scores, device=device), torch.tensor(lengths, device=device), force_root)
    assert total.cpu().numpy() == pytest.approx(log_partition(packed, force_root), rel=1e-5, abs=1e-5)
    expected = marginals(packed, force_root)[packing.cells(packed.lengths)][:, 1]
    assert found.cpu().numpy() == pytest.approx(expected, abs=2e-4)


@ON_EACH_DEVICE
@ROOT
def test_the_gradient_of_the_sum_is_right(device: str, force_root: bool) -> None:
    lengths = torch.tensor([4, 1, 3], device=device)
    scores = torch.tensor(random_cells([4, 1, 3], seed=2), dtype=torch.float64, device=device, requires_grad=True)
    assert torch.autograd.gradcheck(lambda values: inside(values, lengths, force_root)[0], scores)


@ON_EACH_DEVICE
def test_large_scores_do_not_overflow(device: str) -> None:
    lengths = torch.tensor([6, 2], device=device)
    for scale in (1e4, -1e4):
        scores = torch.tensor(random_cells([6, 2], seed=3), device=device) + scale
        total, found = inside(scores, lengths)
        assert torch.isfinite(total).all()
        assert ((found >= 0) & (found <= 1.01)).all()


@ON_EACH_DEVICE
def test_values_are_added_up_by_sentence(device: str) -> None:
    values = torch.arange(10.0, device=device)
    assert sum_by_sentence(values, torch.tensor([3, 1, 2], device=device)).tolist() == [15, 6, 24]


@ON_EACH_DEVICE
def test_a_batch_of_no_sentences_is_no_trouble(device: str) -> None:
    nothing = torch.zeros(0, device=device)
    scores, marked = decode(nothing, torch.zeros(0, dtype=torch.int64, device=device))
    assert (len(scores), len(marked)) == (0, 0)


@ON_EACH_DEVICE
@ROOT
def test_probabilities_of_labels_are_those_of_numpy(device: str, force_root: bool) -> None:
    lengths = np.array([1, 9, 4])
    scores = np.random.default_rng(3).normal(0, 1.5, (int(packing.span_count(lengths).sum()), 4)).astype(np.float32)
    scores[:, 0] = 0
    chart = SpanScores.from_packed(scores, lengths)
    found, total = charts.marginals(
        torch.tensor(scores, device=device), torch.tensor(lengths, device=device), force_root
    )
    expected = SpanScores(marginals(chart, force_root).astype(np.float32), lengths).packed()
    assert found.cpu().numpy() == pytest.approx(expected, abs=1e-5)
    assert total.cpu().numpy() == pytest.approx(log_partition(chart, force_root), rel=1e-5)


INTERPRETED = """
    import torch
    from fencepost.backends import charts
    from fencepost.model.cuda import chart_kernels

    lengths = torch.tensor([1, 2, 34])
    counts = lengths * (lengths + 1) // 2
    offsets = counts.cumsum(0) - counts
    torch.manual_seed(0)
    for scores in (torch.randn(int(counts.sum())), torch.randn(int(counts.sum())).round()):
        by_kernel = chart_kernels.best_trees(scores, offsets, lengths)
        for found, expected in zip(by_kernel, charts.decode(scores, lengths), strict=True):
            assert torch.equal(found, expected)
    for force_root in (False, True):
        found = chart_kernels.inside_outside(scores, offsets, lengths, force_root)
        expected = charts.inside(scores.double(), lengths, force_root)
        torch.testing.assert_close(found[0].double(), expected[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(found[1].double(), expected[1], rtol=0, atol=2e-4)
"""


def test_kernels_agree_with_numpy_when_interpreted() -> None:
    run_interpreted(INTERPRETED)
