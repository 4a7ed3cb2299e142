"""Are probabilities what they say? Of the constituents given 0.9, nine in ten should be right.

A model trained with the margin loss has scores, not log probabilities: dividing them all by one number, a
temperature fitted on a treebank, turns them into some that can be trusted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from fencepost.chart.cky import decode
from fencepost.chart.inside import posterior
from fencepost.chart.scores import SpanScores
from fencepost.features.batching import pieces
from fencepost.features.vocab import Labels
from fencepost.parsing.confidence import ConstituentReader
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.parsing.parser import Parser

Floats = npt.NDArray[np.float64]
BATCH_TOKENS: Final = 500  # all label scores of a batch are in memory at once
_GOLDEN: Final = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Calibration:
    """How sure a parser was of the constituents it predicted, and whether they are in the gold tree."""

    confidence: Floats
    correct: npt.NDArray[np.bool_]

    def expected_error(self, bins: int = 10) -> float:
        """The gap between confidence and accuracy, averaged over bins of like confidence (ECE)."""
        if not len(self.confidence):
            return 0.0
        place = np.minimum((self.confidence * bins).astype(np.int64), bins - 1)
        gaps = np.bincount(place, self.confidence - self.correct, minlength=bins)
        return float(np.abs(gaps).sum() / len(self.confidence))

    def log_loss(self) -> float:
        """The mean of -log p over what came true: small where confidence is both right and sharp."""
        likely = np.where(self.correct, self.confidence, 1 - self.confidence)
        return float(-np.log(np.maximum(likely, 1e-9)).mean()) if len(likely) else 0.0


def calibration(
    scored: Iterable[tuple[SpanScores, Sequence[Tree]]],
    labels: Labels,
    temperature: float = 1.0,
    force_root: bool = False,
) -> Calibration:
    """Confidence, as users are shown it, and correctness of every constituent of the best trees.

    One is correct where its label, alone or in a chain, is over the same words in the gold tree.
    """
    reader = ConstituentReader(labels.chains)
    confidence: list[float] = []
    correct: list[bool] = []
    for scores, trees in scored:
        known = posterior(scores, force_root, temperature)
        for place, (decoded, tree) in enumerate(zip(decode(scores.reduce(force_root)), trees, strict=True)):
            gold = {(label, span.start, span.end) for span in spans_below_root(tree) for label in span.label}
            for part in reader.read(decoded, known, place):
                assert part.probability is not None
                confidence.append(part.probability)
                correct.append((part.label, part.start, part.end) in gold)
    return Calibration(np.array(confidence, np.float64), np.array(correct, np.bool_))


def fit_temperature(
    scored: Sequence[tuple[SpanScores, Sequence[Tree]]], labels: Labels, force_root: bool = False
) -> float:
    """The temperature with the least ``log_loss``, by golden-section search between 1/20 and 20.

    What is fitted is the confidence in constituents, which users see. The likelihood of whole gold trees is ruled by
    the few worst of them, and its best temperature leaves a margin-trained model far too sure of itself.
    """
    low, high = math.log(0.05), math.log(20.0)

    def cost(logarithm: float) -> float:
        return calibration(scored, labels, math.exp(logarithm), force_root).log_loss()

    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = cost(left), cost(right)
    while high - low > 0.01:
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = cost(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = cost(right)
    return math.exp((low + high) / 2)


def scores_of(parser: Parser, trees: Sequence[Tree]) -> list[tuple[SpanScores, Sequence[Tree]]]:
    """All label scores of a treebank's sentences, with their gold trees, in batches."""
    scored: list[tuple[SpanScores, Sequence[Tree]]] = []
    for places in pieces([len(tree.leaves()) for tree in trees], BATCH_TOKENS):
        chosen = [trees[place] for place in places]
        scored.append((parser.span_scores([Sentence.of(tree) for tree in chosen]), chosen))
    return scored
