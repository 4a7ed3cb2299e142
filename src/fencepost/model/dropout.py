"""Dropout whose mask is shared by all rows of a sequence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.nn.functional as F
from torch import Tensor, nn

if TYPE_CHECKING:
    from fencepost.model.parser_model import Layout


class SharedDropout(nn.Module):
    """Appendix, Table 8. x_t -> x_t * m / (1 - p), where each number of m is 0 with probability p, else 1.

    One mask m serves all rows t of a sequence where ``shared``, as in the authors' programs; each row has its own
    otherwise. [..., R, d] -> [..., R, d].
    """

    def __init__(self, p: float, shared: bool) -> None:
        super().__init__()
        self.p = p
        self.shared = shared

    def forward(self, x: Tensor, layout: Layout) -> Tensor:
        if not self.training or self.p == 0.0:
            return x
        if not self.shared:
            return F.dropout(x, self.p)
        mask = F.dropout(x.new_ones(*x.shape[:-2], layout.count, x.shape[-1]), self.p)
        return x * mask.index_select(-2, layout.sequence)
