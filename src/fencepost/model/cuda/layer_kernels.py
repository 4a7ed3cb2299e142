"""The operations between the matrix products of a layer, in Triton.

Rows of one sequence share a dropout mask m. Blocks of ``change`` and ``h`` have an axis of their own, as in
``BlockDiagonal``. Each program sums some of the rows for the gradients of biases and norms; then these sums are added.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

PROGRAMS = 512
VARYING = ["rows", "count"]  # these differ from batch to batch, without need to recompile


def add_and_norm(
    x: Tensor, change: Tensor, bias: Tensor | None, mask: Tensor | None, sequence: Tensor, norm: tuple[Tensor, Tensor],
    eps: float,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """LayerNorm(x + m (change + bias)): [R, d] and [blocks, R, d / blocks] -> [R, d], and a copy in change's type."""
    z = torch.empty_like(x)
    low = torch.empty_like(x, dtype=change.dtype) if change.dtype != x.dtype else None
    # Without a bias, mask or copy, the kernel gets another tensor in its place and doesn't touch it.
    inputs = (x, change, _or(bias, x), _or(mask, x), sequence, *norm)
    _add_and_norm[(len(x),)](*inputs, z, _or(low, z), len(x), eps, COPY=low is not None, **_form(change, bias, mask))
    return z, low


def add_and_norm_backward(
    d_z: Tensor, d_low: Tensor | None, x: Tensor, change: Tensor, bias: Tensor | None, mask: Tensor | None,
    sequence: Tensor, gamma: Tensor, eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """The gradients of x, change, bias, gamma and beta."""
    d_x, d_change = torch.empty_like(x), torch.empty_like(change)
    programs = min(PROGRAMS, len(x))
    sums = x.new_empty(programs, 3, x.shape[1])
    inputs = (d_z, _or(d_low, d_z), x, change, _or(bias, x), _or(mask, x), sequence, gamma)
    form = _form(change, bias, mask)
    _add_and_norm_backward[(programs,)](*inputs, d_x, d_change, sums, len(x), eps, COPY=d_low is not None, **form)
    d_bias, d_gamma, d_beta = sums.sum(0)
    return d_x, d_change, d_bias, d_gamma, d_beta


def relu_and_drop(h: Tensor, bias: Tensor, mask: Tensor | None, sequence: Tensor) -> Tensor:
    """m relu(h + bias), [blocks, R, size] -> the same. mask: [blocks, B, size]."""
    blocks, rows, size = h.shape
    dropped = torch.empty_like(h)
    count = 0 if mask is None else mask.shape[1]
    form = {"SIZE": size, "WIDTH": triton.next_power_of_2(size), "MASK": mask is not None}
    _relu_and_drop[(rows, blocks)](h, bias, _or(mask, h), sequence, dropped, rows, count, **form)
    return dropped


def relu_and_drop_backward(d_dropped: Tensor, dropped: Tensor, scale: float) -> tuple[Tensor, Tensor]:
    """The gradients of h and bias. Outputs other than 0 were neither cut nor dropped, so their m is ``scale``."""
    blocks, rows, size = dropped.shape
    d_h = torch.empty_like(dropped)
    programs = min(PROGRAMS, rows)
    sums = dropped.new_empty(programs, blocks, size, dtype=torch.float32)
    form = {"SIZE": size, "WIDTH": triton.next_power_of_2(size)}
    _relu_and_drop_backward[(programs, blocks)](d_dropped, dropped, d_h, sums, rows, scale, **form)
    return d_h, sums.sum(0)


def _or(tensor: Tensor | None, other: Tensor) -> Tensor:
    return other if tensor is None else tensor


def _form(change: Tensor, bias: Tensor | None, mask: Tensor | None) -> dict[str, int | bool]:
    blocks, _, size = change.shape
    form = {"BLOCK": size, "SIZE": blocks * size, "WIDTH": triton.next_power_of_2(blocks * size)}
    return {**form, "BIAS": bias is not None, "MASK": mask is not None}


@triton.jit
def _changed(
    x, change, bias, mask, sequence, row, rows, column, inside,
    BLOCK: tl.constexpr, SIZE: tl.constexpr, BIAS: tl.constexpr, MASK: tl.constexpr,
):  # fmt: skip
    """A row of x + m (change + bias), the m of that row, and the offsets of its ``change``."""
    offset = (column // BLOCK * rows + row) * BLOCK + column % BLOCK
    added = tl.load(change + offset, mask=inside, other=0.0).to(tl.float32)
    if BIAS:
        added += tl.load(bias + column, mask=inside, other=0.0).to(tl.float32)
    kept = tl.zeros_like(added) + 1.0
    if MASK:
        kept = tl.load(mask + tl.load(sequence + row) * SIZE + column, mask=inside, other=0.0)
    return tl.load(x + row * SIZE + column, mask=inside, other=0.0) + kept * added, kept, offset


@triton.jit
def _normed(changed, inside, eps, SIZE: tl.constexpr):
    """(v - mean) / deviation, and 1 / deviation."""
    centred = tl.where(inside, changed - tl.sum(changed, axis=0) / SIZE, 0.0)
    scale = 1 / tl.sqrt(tl.sum(centred * centred, axis=0) / SIZE + eps)
    return centred * scale, scale


@triton.jit(do_not_specialize=VARYING)
def _add_and_norm(
    x, change, bias, mask, sequence, gamma, beta, z, low, rows, eps,
    BLOCK: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr,
    BIAS: tl.constexpr, MASK: tl.constexpr, COPY: tl.constexpr,
):  # fmt: skip
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, WIDTH)
    inside = column < SIZE
    changed, _, _ = _changed(x, change, bias, mask, sequence, row, rows, column, inside, BLOCK, SIZE, BIAS, MASK)
    normed, _ = _normed(changed, inside, eps, SIZE)
    y = normed * tl.load(gamma + column, mask=inside, other=0.0) + tl.load(beta + column, mask=inside, other=0.0)
    tl.store(z + row * SIZE + column, y, mask=inside)
    if COPY:
        tl.store(low + row * SIZE + column, y, mask=inside)


@triton.jit(do_not_specialize=VARYING)
def _add_and_norm_backward(
    d_z, d_low, x, change, bias, mask, sequence, gamma, d_x, d_change, sums, rows, eps,
    BLOCK: tl.constexpr, SIZE: tl.constexpr, WIDTH: tl.constexpr,
    BIAS: tl.constexpr, MASK: tl.constexpr, COPY: tl.constexpr,
):  # fmt: skip
    program, programs = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    column = tl.arange(0, WIDTH)
    inside = column < SIZE
    weight = tl.load(gamma + column, mask=inside, other=0.0)
    d_bias = tl.zeros((WIDTH,), tl.float32)
    d_gamma = tl.zeros((WIDTH,), tl.float32)
    d_beta = tl.zeros((WIDTH,), tl.float32)
    for turn in range(tl.cdiv(rows - tl.program_id(0), programs)):
        row = program + turn * programs
        at = row * SIZE + column
        changed, kept, offset = _changed(
            x, change, bias, mask, sequence, row, rows, column, inside, BLOCK, SIZE, BIAS, MASK
        )
        normed, scale = _normed(changed, inside, eps, SIZE)
        d_y = tl.load(d_z + at, mask=inside, other=0.0)
        if COPY:
            d_y += tl.load(d_low + at, mask=inside, other=0.0).to(tl.float32)
        d_gamma += d_y * normed
        d_beta += d_y
        d_normed = d_y * weight
        along = tl.sum(d_normed * normed, axis=0) / SIZE
        d_changed = scale * (d_normed - tl.sum(d_normed, axis=0) / SIZE - normed * along)
        tl.store(d_x + at, d_changed, mask=inside)
        d_added = kept * d_changed
        tl.store(d_change + offset, d_added, mask=inside)
        d_bias += d_added
    tl.store(sums + program * 3 * SIZE + column, d_bias, mask=inside)
    tl.store(sums + (program * 3 + 1) * SIZE + column, d_gamma, mask=inside)
    tl.store(sums + (program * 3 + 2) * SIZE + column, d_beta, mask=inside)


@triton.jit(do_not_specialize=VARYING)
def _relu_and_drop(
    h, bias, mask, sequence, dropped, rows, count, SIZE: tl.constexpr, WIDTH: tl.constexpr, MASK: tl.constexpr
):
    row, block = tl.program_id(0).to(tl.int64), tl.program_id(1)
    column = tl.arange(0, WIDTH)
    inside = column < SIZE
    at = (block * rows + row) * SIZE + column
    above = tl.load(h + at, mask=inside, other=0.0).to(tl.float32)
    above += tl.load(bias + block * SIZE + column, mask=inside, other=0.0).to(tl.float32)
    above = tl.where(above <= 0, 0.0, above)  # NaN stays NaN
    if MASK:
        above *= tl.load(mask + (block * count + tl.load(sequence + row)) * SIZE + column, mask=inside, other=0.0)
    tl.store(dropped + at, above, mask=inside)


@triton.jit(do_not_specialize=VARYING)
def _relu_and_drop_backward(d_dropped, dropped, d_h, sums, rows, scale, SIZE: tl.constexpr, WIDTH: tl.constexpr):
    program, programs = tl.program_id(0).to(tl.int64), tl.num_programs(0)
    block = tl.program_id(1)
    column = tl.arange(0, WIDTH)
    inside = column < SIZE
    d_bias = tl.zeros((WIDTH,), tl.float32)
    for turn in range(tl.cdiv(rows - tl.program_id(0), programs)):
        at = (block * rows + program + turn * programs) * SIZE + column
        cut = tl.load(dropped + at, mask=inside, other=0.0) <= 0
        d_above = tl.where(cut, 0.0, tl.load(d_dropped + at, mask=inside, other=0.0).to(tl.float32) * scale)
        tl.store(d_h + at, d_above, mask=inside)
        d_bias += d_above
    tl.store(sums + (program * tl.num_programs(1) + block) * SIZE + column, d_bias, mask=inside)
