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
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.chart import packing
from fencepost.chart.groups import Grid, Group, groups
from fencepost.chart.packing import Ints
from fencepost.chart.scores import Floats, SpanScores

Doubles = npt.NDArray[np.float64]


class Semiring(NamedTuple):
    """What "or" means: for two values, and over the first axis of an array."""

    either: Callable[[Doubles, Doubles], Doubles]
    any: Callable[[Doubles], Doubles]


class Inside(NamedTuple):
    """The values of the recursion for a group of sentences."""

    node: Grid
    sequence: Grid


def log_sum(values: Doubles) -> Doubles:
    """log(sum(exp(values))) over the first axis; -inf if all values are -inf."""
    peak = values.max(axis=0, initial=-np.inf)
    peak[np.isneginf(peak)] = 0.0
    shifted = values - peak
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(np.exp(shifted, out=shifted).sum(axis=0)) + peak)


LOG = Semiring(np.logaddexp, log_sum)
MAX = Semiring(np.maximum, lambda values: np.asarray(values.max(axis=0, initial=-np.inf)))


def log_partition(scores: SpanScores, force_root: bool = False) -> Doubles:
    """log Z of each sentence: the logarithm of the sum of exp(score) over its trees. [B]"""
    labels = label_sums(scores, LOG)
    result = np.zeros(len(scores.lengths))
    for group in groups(scores.lengths):
        result[group.sentences] = totals(inside(labels, group, LOG), labels, group, force_root)
    return result


@dataclass(frozen=True, eq=False)
class Posterior:
    """Log Z and the probabilities of spans, over all trees of each sentence.

    The probabilities of single labels are computed on request: all of them would take twice the memory of the scores.
    """

    scores: SpanScores
    temperature: float
    log_z: Doubles  # [B]
    labels: Doubles  # [S] label(i, j)
    spans: Doubles  # [S] the probability that a span has any label at all

    def of_spans(self, sentence: int, starts: Ints, ends: Ints) -> Doubles:
        """The probability of each label over some spans of a sentence; 0 for the empty label. [C, L]"""
        lengths = self.scores.lengths
        cells = packing.offsets(lengths)[sentence] + packing.cell_index(lengths[sentence], starts, ends)
        return self.of_cells(cells, self.scores.scores[sentence, starts, ends])

    def of_cells(self, cells: Ints | slice, scores: Floats) -> Doubles:
        """The probability of each label over some packed cells, from their label scores. [C, L]"""
        result = np.zeros(scores.shape)
        shares = np.exp(scores[:, 1:].astype(np.float64) / self.temperature - self.labels[cells, None])
        result[:, 1:] = self.spans[cells, None] * shares
        return result


def posterior(scores: SpanScores, force_root: bool = False, temperature: float = 1.0) -> Posterior:
    """Log Z and probabilities of the scores divided by the temperature."""
    labels = label_sums(scores, LOG, temperature)
    log_z, spans = span_marginals(labels, scores.lengths, force_root)
    return Posterior(scores, temperature, log_z, labels, spans)


def span_marginals(labels: Doubles, lengths: Ints, force_root: bool = False) -> tuple[Doubles, Doubles]:
    """log Z of each sentence [B], and the probability that a span has any label at all [S], from label(i, j) [S]."""
    log_z, spans = np.zeros(len(lengths)), np.zeros_like(labels)
    for group in groups(lengths):
        chart = inside(labels, group, LOG)
        log_z[group.sentences] = total = totals(chart, labels, group, force_root)
        _outside(chart, total, labels, group, force_root, spans)
    return log_z, spans


def marginals(scores: SpanScores, force_root: bool = False) -> Doubles:
    """The probability of each labelled span, shaped as the scores; 0 for the empty label. [B, N+1, N+1, L]"""
    over_trees = posterior(scores, force_root)
    sentences, starts, ends = packing.cells(scores.lengths)
    result = np.zeros(scores.scores.shape)
    for here, piece in scores.pieces():
        result[sentences[here], starts[here], ends[here]] = over_trees.of_cells(here, piece)
    return result


def label_sums(scores: SpanScores, semiring: Semiring, temperature: float = 1.0) -> Doubles:
    """The "or" of all labels of a span but the empty one. [S]"""
    result = np.zeros(int(packing.span_count(scores.lengths).sum()))
    for here, piece in scores.pieces():
        result[here] = semiring.any(np.divide(piece[:, 1:].T, temperature, dtype=np.float64, order="C"))
    return result


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


def _outside(chart: Inside, total: Doubles, labels: Doubles, group: Group, force_root: bool, spans: Doubles) -> None:
    """Writes the probability that a span has any label at all, from the top down.

    An outside value covers everything around an item, divided by Z: inside + outside is the item's log probability.
    """
    if np.isneginf(total).any():
        raise ValueError("the root must have a label, but no label has a score above -inf")
    around_inner = Grid(group, np.float64, fill=-np.inf)
    for width in range(group.longest, 0, -1):
        cells, real = group.cells(width)
        starts, active = cells.shape
        wider = slice(width + 1, None)
        rest = slice(1, group.longest - width + 1)
        as_last = log_sum(around_inner.by_end[wider, width:, :active] + chart.node.by_end[rest, :starts, :active])
        as_first = log_sum(
            around_inner.by_start[wider, :starts, :active]
            + chart.sequence.by_start[rest, width : group.longest + 1, :active]
        )
        top = np.full((starts, active), -np.inf)
        top[0] = np.where(group.lengths[:active] == width, -total[:active], -np.inf)
        last_or_top = np.logaddexp(top, as_last)
        around_node = np.logaddexp(last_or_top, as_first)
        around_sequence = as_last if force_root else last_or_top
        label = labels[cells]
        around_inner.set(width, np.logaddexp(around_sequence, around_node + label))
        node = label if width == 1 else chart.node.by_start[width, :starts, :active]
        spans[cells[real]] = np.exp(around_node + node)[real]
