"""Linear maps of vectors cut into blocks: one block is a dense matrix, two keep content and position apart."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn


class BlockDiagonal(nn.Module):
    """§3. c = [c^(c); c^(p)] = [W^(c) x^(c); W^(p) x^(p)], plus a bias b where asked.

    Blocks have an axis of their own, [blocks, R, inputs / blocks] -> [blocks, R, outputs / blocks], so that one batched
    product serves both halves; ``split_blocks`` and ``join_blocks`` convert to and from that form.
    Weights start as in torch's Linear, from U(-1/sqrt(n), 1/sqrt(n)) with n the inputs of a block.
    """

    def __init__(self, inputs: int, outputs: int, *, blocks: int = 2, bias: bool = False) -> None:
        super().__init__()
        self.blocks = blocks
        bound = 1 / math.sqrt(inputs // blocks)
        self.weight = nn.Parameter(torch.empty(blocks, inputs // blocks, outputs // blocks).uniform_(-bound, bound))
        self.bias = nn.Parameter(torch.empty(blocks, 1, outputs // blocks).uniform_(-bound, bound)) if bias else None

    def forward(self, x: Tensor) -> Tensor:
        return self.product(x) if self.bias is None else self.product(x) + self.bias

    def product(self, x: Tensor) -> Tensor:
        """W x, without the bias."""
        return torch.bmm(x.to(self.weight.dtype), self.weight)


class Dense(BlockDiagonal):
    """§2.2. c = W x, plus a bias b where asked: the block-diagonal map of a single block.

    [1, R, inputs] -> [1, R, outputs].
    """

    def __init__(self, inputs: int, outputs: int, *, bias: bool = False) -> None:
        super().__init__(inputs, outputs, blocks=1, bias=bias)


class Linear(nn.Linear):
    """torch's Linear, computed in the precision of its matrix: [..., inputs] -> [..., outputs]."""

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(x.to(self.weight.dtype))


def split_blocks(x: Tensor, blocks: int) -> Tensor:
    """[R, d] -> [blocks, R, d / blocks], a view."""
    return torch.unflatten(x, -1, (blocks, -1)).transpose(0, 1)


def join_blocks(x: Tensor) -> Tensor:
    """[blocks, R, d / blocks] -> [R, d]."""
    return x.transpose(0, 1).flatten(1)


def near_zero_(weight: Tensor) -> None:
    """Fills attention's weights from N(0, 0.01²), so that attention starts uniform and each layer near the identity.

    With Xavier's larger initial weights, eight layers of post-norm attention never predict any constituent.
    """
    with torch.no_grad():
        weight.normal_(std=0.01)


def xavier_(weight: Tensor) -> None:
    """Fills weights from N(0, 2 / (inputs + outputs)), with which the few layers over letters learn much faster."""
    with torch.no_grad():
        weight.normal_(std=math.sqrt(2 / (weight.shape[-2] + weight.shape[-1])))
