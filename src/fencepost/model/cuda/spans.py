"""The hidden layer of the spans' scores (§2.3) in one launch.

There are far more spans than fenceposts, and each of torch's operations would write all of them to memory.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable


def span_hidden_in_one_launch(
    fenceposts: Tensor, starts: Tensor, ends: Tensor, bias: Tensor, norm: nn.LayerNorm
) -> Tensor:
    """``model.scorer.span_hidden`` by Triton's kernels, on any device."""
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
