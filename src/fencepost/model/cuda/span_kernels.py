"""The hidden layer of §2.3 on a GPU in Triton, one launch forward and one backward: relu(LayerNorm(f_j - f_i + c_1)).

The S spans (i, j) are rows of H units; a program holds ROWS of them at a time in registers. Fenceposts are few enough
to stay in the cache, so backward normalises the rows again, and forward doesn't have to save anything for it.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

ROWS = 8
MOST_PROGRAMS = 528  # in backward, each with its own sums over spans: as many as an H200 runs at once, 4 per SM
VARYING = ["starts", "ends", "count"]  # their alignment differs by batch, without need to recompile


def forward(
    fenceposts: Tensor, bias: Tensor, weight: Tensor, beta: Tensor, starts: Tensor, ends: Tensor, eps: float
) -> Tensor:
    """The hidden layer [S, H], from the projected fenceposts [F, H] and spans [S]."""
    hidden = fenceposts.new_empty(len(starts), fenceposts.shape[1])
    grid = (triton.cdiv(len(starts), ROWS),)
    spans = (starts, ends, len(starts))
    _span_hidden[grid](fenceposts, bias, weight, beta, hidden, *spans, eps, **_tile(fenceposts))
    return hidden


def backward(
    d_hidden: Tensor,
    fenceposts: Tensor,
    bias: Tensor,
    weight: Tensor,
    beta: Tensor,
    starts: Tensor,
    ends: Tensor,
    eps: float,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The gradients of the fenceposts [F, H], bias, weight and beta [H] each, from that of the hidden layer."""
    d_fenceposts = torch.zeros_like(fenceposts)
    programs = min(triton.cdiv(len(starts), ROWS), MOST_PROGRAMS)
    sums = fenceposts.new_empty(programs, 3, fenceposts.shape[1])
    layer = (fenceposts, bias, weight, beta)
    spans = (starts, ends, len(starts))
    _span_hidden_backward[(programs,)](d_hidden, *layer, d_fenceposts, sums, *spans, eps, **_tile(fenceposts))
    d_bias, d_weight, d_beta = sums.sum(0)
    return d_fenceposts, d_bias, d_weight, d_beta


def _tile(fenceposts: Tensor) -> dict[str, int]:
    size = fenceposts.shape[1]
    return {"SIZE": size, "UNITS": triton.next_power_of_2(size), "ROWS": ROWS, "num_warps": 4}


@triton.jit
def _normalised(fenceposts, bias, start, end, unit, eps, SIZE: tl.constexpr):
    """(x - μ) / σ of each row x = f[end] - f[start] + c_1, 0 beyond its units, and 1 / σ: [ROWS, UNITS], [ROWS, 1]."""
    inside = (unit < SIZE)[None, :]
    x = tl.load(fenceposts + end[:, None] * SIZE + unit[None, :], mask=inside, other=0.0)
    x -= tl.load(fenceposts + start[:, None] * SIZE + unit[None, :], mask=inside, other=0.0)
    x += bias[None, :]
    centred = tl.where(inside, x - tl.sum(x, axis=1)[:, None] / SIZE, 0.0)
    scale = tl.rsqrt(tl.sum(centred * centred, axis=1) / SIZE + eps)[:, None]
    return centred * scale, scale


@triton.jit(do_not_specialize=VARYING)
def _span_hidden(
    fenceposts, bias, weight, beta, hidden, starts, ends, count, eps,
    SIZE: tl.constexpr, UNITS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    unit = tl.arange(0, UNITS)
    inside = unit < SIZE
    c = tl.load(bias + unit, mask=inside, other=0.0)
    w = tl.load(weight + unit, mask=inside, other=0.0)
    b = tl.load(beta + unit, mask=inside, other=0.0)
    span = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    here = span < count
    start = tl.load(starts + span, mask=here, other=0)
    end = tl.load(ends + span, mask=here, other=0)
    x, _ = _normalised(fenceposts, c, start, end, unit, eps, SIZE)
    h = x * w[None, :] + b[None, :]
    h = tl.where(h <= 0, 0.0, h)  # NaN stays NaN, as in torch
    offset = span.to(tl.int64)[:, None] * SIZE + unit[None, :]
    tl.store(hidden + offset, h, mask=here[:, None] & inside[None, :])


@triton.jit(do_not_specialize=VARYING)
def _span_hidden_backward(
    d_hidden, fenceposts, bias, weight, beta, d_fenceposts, sums, starts, ends, count, eps,
    SIZE: tl.constexpr, UNITS: tl.constexpr, ROWS: tl.constexpr,
):  # fmt: skip
    unit = tl.arange(0, UNITS)
    inside = unit < SIZE
    c = tl.load(bias + unit, mask=inside, other=0.0)
    w = tl.load(weight + unit, mask=inside, other=0.0)
    b = tl.load(beta + unit, mask=inside, other=0.0)
    d_bias = tl.zeros([UNITS], tl.float32)
    d_weight = tl.zeros([UNITS], tl.float32)
    d_beta = tl.zeros([UNITS], tl.float32)
    for low in range(tl.program_id(0) * ROWS, count, tl.num_programs(0) * ROWS):
        span = low + tl.arange(0, ROWS)
        here = span < count
        start = tl.load(starts + span, mask=here, other=0)
        end = tl.load(ends + span, mask=here, other=0)
        mask = here[:, None] & inside[None, :]
        offset = span.to(tl.int64)[:, None] * SIZE + unit[None, :]
        d_h = tl.load(d_hidden + offset, mask=mask, other=0.0)
        x, scale = _normalised(fenceposts, c, start, end, unit, eps, SIZE)

        d_h = tl.where(x * w[None, :] + b[None, :] <= 0, 0.0, d_h)
        d_beta += tl.sum(d_h, axis=0)
        d_weight += tl.sum(d_h * x, axis=0)

        d_x = d_h * w[None, :]
        mean = tl.sum(d_x, axis=1)[:, None] / SIZE
        along = tl.sum(d_x * x, axis=1)[:, None] / SIZE
        d_x = (d_x - mean - along * x) * scale
        d_bias += tl.sum(d_x, axis=0)
        tl.atomic_add(d_fenceposts + end[:, None] * SIZE + unit[None, :], d_x, mask=mask, sem="relaxed")
        tl.atomic_add(d_fenceposts + start[:, None] * SIZE + unit[None, :], -d_x, mask=mask, sem="relaxed")

    sums += tl.program_id(0) * 3 * SIZE + unit
    tl.store(sums, d_bias, mask=inside)
    tl.store(sums + SIZE, d_weight, mask=inside)
    tl.store(sums + 2 * SIZE, d_beta, mask=inside)
