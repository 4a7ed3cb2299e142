"""Minimum-risk decoding: not the likeliest tree, but the one with the fewest errors to expect.

A constituent of probability p is wrong with 1 - p; one that is left out is missed with p. So the tree with the
greatest sum of 2p - 1 has the smallest expected number of wrong and missed constituents together.
"""

from __future__ import annotations

import numpy as np

from fencepost.chart import cky, packing
from fencepost.chart.cky import Decoded
from fencepost.chart.inside import Posterior
from fencepost.chart.scores import LabelChart


def decode(known: Posterior, force_root: bool = False) -> list[Decoded]:
    """The tree of least risk for each sentence; its ``score`` is the sum above."""
    return cky.decode(_gains(known, force_root))


def _gains(known: Posterior, force_root: bool) -> LabelChart:
    """The label with the greatest 2p - 1 of every span; the empty one has 0."""
    lengths = known.scores.lengths
    gains, labels = np.zeros(len(known.spans), np.float32), np.zeros(len(known.spans), np.int32)
    for here, scores in known.scores.pieces():
        found = 2 * known.of_cells(here, scores) - 1
        found[:, 0] = 0
        gains[here], labels[here] = found.max(axis=1), found.argmax(axis=1)
    if force_root:
        roots = packing.roots(lengths)
        found = 2 * known.of_cells(roots, known.scores.scores[np.arange(len(lengths)), 0, lengths])[:, 1:] - 1
        gains[roots], labels[roots] = found.max(axis=1), 1 + found.argmax(axis=1)
    return LabelChart(gains, labels, lengths)
