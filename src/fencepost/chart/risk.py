"""Minimum-risk decoding: not the likeliest tree, but the one with the fewest expected errors.

A constituent of probability p is wrong with probability 1 - p; leaving it out is wrong with probability p. So the tree
with the greatest sum of 2p - 1 has the smallest expected number of wrong and missed constituents together.
"""

from __future__ import annotations

import numpy as np

from fencepost.chart import cky, packing
from fencepost.chart.cky import DecodedTrees
from fencepost.chart.inside import Posterior
from fencepost.chart.scores import LabelChart


def decode(posterior: Posterior, force_root: bool = False) -> DecodedTrees:
    """The tree of least risk for each sentence; its ``score`` is the sum above."""
    return cky.decode(_gains(posterior, force_root))


def _gains(posterior: Posterior, force_root: bool) -> LabelChart:
    """The label with the greatest 2p - 1 of every span; the empty label counts 0."""
    lengths = posterior.scores.lengths
    gains, labels = np.zeros(len(posterior.spans), np.float32), np.zeros(len(posterior.spans), np.int32)
    for here, scores in posterior.scores.pieces():
        gain = 2 * posterior.of_cells(here, scores) - 1
        gain[:, 0] = 0
        gains[here], labels[here] = gain.max(axis=1), gain.argmax(axis=1)
    if force_root:
        roots = packing.roots(lengths)
        gain = 2 * posterior.of_cells(roots, posterior.scores.scores[np.arange(len(lengths)), 0, lengths])[:, 1:] - 1
        gains[roots], labels[roots] = gain.max(axis=1), 1 + gain.argmax(axis=1)
    return LabelChart(gains, labels, lengths)
