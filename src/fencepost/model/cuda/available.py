"""Decides whether an operation runs as a kernel or a CUDA graph. Nothing else in the package asks about Triton.

There is one function for each operation. If it returns False, the caller computes the same thing without a kernel.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Final

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from fencepost.model.dropout import SharedDropout
    from fencepost.model.heads import HeadSizes

OLDEST: Final = (8, 0)  # the lowest compute capability that Triton supports
LARGEST: Final = 512  # bytes of a head: a GPU's shared memory has to hold some tiles of it
ATTENTION_TYPES: Final = (torch.bfloat16, torch.float16, torch.float32)
UNITS_OF_TENSOR_CORES: Final = 16


@cache
def has_triton() -> bool:
    return find_spec("triton") is not None


def kernels(device: torch.device) -> bool:
    """Kernels of any kind: they need a GPU that Triton supports, and Triton."""
    return device.type == "cuda" and has_triton() and torch.cuda.get_device_capability(device) >= OLDEST


def attention(sizes: HeadSizes, dtype: torch.dtype, device: torch.device) -> bool:
    """Attention within sequences laid end to end, by heads of these sizes: ``packed_attention``."""
    suitable = dtype in ATTENTION_TYPES and max(sizes.d_k, sizes.d_v) * dtype.itemsize <= LARGEST
    return suitable and kernels(device)


def layer_sums(x: Tensor, change: Tensor, dropout: SharedDropout) -> bool:
    """Sums, norms, ReLU and dropout between the products of a layer: ``layer_sums``.

    The kernels compute in fp32. Their dropout mask is the same for all rows of a sequence.
    """
    suitable = torch.float64 not in (x.dtype, change.dtype) and (dropout.shared or not dropout.drops)
    return suitable and kernels(x.device)


def letters(lstm: nn.LSTM, rows: Tensor) -> bool:
    """The last states of an LSTM over the letters of words: ``letters``."""
    suitable = rows.dtype != torch.float64 and lstm.hidden_size % UNITS_OF_TENSOR_CORES == 0
    return suitable and kernels(rows.device)


def spans(fenceposts: Tensor) -> bool:
    """The hidden layer of the spans' scores: ``spans``.

    The kernels add up the gradients of a fencepost in any order, so deterministic training doesn't use them.
    """
    suitable = fenceposts.dtype == torch.float32 and not torch.are_deterministic_algorithms_enabled()
    return suitable and kernels(fenceposts.device)


def charts(scores: Tensor) -> bool:
    """The best trees and sums over trees: ``chart_kernels``."""
    return kernels(scores.device)


def graphs(device: torch.device, precision: str) -> bool:
    """Whole layers as CUDA graphs, in training: ``graphs``. Only layers in bf16 are recorded."""
    return device.type == "cuda" and precision == "bf16"
