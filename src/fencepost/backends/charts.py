"""The best trees and sums over trees, on the device that has the scores: with kernels on a GPU, with ``chart.cky`` and
``chart.inside`` on the host. Charts are packed as in ``chart.packing``.

On a GPU the host never waits for the answer. Without Triton, charts are copied from the GPU to the host and back.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fencepost.chart import cky
from fencepost.chart.inside import span_marginals
from fencepost.model.cells import first_cells, sentences_of_cells
from fencepost.model.cuda import available


@torch.no_grad()
def decode(best_scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The best binary tree of each sentence: its score [B], and which of the cells [S] are in it.

    ``best_scores`` [S] has the score of each span's best label. The leftmost of equal splits wins, on every device.
    """
    if available.charts(best_scores):
        from fencepost.model.cuda import chart_kernels  # imports Triton, which isn't installed everywhere

        return chart_kernels.best_trees(best_scores, first_cells(lengths), lengths)
    with _diverged_scores_allowed():
        scores, marked = cky.mark(best_scores.detach().cpu().numpy(), lengths.cpu().numpy())
    return torch.from_numpy(scores).to(best_scores.device), torch.from_numpy(marked).to(best_scores.device)


def inside(label_scores: Tensor, lengths: Tensor, force_root: bool = False) -> tuple[Tensor, Tensor]:
    """log Z of each sentence [B], and the probability that each span is a constituent [S].

    ``label_scores`` [S] has the log-sum over the labels of each span, without the empty one. Each n-ary tree counts
    once, as in ``chart.inside``. log Z can be differentiated; the probabilities are its gradient.
    """
    total, spans = _Inside.apply(label_scores, lengths, force_root)  # type: ignore[no-untyped-call]
    return total, spans


@torch.no_grad()
def marginals(scores: Tensor, lengths: Tensor, force_root: bool = False) -> tuple[Tensor, Tensor]:
    """The probability of every label over every span [S, L], 0 for the empty label; and log Z [B]."""
    total, spans = inside(scores[:, 1:].logsumexp(dim=1), lengths, force_root)
    probabilities = torch.zeros_like(scores)
    probabilities[:, 1:] = scores[:, 1:].softmax(dim=1) * spans[:, None]
    return probabilities, total


class _Inside(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, labels: Tensor, lengths: Tensor, force_root: bool) -> tuple[Tensor, Tensor]:
        if available.charts(labels):
            from fencepost.model.cuda import chart_kernels  # imports Triton, which isn't installed everywhere

            total, spans = chart_kernels.inside_outside(labels, first_cells(lengths), lengths, force_root)
        else:
            total, spans = _inside_on_host(labels, lengths, force_root)
        ctx.save_for_backward(spans, lengths)
        ctx.mark_non_differentiable(spans)
        return total, spans

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        spans, lengths = ctx.saved_tensors
        return gradients[0][sentences_of_cells(lengths, len(spans))] * spans, None, None


def _inside_on_host(labels: Tensor, lengths: Tensor, force_root: bool) -> tuple[Tensor, Tensor]:
    with _diverged_scores_allowed():
        total, spans = span_marginals(labels.detach().double().cpu().numpy(), lengths.cpu().numpy(), force_root)
    return torch.from_numpy(total).to(labels), torch.from_numpy(spans).to(labels)


def _diverged_scores_allowed() -> np.errstate:
    """Training that diverged must reach the check that reports it, without a numpy warning on the way."""
    return np.errstate(invalid="ignore", over="ignore")
