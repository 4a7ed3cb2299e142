"""Decoding and sums over trees on the device where the scores are, for charts packed as ``chart.layout`` says.

On CUDA with Triton one kernel does it all and the host never waits; elsewhere torch works diagonal by diagonal.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from fencepost.model import diagonals
from fencepost.model.has_triton import has_triton


def span_counts(lengths: Tensor) -> Tensor:
    """The number of spans of each sentence. [B]"""
    return lengths * (lengths + 1) // 2


def root_cells(lengths: Tensor) -> Tensor:
    """The index of the cell over all words of each sentence. [B]"""
    return span_counts(lengths).cumsum(0) - 1


def sum_by_sentence(values: Tensor, lengths: Tensor) -> Tensor:
    """Adds the values [S] of the cells of each sentence. [B]"""
    return values.new_zeros(len(lengths)).index_add(0, sentences_of_cells(lengths, len(values)), values)


@torch.no_grad()
def best_labels(scores: Tensor, lengths: Tensor, force_root: bool = False) -> tuple[Tensor, Tensor]:
    """The best score [S] and label [S] of every cell, from scores [S, L]: ``SpanScores.reduce`` on the device."""
    best, labels = scores.max(dim=1)
    if force_root:
        label_roots_(best, labels, scores[root_cells(lengths)], lengths)
    return best.to(torch.promote_types(best.dtype, torch.float32)), labels.int()


def label_roots_(best: Tensor, labels: Tensor, root_scores: Tensor, lengths: Tensor) -> None:
    """Gives the cells over all words the best of their labels [B, L] that is not the empty one."""
    roots = root_cells(lengths)
    root_best, root_labels = root_scores[:, 1:].max(dim=1)
    best.index_copy_(0, roots, root_best)
    labels.index_copy_(0, roots, root_labels + 1)


@torch.no_grad()
def decode(best_scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The best binary tree of each sentence: its score [B], and which of the cells [S] are in it.

    The same trees as ``chart.cky`` gives, bit for bit: of equal splits the leftmost wins.
    """
    if _has_kernels(best_scores):
        from fencepost.model import kernels

        return kernels.best_trees(best_scores, _offsets(lengths), lengths)
    return diagonals.best_trees(best_scores, lengths)


def inside(label_scores: Tensor, lengths: Tensor, force_root: bool = False) -> tuple[Tensor, Tensor]:
    """log Z of each sentence [B], and the probability that each span is a constituent [S].

    ``label_scores`` [S] are the log-sums over the labels of a span, the empty one left out. Each n-ary tree counts
    once, as in ``chart.inside``. log Z can be differentiated; the probabilities are its gradient.
    """
    total, marginals = _Inside.apply(label_scores, lengths, force_root)  # type: ignore[no-untyped-call]
    return total, marginals


@torch.no_grad()
def marginals(scores: Tensor, lengths: Tensor, force_root: bool = False) -> tuple[Tensor, Tensor]:
    """The probability of every label over every span [S, L], 0 for the empty label; and log Z [B]."""
    total, spans = inside(scores[:, 1:].logsumexp(dim=1), lengths, force_root)
    probable = torch.zeros_like(scores)
    probable[:, 1:] = scores[:, 1:].softmax(dim=1) * spans[:, None]
    return probable, total


class _Inside(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, labels: Tensor, lengths: Tensor, force_root: bool) -> tuple[Tensor, Tensor]:
        if _has_kernels(labels):
            from fencepost.model import kernels

            total, marginals = kernels.inside_outside(labels, _offsets(lengths), lengths, force_root)
        else:
            total, marginals = diagonals.inside_outside(labels, lengths, force_root)
        ctx.save_for_backward(marginals, lengths)
        ctx.mark_non_differentiable(marginals)
        return total, marginals

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        marginals, lengths = ctx.saved_tensors
        return gradients[0][sentences_of_cells(lengths, len(marginals))] * marginals, None, None


def _has_kernels(scores: Tensor) -> bool:
    return scores.is_cuda and has_triton()


def _offsets(lengths: Tensor) -> Tensor:
    counts = span_counts(lengths)
    return counts.cumsum(0) - counts


def sentences_of_cells(lengths: Tensor, cells: int) -> Tensor:
    """The sentence of each cell. Given their number, the host need not ask the device for it."""
    numbers = torch.arange(len(lengths), device=lengths.device)
    return numbers.repeat_interleave(span_counts(lengths), output_size=cells)
