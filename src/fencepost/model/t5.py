"""The numbers that T5 adds to q · k, without the square of all pairs: a stranger's encoder may have far distances."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


@torch.no_grad()
def by_distance(attention: Any) -> Tensor:
    """For every distance from the farthest before to the farthest after: [heads, distances]."""
    size = attention.relative_attention_max_distance + 1
    before = attention.compute_bias(size, 1)[0, :, :, 0]
    after = attention.compute_bias(1, size)[0, :, 0]
    return torch.cat([before.flip(1), after[:, 1:]], dim=1)
