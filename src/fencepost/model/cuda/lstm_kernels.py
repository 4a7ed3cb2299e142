"""A bidirectional LSTM on a GPU in Triton: one launch for all steps of both directions, one for all their gradients.

B sequences are laid end to end in R rows. A program walks through BLOCK of them in one direction; ``order`` puts
sequences of similar length together. Every hidden unit reads all units of the step before, so there is a barrier
between steps.

The gates, in torch's order: i = σ(..), f = σ(..), g = tanh(..), o = σ(..); c = f c' + i g; h = o tanh(c).
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

import math

import torch
import triton
import triton.language as tl
from torch import Tensor

BLOCK = 16  # sequences per program: the fewest rows that tensor cores take, so that the most programs run at once
FORWARD_UNITS = 64  # of each of four gates
BACKWARD_UNITS = 128
EXACT = "tf32x3"  # for fp32 when torch is set to be exact: three tf32 products, with errors around 1e-6
KEYS = {"half": 64, "tf32": 32, "tf32x3": 32, "ieee": 16}  # plain fp32 keeps its tiles in registers
VARYING = [
    "order",
    "starts",
    "lengths",
    "count",
]  # their alignment differs by batch, without need to recompile


def precision_of(rows: Tensor) -> str:
    """How exactly to multiply rows, from torch's current settings. Backward must use the same value as forward."""
    return EXACT if rows.dtype == torch.float32 and torch.get_float32_matmul_precision() == "highest" else "tf32"


def forward(
    precision: str, gates: Tensor, weight: Tensor, order: Tensor, starts: Tensor, lengths: Tensor
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The last states of sequences [B, 2H], from weights [2, 4H, H] and what the inputs add to the gates [R, 2, 4H].

    Also returns what ``backward`` needs: the gates [R, 2, 4H], and the h and c [R, 2, H] before each row.
    """
    hidden = gates.new_zeros(len(gates), 2, weight.shape[2])
    cells = torch.zeros_like(hidden, dtype=torch.float32)
    opened = torch.empty_like(gates)
    final = gates.new_empty(len(lengths), 2 * weight.shape[2])
    tile = _tile(weight, FORWARD_UNITS, precision)
    sequences = (order, starts, lengths, len(lengths))
    _forward[_grid(lengths)](gates, weight, opened, hidden, cells, final, *sequences, **tile)
    return final, opened, hidden, cells


def backward(
    precision: str, d_final: Tensor, weight: Tensor, opened: Tensor, cells: Tensor, order: Tensor, starts: Tensor,
    lengths: Tensor,
) -> Tensor:  # fmt: skip
    """The gradient of the gates [R, 2, 4H], from that of the last states [B, 2H]."""
    d_gates = torch.empty_like(opened)
    d_cells = torch.empty_like(cells)
    tile = _tile(weight, BACKWARD_UNITS, precision)
    sequences = (order, starts, lengths, len(lengths))
    _backward[_grid(lengths)](d_final, weight, opened, cells, d_gates, d_cells, *sequences, **tile)
    return d_gates


def _grid(lengths: Tensor) -> tuple[int, int]:
    return triton.cdiv(len(lengths), BLOCK), 2


def _tile(weight: Tensor, units: int, precision: str) -> dict[str, int | str]:
    size = weight.shape[2]
    keys = KEYS[precision if weight.dtype == torch.float32 else "half"]
    tile = {"SIZE": size, "UNITS": math.gcd(size, units), "KEYS": math.gcd(size, keys), "BLOCK": BLOCK}
    return {**tile, "PRECISION": precision, "num_warps": 8, "num_stages": 3}


@triton.jit
def _tanh(x):
    return 2 * tl.sigmoid(2 * x) - 1


@triton.jit
def _sequences(order, starts, lengths, count, BLOCK: tl.constexpr):
    """The sequences of this program, their lengths, and the rows where this direction begins."""
    index = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    sequence = tl.load(order + index, mask=index < count, other=0)
    length = tl.load(lengths + sequence, mask=index < count, other=0).to(tl.int32)
    start = tl.load(starts + sequence).to(tl.int64)
    return sequence.to(tl.int64), length, tl.where(tl.program_id(1) == 0, start, start + length - 1)


@triton.jit(do_not_specialize=VARYING)
def _forward(
    gates, weight, opened, hidden, cells, final, order, starts, lengths, count,
    SIZE: tl.constexpr, UNITS: tl.constexpr, KEYS: tl.constexpr, PRECISION: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    direction = tl.program_id(1)
    step = 1 - 2 * direction
    sequence, length, begin = _sequences(order, starts, lengths, count, BLOCK)
    weight += direction * 4 * SIZE * SIZE
    for time in range(tl.max(length, axis=0)):
        tl.debug_barrier()
        here = (time < length)[:, None]
        last = (time + 1 == length)[:, None]
        row = ((begin + step * time) * 2 + direction) * SIZE
        for low in range(0, SIZE, UNITS):
            unit = low + tl.arange(0, UNITS)[None, :]
            gate = 4 * row[:, None] + unit
            i = tl.load(gates + gate, mask=here, other=0.0).to(tl.float32)
            f = tl.load(gates + gate + SIZE, mask=here, other=0.0).to(tl.float32)
            g = tl.load(gates + gate + 2 * SIZE, mask=here, other=0.0).to(tl.float32)
            o = tl.load(gates + gate + 3 * SIZE, mask=here, other=0.0).to(tl.float32)
            for low_key in range(0, SIZE, KEYS):
                key = low_key + tl.arange(0, KEYS)
                h = tl.load(hidden + row[:, None] + key[None, :], mask=here, other=0.0)
                w = weight + unit * SIZE + key[:, None]
                i = tl.dot(h, tl.load(w), i, input_precision=PRECISION)
                f = tl.dot(h, tl.load(w + SIZE * SIZE), f, input_precision=PRECISION)
                g = tl.dot(h, tl.load(w + 2 * SIZE * SIZE), g, input_precision=PRECISION)
                o = tl.dot(h, tl.load(w + 3 * SIZE * SIZE), o, input_precision=PRECISION)
            i, f, g, o = tl.sigmoid(i), tl.sigmoid(f), _tanh(g), tl.sigmoid(o)
            tl.store(opened + gate, i, mask=here)
            tl.store(opened + gate + SIZE, f, mask=here)
            tl.store(opened + gate + 2 * SIZE, g, mask=here)
            tl.store(opened + gate + 3 * SIZE, o, mask=here)

            state = row[:, None] + unit
            next_state = state + step * 2 * SIZE
            c = f * tl.load(cells + state, mask=here, other=0.0) + i * g
            h = o * _tanh(c)
            tl.store(cells + next_state, c, mask=here & ~last)
            tl.store(hidden + next_state, h, mask=here & ~last)
            tl.store(final + ((sequence * 2 + direction) * SIZE)[:, None] + unit, h, mask=last)


@triton.jit(do_not_specialize=VARYING)
def _backward(
    d_final, weight, opened, cells, d_gates, d_cells, order, starts, lengths, count,
    SIZE: tl.constexpr, UNITS: tl.constexpr, KEYS: tl.constexpr, PRECISION: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    direction = tl.program_id(1)
    step = 1 - 2 * direction
    sequence, length, begin = _sequences(order, starts, lengths, count, BLOCK)
    weight += direction * 4 * SIZE * SIZE
    longest = tl.max(length, axis=0)
    for done in range(longest):
        tl.debug_barrier()
        time = longest - 1 - done
        here = (time < length)[:, None]
        last = (time + 1 == length)[:, None]
        row = ((begin + step * time) * 2 + direction) * SIZE
        next_gates = 4 * (row + step * 2 * SIZE)
        for low in range(0, SIZE, UNITS):
            unit = low + tl.arange(0, UNITS)[None, :]
            final_state = ((sequence * 2 + direction) * SIZE)[:, None] + unit
            state = row[:, None] + unit
            d_h = tl.load(d_final + final_state, mask=last, other=0.0).to(tl.float32)
            for low_key in range(0, 4 * SIZE, KEYS):
                key = low_key + tl.arange(0, KEYS)
                d_next = tl.load(d_gates + next_gates[:, None] + key[None, :], mask=here & ~last, other=0.0)
                d_h = tl.dot(d_next, tl.load(weight + key[:, None] * SIZE + unit), d_h, input_precision=PRECISION)

            gate = 4 * row[:, None] + unit
            i = tl.load(opened + gate, mask=here, other=0.0).to(tl.float32)
            f = tl.load(opened + gate + SIZE, mask=here, other=0.0).to(tl.float32)
            g = tl.load(opened + gate + 2 * SIZE, mask=here, other=0.0).to(tl.float32)
            o = tl.load(opened + gate + 3 * SIZE, mask=here, other=0.0).to(tl.float32)
            c_before = tl.load(cells + state, mask=here, other=0.0)
            tanh_c = _tanh(f * c_before + i * g)

            d_c = tl.load(d_cells + state + step * 2 * SIZE, mask=here & ~last, other=0.0)
            d_c += d_h * o * (1 - tanh_c * tanh_c)
            tl.store(d_cells + state, d_c * f, mask=here)
            tl.store(d_gates + gate, d_c * g * i * (1 - i), mask=here)
            tl.store(d_gates + gate + SIZE, d_c * c_before * f * (1 - f), mask=here)
            tl.store(d_gates + gate + 2 * SIZE, d_c * i * (1 - g * g), mask=here)
            tl.store(d_gates + gate + 3 * SIZE, d_h * tanh_c * o * (1 - o), mask=here)
