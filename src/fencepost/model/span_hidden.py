"""The hidden layer of the spans' scores in §2.3: s(i, j, ·) = M_2 relu(LayerNorm(M_1 v + c_1)) + c_2.

M_1 v is a difference between two projected fenceposts. There are far more spans than fenceposts, and torch writes all
of them down for each of its operations; on CUDA with Triton one launch takes all operations.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from fencepost.model.cuda.available import has_triton


def span_hidden(fenceposts: Tensor, starts: Tensor, ends: Tensor, bias: Tensor, norm: nn.LayerNorm) -> Tensor:
    """relu(LayerNorm(f_j - f_i + c_1)) of the spans (i, j), of fenceposts f = M_1 [y→; y←]: [F, H] -> [S, H]."""
    if _has_kernels(fenceposts):
        return span_hidden_in_one_launch(fenceposts, starts, ends, bias, norm)
    difference = fenceposts.index_select(0, ends) - fenceposts.index_select(0, starts)
    hidden: Tensor = norm(difference + bias).relu()
    return hidden


def span_hidden_in_one_launch(
    fenceposts: Tensor, starts: Tensor, ends: Tensor, bias: Tensor, norm: nn.LayerNorm
) -> Tensor:
    """``span_hidden`` by Triton's kernels, wherever the fenceposts are."""
    spans = (starts.contiguous(), ends.contiguous())
    hidden: Tensor = _SpanHidden.apply(fenceposts.contiguous(), bias, norm.weight, norm.bias, *spans, norm.eps)  # type: ignore[no-untyped-call]
    return hidden


class _SpanHidden(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        fenceposts: Tensor,
        bias: Tensor,
        weight: Tensor,
        beta: Tensor,
        starts: Tensor,
        ends: Tensor,
        eps: float,
    ) -> Tensor:
        from fencepost.model.cuda import span_kernels

        ctx.save_for_backward(fenceposts, bias, weight, beta, starts, ends)
        ctx.eps = eps
        return span_kernels.forward(fenceposts, bias, weight, beta, starts, ends, eps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_hidden: Tensor) -> tuple[Tensor | None, ...]:
        from fencepost.model.cuda import span_kernels

        inputs = (*ctx.saved_tensors, ctx.eps)
        gradients = span_kernels.backward(d_hidden.contiguous(), *inputs)
        return *gradients, None, None, None


def _has_kernels(fenceposts: Tensor) -> bool:
    """The kernels add up the gradients of a fencepost in any order, so that deterministic training goes without."""
    suitable = fenceposts.dtype == torch.float32 and not torch.are_deterministic_algorithms_enabled()
    return fenceposts.is_cuda and suitable and has_triton()
