"""Attention within sequences laid end to end, by kernels that need no padding: on CUDA, with Triton."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fencepost.model.has_triton import has_triton
from fencepost.model.plan import Reach

OLDEST: Final = (8, 0)  # the compute capability that Triton asks for
LARGEST: Final = 512  # bytes of a head, of which a GPU's shared memory holds some tiles
TYPES: Final = (torch.bfloat16, torch.float16, torch.float32)


class HeadSizes(NamedTuple):
    """How many, how many numbers each has, and what q · k is divided by the root of: d_k unless another is given."""

    heads: int
    d_k: int
    d_v: int
    divisor: int | None = None

    @property
    def scale(self) -> float:
        """What q · k is multiplied by."""
        return 1 / math.sqrt(self.divisor or self.d_k)


class Roles(NamedTuple):
    """[blocks, R, heads * d / blocks] each, head by head."""

    query: Tensor
    key: Tensor
    value: Tensor


def roles(parts: Sequence[Tensor], sizes: HeadSizes) -> Roles:
    """Views of one, two or three tensors [blocks, R, columns], whose columns are queries, keys and values."""
    blocks = len(parts[0])
    assert sizes.d_k % blocks == sizes.d_v % blocks == 0, "a head has as many numbers in each block"
    widths = [sizes.heads * size // blocks for size in (sizes.d_k, sizes.d_k, sizes.d_v)]
    views: list[Tensor] = []
    for part in parts:
        first = 0
        while first < part.shape[-1]:
            width = widths[len(views)]
            views.append(part[..., first : first + width])
            first += width
    return Roles(*views)


def serves(sizes: HeadSizes, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether there are such kernels for heads of these sizes."""
    return (
        device.type == "cuda"
        and dtype in TYPES
        and max(sizes.d_k, sizes.d_v) * dtype.itemsize <= LARGEST
        and has_triton()
        and torch.cuda.get_device_capability(device) >= OLDEST
    )


def attend_packed(
    parts: Sequence[Tensor],
    sizes: HeadSizes,
    starts: Tensor,
    dropout: float,
    reach: Reach,
    distances: Tensor | None = None,
) -> Tensor:
    """§2.2.1. Softmax(Q K^T / sqrt(d_k)) V for each sequence and head, wherever the rows are.

    ``parts`` as ``roles`` takes them -> [blocks, R, heads * d_v / blocks]. ``starts`` [B + 1], int32: the first row of
    each sequence, and R. Dropout falls on the probabilities. ``distances`` [heads, 2 * D + 1], fp32, are added to the
    scaled q · k of rows that lie -D to D apart, or farther; they don't learn.
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
        from fencepost.model import attention_kernels
        from fencepost.model.lstm_kernels import precision_of

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
        from fencepost.model import attention_kernels

        starts, noise, distances, average, sums, *parts = ctx.saved_tensors
        sizes: HeadSizes = ctx.sizes
        d_parts = [torch.empty_like(part) for part in parts]
        rows, d_rows = roles(parts, sizes), roles(d_parts, sizes)
        given = starts, noise, distances, average, sums
        attention_kernels.backward(d_average.contiguous(), rows, d_rows, sizes, *given, *ctx.how)
        return None, None, None, None, None, *d_parts


def _noise(part: Tensor, sizes: HeadSizes) -> Tensor:
    """A random number for each row of each head, by torch's generator, which recordings draw from anew in each run."""
    shape = sizes.heads, part.shape[1]
    return torch.randint(-(2**31), 2**31, shape, dtype=torch.int32, device=part.device)
