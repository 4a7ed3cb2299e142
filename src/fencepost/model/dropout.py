"""Dropout whose mask is shared by all rows of a sequence."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    from fencepost.model.sequences import Sequences


class SharedDropout(nn.Module):
    """Appendix, Table 8. x_t -> x_t * m / (1 - p), where each number of m is 0 with probability p, else 1.

    If ``shared``, one mask m serves all rows t of a sequence, as in the authors' programs; otherwise each row has its
    own. [..., R, d] -> [..., R, d].
    """

    def __init__(self, p: float, shared: bool) -> None:
        super().__init__()
        self.p = p
        self.shared = shared

    def forward(self, x: Tensor, layout: Sequences) -> Tensor:
        if not self.drops:
            return x
        if not self.shared:
            return F.dropout(x, self.p)
        return x * self.mask(x.shape, layout, x.dtype, x.device).index_select(-2, layout.sequence)

    @property
    def drops(self) -> bool:
        return self.training and self.p > 0.0

    def mask(self, shape: torch.Size, layout: Sequences, dtype: torch.dtype, device: torch.device) -> Tensor:
        """m / (1 - p) of each of B sequences, for rows of this shape: [..., R, d] -> [..., B, d]."""
        return F.dropout(_one(dtype, device).expand(*shape[:-2], layout.count, shape[-1]), self.p)


@lru_cache
def _one(dtype: torch.dtype, device: torch.device) -> Tensor:
    return torch.ones((), dtype=dtype, device=device)
