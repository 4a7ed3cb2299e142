"""Sums over all trees of a sentence: log Z, and the probability of every labelled span.

CKY's binary trees would count an n-ary tree once for each way to binarise it. Here a tree is built in one way only,
with its children taken from left to right:

    node(i, j)     = label(i, j) + inner(i, j), or a bare word    one constituent
    inner(i, j)    = sum over k of node(i, k) + sequence(k, j)    two or more constituents in a row
    sequence(i, j) = node(i, j) or inner(i, j)                    one or more constituents in a row

All values are logarithms in double precision; label(i, j) is the sum over the labels that are not empty.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.chart import layout
from fencepost.chart.diagonals import Grid, Group, groups
from fencepost.chart.scores import SpanScores

Doubles = npt.NDArray[np.float64]


class Semiring(NamedTuple):
    """What "or" means: of two values, and of the first axis of an array."""

    either: Callable[[Doubles, Doubles], Doubles]
    any: Callable[[Doubles], Doubles]


class Inside(NamedTuple):
    """The values of the recursion for a group of sentences."""

    node: Grid
    sequence: Grid


def log_sum(values: Doubles) -> Doubles:
    """log(sum(exp(values))) over the first axis; of nothing but -inf it is -inf."""
    peak = values.max(axis=0)
    peak[np.isneginf(peak)] = 0.0
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(values - peak).sum(axis=0)) + peak)


LOG = Semiring(np.logaddexp, log_sum)
MAX = Semiring(np.maximum, lambda values: np.asarray(values.max(axis=0)))


def log_partition(scores: SpanScores, force_root: bool = False) -> Doubles:
    """log Z of each sentence: the logarithm of the sum of exp(score) over its trees. [B]"""
    labels = label_sums(scores, LOG)
    result = np.zeros(len(scores.lengths))
    for group in groups(scores.lengths):
        result[group.sentences] = totals(inside(labels, group, LOG), labels, group, force_root)
    return result


def marginals(scores: SpanScores, force_root: bool = False) -> Doubles:
    """The probability of each labelled span, shaped as the scores; 0 for the empty label. [B, N+1, N+1, L]"""
    labels = label_sums(scores, LOG)
    spans = np.zeros_like(labels)
    for group in groups(scores.lengths):
        _outside(inside(labels, group, LOG), labels, group, force_root, spans)
    cells = layout.cells(scores.lengths)
    result = np.zeros(scores.scores.shape)
    if scores.scores.shape[3] > 1:
        shares = np.exp(scores.scores[cells][:, 1:].astype(np.float64) - labels[:, None])
        result[..., 1:][cells] = spans[:, None] * shares
    return result


def label_sums(scores: SpanScores, semiring: Semiring) -> Doubles:
    """The "or" of all labels of a span but the empty one. [S]"""
    packed = scores.packed()[:, 1:].astype(np.float64)
    return semiring.any(packed.T) if packed.shape[1] else np.full(len(packed), -np.inf)


def inside(labels: Doubles, group: Group, semiring: Semiring) -> Inside:
    """Fills the recursion from the bottom up."""
    node, sequence = Grid(group, np.float64), Grid(group, np.float64)
    words = semiring.either(np.zeros(1), labels[group.cells(1)[0]])
    node.set(1, words)
    sequence.set(1, words)
    for width in range(2, group.longest + 1):
        cells, _ = group.cells(width)
        starts, active = cells.shape
        first = node.by_start[1:width, :starts, :active]
        rest = sequence.by_end[width - 1 : 0 : -1, width:, :active]
        inner = semiring.any(first + rest)
        complete = labels[cells] + inner
        node.set(width, complete)
        sequence.set(width, semiring.either(complete, inner))
    return Inside(node, sequence)


def totals(chart: Inside, labels: Doubles, group: Group, force_root: bool) -> Doubles:
    """The value of all trees of each sentence of the group."""
    members = np.arange(len(group))
    if not force_root:
        return np.asarray(chart.sequence.by_start[group.lengths, 0, members])
    labelled_word = labels[group.offsets]
    return np.where(group.lengths == 1, labelled_word, chart.node.by_start[group.lengths, 0, members])


def _outside(chart: Inside, labels: Doubles, group: Group, force_root: bool, spans: Doubles) -> None:
    """Writes the probability that a span has any label at all, from the top down.

    Outside values are of everything around an item, divided by Z: inside + outside is the item's log probability.
    """
    total = totals(chart, labels, group, force_root)
    if np.isneginf(total).any():
        raise ValueError("the root must have a label, and there is none")
    around_inner = Grid(group, np.float64, fill=-np.inf)
    for width in range(group.longest, 0, -1):
        cells, real = group.cells(width)
        starts, active = cells.shape
        wider = slice(width + 1, None)
        rest = slice(1, group.longest - width + 1)
        as_last = around_inner.by_end[wider, width:, :active] + chart.node.by_end[rest, :starts, :active]
        as_first = (
            around_inner.by_start[wider, :starts, :active]
            + chart.sequence.by_start[rest, width : group.longest + 1, :active]
        )
        top = np.full((1, starts, active), -np.inf)
        top[0, 0] = np.where(group.lengths[:active] == width, -total[:active], -np.inf)
        around_node = log_sum(np.concatenate([top, as_last, as_first]))
        if force_root:
            top[:] = -np.inf
        around_sequence = log_sum(np.concatenate([top, as_last]))
        label = labels[cells]
        around_inner.set(width, np.logaddexp(around_sequence, around_node + label))
        node = label if width == 1 else chart.node.by_start[width, :starts, :active]
        spans[cells[real]] = np.exp(around_node + node)[real]
