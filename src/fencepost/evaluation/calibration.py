"""Calibration: nine in ten of the constituents with probability 0.9 should be right.

A model trained with the margin loss has scores, not log probabilities. Dividing all scores by one number, a
temperature fitted on a treebank, makes the probabilities trustworthy.
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
from fencepost.trees.functions import without_functions
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
    """The probability of each predicted constituent, and whether it is in the gold tree."""

    confidence: Floats
    correct: npt.NDArray[np.bool_]

    def expected_error(self, bins: int = 10) -> float:
        """The gap between confidence and accuracy, averaged over bins of similar confidence (ECE)."""
        if not len(self.confidence):
            return 0.0
        indices = np.minimum((self.confidence * bins).astype(np.int64), bins - 1)
        gaps = np.bincount(indices, self.confidence - self.correct, minlength=bins)
        return float(np.abs(gaps).sum() / len(self.confidence))

    def log_loss(self) -> float:
        """The mean of -log p of the actual outcomes: small if probabilities are both accurate and near 0 or 1."""
        likely = np.where(self.correct, self.confidence, 1 - self.confidence)
        return float(-np.log(np.maximum(likely, 1e-9)).mean()) if len(likely) else 0.0


def calibration(
    scored: Iterable[tuple[SpanScores, Sequence[Tree]]],
    labels: Labels,
    temperature: float = 1.0,
    force_root: bool = False,
) -> Calibration:
    """The probability that users see, and the correctness, of every constituent of the best trees.

    A constituent is correct if its label, alone or in a chain, covers the same words in the gold tree.
    """
    reader = ConstituentReader(labels.chains)
    confidence: list[float] = []
    correct: list[bool] = []
    for scores, trees in scored:
        probabilities = posterior(scores, force_root, temperature)
        for row, (decoded, tree) in enumerate(zip(decode(scores.reduce(force_root)), trees, strict=True)):
            gold = {(label, span.start, span.end) for span in spans_below_root(tree) for label in span.label}
            for part in reader.read(decoded, probabilities, row):
                assert part.probability is not None
                confidence.append(part.probability)
                correct.append((part.label, part.start, part.end) in gold)
    return Calibration(np.array(confidence, np.float64), np.array(correct, np.bool_))


def fit_temperature(
    scored: Sequence[tuple[SpanScores, Sequence[Tree]]], labels: Labels, force_root: bool = False
) -> float:
    """The temperature with the least ``log_loss``, by golden-section search between 1/20 and 20.

    It is fitted to the probabilities of constituents, which users see. The likelihood of whole gold trees would be
    dominated by the few worst of them, and would leave a margin-trained model far too confident.
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
    """All label scores of the sentences of a treebank, in batches, with the gold trees.

    Labels of trees lose their functions if the model predicts those apart.
    """
    if parser.vocabularies.functions is not None:
        trees = [without_functions(tree) for tree in trees]
    scored: list[tuple[SpanScores, Sequence[Tree]]] = []
    for indices in pieces([len(tree.leaves()) for tree in trees], BATCH_TOKENS):
        batch = [trees[index] for index in indices]
        scored.append((parser.span_scores([Sentence.of(tree) for tree in batch]), batch))
    return scored
