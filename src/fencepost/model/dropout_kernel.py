"""Shared dropout in one launch: the mask is drawn where it is used, and drawn again the same for the gradient."""

# mypy: disable-error-code="misc, no-untyped-def, no-untyped-call"

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

_BLOCK = 1024


def apply_mask(x: Tensor, sequence: Tensor, p: float, seed: int) -> Tensor:
    """x [blocks, R, d] times a mask that depends on (seed, block, sequence of the row, column) alone."""
    blocks, rows, size = x.shape
    x = x.contiguous()
    result = torch.empty_like(x)
    grid = (rows, blocks, triton.cdiv(size, _BLOCK))
    _apply_mask[grid](x, result, sequence, p, seed, rows, size, BLOCK=_BLOCK, num_warps=4)
    return result


@triton.jit(do_not_specialize=["seed", "rows"])
def _apply_mask(x, result, sequence, p, seed, rows, size, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    block = tl.program_id(1)
    column = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    there = column < size
    place = (block * rows + row).to(tl.int64) * size + column
    draw = (block * rows + tl.load(sequence + row).to(tl.int32)) * size + column  # there are fewer sequences than rows
    kept = tl.rand(seed, draw) >= p
    value = tl.load(x + place, mask=there, other=0.0).to(tl.float32)
    tl.store(result + place, tl.where(kept, value / (1 - p), 0.0).to(result.dtype.element_ty), mask=there)
