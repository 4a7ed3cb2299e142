from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from fencepost.chart.scores import SpanScores
from fencepost.evaluation.calibration import Calibration, calibration, fit_temperature, scores_of
from fencepost.features.vocab import Labels
from fencepost.parsing.confidence import Analyst
from fencepost.trees.spans import Span
from fencepost.trees.tree import Leaf, Tree
from tests.chart.brute_force import random_scores
from tests.samples import nested

LABELS = Labels(((), ("A",), ("B",)))
LEAVES = [Leaf("N", word) for word in "abc"]


def certain(confidence: list[float], correct: list[bool]) -> Calibration:
    return Calibration(np.array(confidence), np.array(correct))


def test_confidence_that_is_right_as_often_as_it_says_has_no_error() -> None:
    assert certain([0.75] * 4, [True, True, True, False]).expected_error() == pytest.approx(0)


def test_the_error_is_the_gap_weighted_by_how_many_constituents_a_bin_has() -> None:
    measured = certain([0.95] * 3 + [0.55], [False] * 3 + [True])
    assert measured.expected_error() == pytest.approx((3 * 0.95 + 0.45) / 4)


def test_gaps_of_opposite_sign_cancel_within_a_bin_but_not_between_bins() -> None:
    assert certain([0.92, 0.98], [False, True]).expected_error() == pytest.approx(0.45)
    assert certain([0.15, 0.85], [True, False]).expected_error() == pytest.approx(0.85)


def test_full_confidence_falls_into_the_last_bin() -> None:
    assert certain([1.0, 0.9], [False, True]).expected_error() == pytest.approx(0.45)


def test_nothing_predicted_is_no_error() -> None:
    assert certain([], []).expected_error() == 0.0


def tree_of(*spans: tuple[int, int, str]) -> Tree:
    return nested(LEAVES, [Span(start, end, (label,)) for start, end, label in spans], "TOP")


def charts(trees: list[Tree], scale: float, noise: float, seed: int = 0) -> list[tuple[SpanScores, list[Tree]]]:
    """Scores that prefer each tree's own spans, by an amount that varies."""
    source = np.random.default_rng(seed)
    scores = np.zeros((len(trees), 4, 4, 3), np.float32)
    for place, tree in enumerate(trees):
        scores[place, :, :, 1:] = source.normal(-1, noise, (4, 4, 2))
        for node, start in _with_starts(tree):
            scores[place, start, start + len(node.leaves()), LABELS.ids[(node.label,)]] += 2
    return [(SpanScores(scores * np.float32(scale), np.full(len(trees), 3)), trees)]


def _with_starts(tree: Tree) -> list[tuple[Tree, int]]:
    found = []
    for node in tree.subtrees():
        if node.label != "TOP":
            words = "".join(leaf.word for leaf in node.leaves())
            found.append((node, "abc".index(words)))
    return found


TREES = [
    tree_of((0, 3, "A")),
    tree_of((0, 3, "A"), (0, 2, "B")),
    tree_of((1, 3, "B")),
    tree_of((0, 3, "B"), (2, 3, "A")),
]


def test_probabilities_of_the_best_tree_are_between_0_and_1_and_compared_with_gold() -> None:
    measured = calibration(charts(TREES, scale=3.0, noise=0.0), LABELS)
    assert measured.correct.all()
    assert ((measured.confidence > 0) & (measured.confidence <= 1)).all()
    assert len(measured.confidence) == sum(len(_with_starts(tree)) for tree in TREES)


def test_a_higher_temperature_is_less_sure() -> None:
    scored = charts(TREES, scale=3.0, noise=0.0)
    cold, warm = calibration(scored, LABELS, 0.5), calibration(scored, LABELS, 4.0)
    assert warm.confidence.mean() < cold.confidence.mean()


def test_fitting_undoes_a_scale() -> None:
    once = fit_temperature(charts(TREES * 10, scale=1.0, noise=1.5), LABELS)
    thrice = fit_temperature(charts(TREES * 10, scale=3.0, noise=1.5), LABELS)
    assert thrice / once == pytest.approx(3.0, rel=0.03)


def test_the_fitted_temperature_is_no_worse_than_its_neighbours() -> None:
    scored = charts(TREES * 10, scale=2.0, noise=1.5)
    best = fit_temperature(scored, LABELS)
    losses = [calibration(scored, LABELS, best * factor).log_loss() for factor in (0.8, 1.0, 1.25)]
    assert min(losses) == losses[1]


def test_log_loss_is_that_of_what_came_true() -> None:
    assert certain([0.5, 0.75], [True, False]).log_loss() == pytest.approx(-(np.log(0.5) + np.log(0.25)) / 2)


def test_a_span_with_an_unknown_gold_label_counts_as_wrong() -> None:
    ((scores, _),) = charts(TREES[:1], scale=3.0, noise=0.0)
    measured = calibration([(scores, [tree_of((0, 3, "Z"))])], LABELS)
    assert not measured.correct.any()


CHAINS = Labels(((), ("A",), ("B",), ("A", "B")))


@pytest.mark.parametrize("seed", range(5))
def test_what_is_measured_is_the_confidence_that_users_see(seed: int) -> None:
    scores, tree = random_scores([3], len(CHAINS), seed), Tree.from_string("(TOP (A (B (N a) (N b)) (N c)))")
    measured = calibration([(scores, [tree])], CHAINS, temperature=2.0)
    shown = Analyst(CHAINS.chains, False, k=1, temperature=2.0).analyze(scores, 0, lambda _: tree).constituents
    assert measured.confidence.tolist() == [part.probability for part in shown]


def test_a_label_is_right_whatever_chain_it_stands_in() -> None:
    scores = np.full((1, 4, 4, len(CHAINS)), -9, np.float32)
    scores[..., 0], scores[0, 0, 3, 3] = 0, 5  # (A (B a b c)), and nothing below
    for gold, correct in (("(A (N a) (N b) (N c))", [True, False]), ("(B (A (N a) (N b) (N c)))", [True, True])):
        trees = [Tree.from_string(f"(TOP {gold})")]
        assert calibration([(SpanScores(scores, np.array([3])), trees)], CHAINS).correct.tolist() == correct


@pytest.mark.parametrize(("functions", "label"), [(None, "A-SBJ"), (object(), "A")])
def test_functions_are_no_part_of_a_label_if_the_model_predicts_them_apart(functions: object, label: str) -> None:
    vocabularies = SimpleNamespace(functions=functions)
    parser = SimpleNamespace(vocabularies=vocabularies, span_scores=len)
    ((_, (gold,)),) = scores_of(parser, [Tree("TOP", [Tree("A-SBJ", LEAVES)])])  # type: ignore[arg-type]
    assert [phrase.label for phrase in gold.subtrees()] == ["TOP", label]
