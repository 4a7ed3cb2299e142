"""Minimum-risk decoding: not the likeliest tree, but the one with the fewest errors to expect.

A constituent of probability p is wrong with 1 - p; one that is left out is missed with p. So the tree with the
greatest sum of 2p - 1 has the smallest expected number of wrong and missed constituents together.
"""

from __future__ import annotations

import numpy as np

from fencepost.chart import cky
from fencepost.chart.cky import Decoded
from fencepost.chart.inside import Doubles
from fencepost.chart.layout import Ints
from fencepost.chart.scores import SpanScores


def decode(probabilities: Doubles, lengths: Ints, force_root: bool = False) -> list[Decoded]:
    """The tree of least risk for each sentence, from ``inside.marginals``; its ``score`` is the sum above."""
    gains = (2 * probabilities - 1).astype(np.float32)
    gains[..., 0] = 0
    return cky.decode(SpanScores(gains, lengths).reduce(force_root))
