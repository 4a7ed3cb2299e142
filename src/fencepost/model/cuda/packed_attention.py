"""Attention within sequences laid end to end, without padding: torch's autograd around Triton kernels on CUDA."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fencepost.model.heads import HeadSizes, roles
from fencepost.model.plan import Reach


def attend_packed(
    parts: Sequence[Tensor],
    sizes: HeadSizes,
    starts: Tensor,
    dropout: float,
    reach: Reach,
    distances: Tensor | None = None,
) -> Tensor:
    """§2.2.1. Softmax(Q K^T / sqrt(d_k)) V for each sequence and head.

    ``parts``, in the form that ``roles`` takes -> [blocks, R, heads * d_v / blocks]. ``starts`` [B + 1], int32: the
    first row of each sequence, then R. Dropout is applied to the probabilities. ``distances`` [heads, 2 * D + 1], fp32:
    what to add to the scaled q · k of rows at distances from -D to D; greater distances count as D. It gets no
    gradient.
    """
    average: Tensor = _AttendPacked.apply(sizes, starts, dropout, reach, distances, *parts)  # type: ignore[no-untyped-call]
    return average


class _AttendPacked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        sizes: HeadSizes,
        starts: Tensor,
        dropout: float,
        reach: Reach,
        distances: Tensor | None,
        *parts: Tensor,
    ) -> Tensor:
        from fencepost.model.cuda import attention_kernels
        from fencepost.model.cuda.lstm_kernels import precision_of

        parts = tuple(part.contiguous() for part in parts)
        noise = _noise(parts[0], sizes) if dropout > 0 else None
        how = dropout, reach, precision_of(parts[0])
        average, sums = attention_kernels.forward(roles(parts, sizes), sizes, starts, noise, distances, *how)
        ctx.save_for_backward(starts, noise, distances, average, sums, *parts)
        ctx.sizes, ctx.how = sizes, how
        return average

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_average: Tensor) -> tuple[Tensor | None, ...]:
        from fencepost.model.cuda import attention_kernels

        starts, noise, distances, average, sums, *parts = ctx.saved_tensors
        sizes: HeadSizes = ctx.sizes
        d_parts = [torch.empty_like(part) for part in parts]
        rows, d_rows = roles(parts, sizes), roles(d_parts, sizes)
        given = starts, noise, distances, average, sums
        attention_kernels.backward(d_average.contiguous(), rows, d_rows, sizes, *given, *ctx.how)
        return None, None, None, None, None, *d_parts


def _noise(part: Tensor, sizes: HeadSizes) -> Tensor:
    """A random number for each row of each head. torch's generator draws new ones each time a CUDA graph runs."""
    shape = sizes.heads, part.shape[1]
    return torch.randint(-(2**31), 2**31, shape, dtype=torch.int32, device=part.device)
