"""Attention within sequences laid end to end, by kernels that need no padding: on CUDA, with Triton."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Final

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fencepost.model.plan import Reach

OLDEST: Final = (8, 0)  # the compute capability that Triton asks for
LARGEST: Final = 512  # bytes of a head, of which a GPU's shared memory holds some tiles
TYPES: Final = (torch.bfloat16, torch.float16, torch.float32)


def serves(query_size: int, value_size: int, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether there are such kernels for these sizes of a head."""
    return (
        device.type == "cuda"
        and dtype in TYPES
        and max(query_size, value_size) * dtype.itemsize <= LARGEST
        and find_spec("triton") is not None
        and torch.cuda.get_device_capability(device) >= OLDEST
    )


def attend_packed(query: Tensor, key: Tensor, value: Tensor, starts: Tensor, dropout: float, reach: Reach) -> Tensor:
    """§2.2.1. Softmax(Q K^T / sqrt(d_k)) V for each sequence and head, wherever the rows are.

    [R, heads, d_k] twice and [R, heads, d_v] -> [R, heads, d_v]. ``starts`` [B + 1], int32: the first row of each
    sequence, and R. Dropout falls on the probabilities.
    """
    average: Tensor = _AttendPacked.apply(query, key, value, starts, dropout, reach)  # type: ignore[no-untyped-call]
    return average


class _AttendPacked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, query: Tensor, key: Tensor, value: Tensor, starts: Tensor, dropout: float, reach: Reach
    ) -> Tensor:
        from fencepost.model import attention_kernels

        query, key, value = _dense(query), _dense(key), _dense(value)
        noise = _noise(query) if dropout > 0 else None
        average, sums = attention_kernels.forward(query, key, value, starts, noise, dropout, reach)
        ctx.save_for_backward(query, key, value, starts, noise, average, sums)
        ctx.how = dropout, reach
        return average

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_average: Tensor) -> tuple[Tensor | None, ...]:
        from fencepost.model import attention_kernels

        gradients = attention_kernels.backward(_dense(d_average), *ctx.saved_tensors, *ctx.how)
        return *gradients, None, None, None


def _noise(query: Tensor) -> Tensor:
    """A random number for each row of each head, by torch's generator, which recordings draw from anew in each run."""
    rows, heads, _ = query.shape
    return torch.randint(-(2**31), 2**31, (heads, rows), dtype=torch.int32, device=query.device)


def _dense(rows: Tensor) -> Tensor:
    """With the numbers of a head side by side, as kernels read them."""
    return rows if rows.stride(-1) == 1 else rows.contiguous()
