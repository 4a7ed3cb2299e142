"""Dropout whose mask is shared by all rows of a sequence."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import torch
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
        if x.is_cuda and find_spec("triton") is not None:
            dropped: Tensor = _InOneLaunch.apply(x, layout.sequence, self.p)  # type: ignore[no-untyped-call]
            return dropped
        mask = F.dropout(x.new_ones(*x.shape[:-2], layout.count, x.shape[-1]), self.p)
        return x * mask.index_select(-2, layout.sequence)


class _InOneLaunch(torch.autograd.Function):
    """The same by a kernel that keeps no mask: a step has dozens of these, and launches are what it waits for."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, sequence: Tensor, p: float) -> Tensor:
        ctx.save_for_backward(sequence)
        ctx.p = p
        ctx.seed = int(torch.randint(2**31, ()))  # from the host's generator, which a checkpoint remembers
        return _InOneLaunch.masked(ctx, x)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None]:
        return _InOneLaunch.masked(ctx, gradients[0]), None, None

    @staticmethod
    def masked(ctx: Any, x: Tensor) -> Tensor:
        from fencepost.model.dropout_kernel import apply_mask

        (sequence,) = ctx.saved_tensors
        return apply_mask(x.reshape(-1, *x.shape[-2:]), sequence, ctx.p, ctx.seed).view(x.shape)
