"""Attention within sequences laid end to end, by one kernel that needs no padding: bf16 on CUDA alone."""

from __future__ import annotations

from typing import Final

import torch
from torch import Tensor

OLDEST: Final = (8, 0)  # the compute capability that the kernel asks for
# Not every build of torch has the kernel, and old ones can't say whether they do.
_ask = getattr(torch.backends.cuda, "is_flash_attention_available", None)
BUILT: Final = _ask is not None and _ask()


def serves(query_size: int, value_size: int, dtype: torch.dtype, device: torch.device) -> bool:
    """Whether there is such a kernel for these sizes of a head. Its gradients differ from run to run in their last
    bits, so that deterministic training goes without it.
    """
    return (
        BUILT
        and device.type == "cuda"
        and dtype in (torch.bfloat16, torch.float16)
        and query_size == value_size
        and query_size % 8 == 0
        and query_size <= 128
        and not torch.are_deterministic_algorithms_enabled()
        and torch.cuda.get_device_capability(device) >= OLDEST
    )


def attend_packed(
    query: Tensor, key: Tensor, value: Tensor, starts: Tensor, longest: int, dropout: float, window: int | None = None
) -> Tensor:
    """§2.2.1. Softmax(Q K^T / sqrt(d_k)) V for each sequence and head: three of [R, heads, d] -> [R, heads, d].

    ``starts`` [B + 1], int32: the first row of each sequence, and R. No sequence has more than ``longest`` rows.
    ``window``: the greatest distance that attention reaches within a sequence.
    """
    # scaled_dot_product_attention runs this very kernel, but gives no way to say where sequences start.
    answers = torch.ops.aten._flash_attention_forward(
        query,
        key,
        value,
        starts,
        starts,
        longest,
        longest,
        dropout,
        False,
        False,
        window_size_left=window,
        window_size_right=window,
    )
    average: Tensor = answers[0]
    return average
