"""The operations between the matrix products of a layer (sums, norms, biases, ReLU, dropout) in few launches.

torch needs about twenty kernels per layer, each of which reads and writes all rows. Here there are three, and three for
their gradients, besides dropout masks and sums of a few hundred rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

if TYPE_CHECKING:
    from fencepost.model.dropout import SharedDropout
    from fencepost.model.sequences import Sequences


def add_and_norm(
    x: Tensor, change: Tensor, bias: Tensor | None, dropout: SharedDropout, layout: Sequences, norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """``ResidualNorm`` in one launch: [R, d_model] in the precision of x, and the same in that of ``change``."""
    mask = _mask(dropout, x.shape, x.device, layout)
    return add_and_norm_in_one_launch(x, change, bias, mask, layout.sequence, norm)


def relu_and_drop(h: Tensor, bias: Tensor, dropout: SharedDropout, layout: Sequences) -> Tensor:
    """Dropout(relu(h + b)) in one launch: [blocks, R, size] -> the same."""
    mask = _mask(dropout, h.shape, h.device, layout)
    return relu_and_drop_in_one_launch(h, bias, mask, layout.sequence, 1.0 if mask is None else 1 / (1 - dropout.p))


def add_and_norm_in_one_launch(
    x: Tensor, change: Tensor, bias: Tensor | None, mask: Tensor | None, sequence: Tensor, norm: nn.LayerNorm
) -> tuple[Tensor, Tensor]:
    """``ResidualNorm`` by Triton's kernel, on any device, with a dropout mask [B, d_model]."""
    bias = None if bias is None else bias.contiguous()
    z, low = _AddAndNorm.apply(x, change, bias, mask, sequence, norm.weight, norm.bias, norm.eps)  # type: ignore[no-untyped-call]
    return z, z if low is None else low


def relu_and_drop_in_one_launch(h: Tensor, bias: Tensor, mask: Tensor | None, sequence: Tensor, scale: float) -> Tensor:
    """``relu_and_drop`` by Triton's kernel. The mask [blocks, B, size] is 0 or ``scale``, which is 1 without a mask."""
    dropped: Tensor = _ReluAndDrop.apply(h, bias.contiguous(), mask, sequence, scale)  # type: ignore[no-untyped-call]
    return dropped


class _AddAndNorm(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        change: Tensor,
        bias: Tensor | None,
        mask: Tensor | None,
        sequence: Tensor,
        gamma: Tensor,
        beta: Tensor,
        eps: float,
    ) -> tuple[Tensor, Tensor | None]:
        from fencepost.model.cuda import layer_kernels

        x, change = x.contiguous(), change.contiguous()
        ctx.save_for_backward(x, change, bias, mask, sequence, gamma)
        ctx.eps = eps
        ctx.set_materialize_grads(False)  # the copy of the last layer is not read and has no gradient
        return layer_kernels.add_and_norm(x, change, bias, mask, sequence, (gamma, beta), eps)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_z: Tensor | None, d_low: Tensor | None) -> tuple[Tensor | None, ...]:
        from fencepost.model.cuda import layer_kernels

        x, change, bias, mask, sequence, gamma = ctx.saved_tensors
        d_z = torch.zeros_like(x) if d_z is None else d_z.contiguous()
        d_low = None if d_low is None else d_low.contiguous()
        d_x, d_change, d_bias, d_gamma, d_beta = layer_kernels.add_and_norm_backward(
            d_z, d_low, x, change, bias, mask, sequence, gamma, ctx.eps
        )
        d_bias_or_none = None if bias is None else d_bias.view_as(bias).to(bias.dtype)
        return d_x, d_change, d_bias_or_none, None, None, d_gamma, d_beta, None


class _ReluAndDrop(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, h: Tensor, bias: Tensor, mask: Tensor | None, sequence: Tensor, scale: float) -> Tensor:
        from fencepost.model.cuda import layer_kernels

        dropped = layer_kernels.relu_and_drop(h.contiguous(), bias, mask, sequence)
        ctx.save_for_backward(dropped, bias)
        ctx.scale = scale
        return dropped

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_dropped: Tensor) -> tuple[Tensor | None, ...]:
        from fencepost.model.cuda import layer_kernels

        dropped, bias = ctx.saved_tensors
        d_h, d_bias = layer_kernels.relu_and_drop_backward(d_dropped.contiguous(), dropped, ctx.scale)
        return d_h, d_bias.view_as(bias).to(bias.dtype), None, None, None


def _mask(dropout: SharedDropout, shape: torch.Size, device: torch.device, layout: Sequences) -> Tensor | None:
    return dropout.mask(shape, layout, torch.float32, device) if dropout.drops else None
