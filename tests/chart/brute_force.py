"""All trees of a short sentence, one by one: slow, and plain enough to be believed."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

from fencepost.chart.cky import Decoded
from fencepost.chart.scores import SpanScores

Spans = frozenset[tuple[int, int, int]]


def trees(start: int, end: int, labels: int, force_root: bool = False) -> Iterator[Spans]:
    """Every n-ary tree over a span as its set of labelled spans: at most one label, 1 to ``labels``, a span."""
    for label in range(1 if force_root else 0, labels + 1):
        own = frozenset([(start, end, label)]) if label else frozenset()
        for below in _proper(start, end, labels):
            yield own | below


def _proper(start: int, end: int, labels: int) -> Iterator[Spans]:
    """Every set of nested labelled spans within a span, itself not among them."""
    if end - start == 1:
        yield frozenset()
        return
    for first in range(start + 1, end):  # where the leftmost child, a word or a constituent, ends
        labels_of_first = range(0 if first == start + 1 else 1, labels + 1)
        own = [frozenset([(start, first, label)]) if label else frozenset() for label in labels_of_first]
        rest = list(trees(first, end, labels))
        for node, inside, after in product(own, list(_proper(start, first, labels)), rest):
            yield node | inside | after


def all_scores(scores: SpanScores, force_root: bool = False) -> dict[Spans, float]:
    """The score of every tree of the only sentence."""
    (length,) = scores.lengths.tolist()
    table = scores.scores[0].astype(np.float64)
    found = list(trees(0, length, table.shape[2] - 1, force_root))
    assert len(set(found)) == len(found)
    return {tree: float(sum(table[span] for span in tree)) for tree in found}


def random_scores(lengths: list[int], labels: int, seed: int = 0, spread: float = 2.0) -> SpanScores:
    """Normally distributed scores; ``labels`` counts the empty one."""
    posts = max(lengths) + 1
    scores = np.random.default_rng(seed).normal(0, spread, (len(lengths), posts, posts, labels)).astype(np.float32)
    scores[..., 0] = 0
    return SpanScores(scores, np.array(lengths))


def whole_scores(lengths: list[int], labels: int, seed: int = 0) -> SpanScores:
    """Scores from a few whole numbers, so that many trees are equal."""
    scores = random_scores(lengths, labels, seed, spread=1.0)
    return SpanScores(np.round(scores.scores), scores.lengths)


def spans(tree: Decoded) -> Spans:
    return frozenset(zip(tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist(), strict=True))
