"""Position embeddings, and how they enter the encoder."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class LearnedPositions(nn.Module):
    """§2.2. A learned table of vectors p_t, one for each position t. [R] -> [R, size].

    Positions beyond the table read its last row: a sentence longer than the table is still parsed, if less well.
    The table starts from N(0, 1), as torch's embeddings do.
    """

    def __init__(self, max_length: int, size: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.randn(max_length, size))

    def forward(self, position: Tensor) -> Tensor:
        return F.embedding(position.clamp(max=len(self.table) - 1), self.table)


class SinusoidalPositions(nn.Module):
    """Appendix (Vaswani et al. 2017, §3.5). [R] -> [R, size], for positions of any value.

    p_t[2k] = sin(t / 10000^(2k / size)), p_t[2k + 1] = cos(t / 10000^(2k / size)).
    """

    frequency: Tensor  # [size / 2]

    def __init__(self, size: int) -> None:
        super().__init__()
        frequency = torch.exp(torch.arange(0, size, 2) * (-math.log(10000) / size))
        self.register_buffer("frequency", frequency, persistent=False)

    def forward(self, position: Tensor) -> Tensor:
        angle = position[:, None] * self.frequency
        return torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)


def added(content: Tensor, position: Tensor) -> Tensor:
    """§2.2: z_t = w_t + m_t + p_t. [R, d_model] and [R, d_model] -> [R, d_model]."""
    return content + position


def concatenated(content: Tensor, position: Tensor) -> Tensor:
    """§3: z_t = [w_t + m_t; p_t]. [R, d_model / 2] and [R, d_model / 2] -> [R, d_model]."""
    return torch.cat([content.to(position.dtype), position], dim=-1)
