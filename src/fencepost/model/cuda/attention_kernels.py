"""Attention within sequences laid end to end, on a GPU in Triton: one launch forward and two backward, no atomics.

B sequences lie in R rows. A head has numbers in each block, laid out as in ``BlockDiagonal``: content in one, position
in the other. A program takes one head and TILE rows of one sequence, and walks over the tiles of that sequence within
its reach. TILE is small because sentences are short. Tiles needn't be counted: those of sequence b are numbered from
``starts[b] // TILE + b``, which leaves room for all of them, and a program whose tile lies beyond the end of its
sequence does nothing. Backward computes the probabilities again from the log-sum-exp of each row.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from fencepost.model.heads import HeadSizes, Roles
from fencepost.model.plan import Reach

TILE, EXACT_TILE = 32, 16  # rows, in half precision and in fp32
FORWARD_WARPS, QUERY_WARPS, KEY_VALUE_WARPS = 2, 2, 4  # few, but enough not to run out of registers ...
WIDE, WIDE_WARPS = 64, 4  # ... for which heads of more than 64 numbers need this many
STAGES = 1  # nothing is loaded ahead: most walks cover a single tile
NARROWEST = 16  # the smallest number of columns that tensor cores take
PARTS = 1 << 24  # dropout probabilities are rounded to this many parts
LOG_2_E = tl.constexpr(1 / math.log(2))  # exp(x) is computed as 2^(x / ln 2)
VARYING = ["starts", "rows", "count"]  # these differ from batch to batch, and don't need another compilation


def forward(
    rows: Roles, sizes: HeadSizes, starts: Tensor, noise: Tensor | None, distances: Tensor | None,
    dropout: float, reach: Reach, precision: str,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Softmax(Q K^T / sqrt(d_k)) V: queries, keys and values of [blocks, R, heads * d / blocks] -> the same.

    ``starts`` [B + 1], int32: the first row of each sequence, then R. ``noise`` [heads, R], int32: random numbers that
    decide what is dropped. ``distances`` [heads, 2 * D + 1], fp32: what to add to q · k for the distance of two rows.
    Returns the average and, for ``backward``, the base-2 logarithm of each row's softmax denominator: [heads, R].
    """
    average = rows.value.new_empty(rows.value.shape)
    sums = average.new_empty(sizes.heads, average.shape[1], dtype=torch.float32)
    given = (*rows, starts, sums if noise is None else noise, sums if distances is None else distances)
    places = (*_strides(rows), average.shape[1], len(starts) - 1)
    form = _form(rows, sizes, distances, dropout, reach, precision)
    _forward[_grid](*given, average, sums, *places, **form, **_launch(form, FORWARD_WARPS))
    return average, sums


def backward(
    d_average: Tensor, rows: Roles, d_rows: Roles, sizes: HeadSizes, starts: Tensor, noise: Tensor | None,
    distances: Tensor | None, average: Tensor, sums: Tensor, dropout: float, reach: Reach, precision: str,
) -> None:  # fmt: skip
    """Writes the gradients of queries, keys and values to ``d_rows``, which has the strides of ``rows``."""
    along = torch.empty_like(sums)
    # Where something is None, the kernels need some tensor in its place but don't read it.
    optional = (sums if noise is None else noise, sums if distances is None else distances)
    given = (d_average, *rows, starts, *optional, sums, along)
    places = (*_strides(rows), average.shape[1], len(starts) - 1)
    form = _form(rows, sizes, distances, dropout, reach, precision)
    _backward_query[_grid](*given, average, d_rows.query, *places, **form, **_launch(form, QUERY_WARPS))
    _backward_key_value[_grid](*given, d_rows.key, d_rows.value, *places, **form, **_launch(form, KEY_VALUE_WARPS))


def _grid(form: dict[str, int]) -> tuple[int]:
    return ((form["rows"] // form["TILE"] + form["count"]) * form["HEADS"],)


def _strides(rows: Roles) -> tuple[int, ...]:
    """The strides of rows. In a row of a block, the numbers of a head are adjacent and the heads follow each other."""
    return tuple(tensor.stride(1) for tensor in rows)


def _form(
    rows: Roles, sizes: HeadSizes, distances: Tensor | None, dropout: float, reach: Reach, precision: str
) -> dict[str, Any]:
    width_k, width_v = (max(triton.next_power_of_2(size), NARROWEST) for size in (sizes.d_k, sizes.d_v))
    return {
        "HEADS": sizes.heads,
        "BLOCKS": len(rows.query),
        "D_K": sizes.d_k,
        "D_V": sizes.d_v,
        "WIDTH_K": width_k,
        "WIDTH_V": width_v,
        "TILE": EXACT_TILE if rows.query.dtype == torch.float32 else TILE,
        "SCALE": sizes.scale,
        "DROPPED": round(dropout * PARTS),
        "KEPT": 1 / (1 - dropout),
        "WINDOW": reach.window,
        "RELAXED": reach.relaxed,
        "FARTHEST": None if distances is None else distances.shape[1] // 2,
        "PRECISION": precision,
    }


def _launch(form: dict[str, Any], warps: int) -> dict[str, int]:
    wide = max(form["WIDTH_K"], form["WIDTH_V"]) > WIDE
    return {"num_warps": WIDE_WARPS if wide else warps, "num_stages": STAGES}


@triton.jit
def _tile(starts, count, HEADS: tl.constexpr, TILE: tl.constexpr):
    """This program's head; the first row and the length of its sequence; where in the sequence its tile begins."""
    # Later sequences come first: if spare rows fill up a batch, the last sequence is the longest.
    program = tl.num_programs(0) - 1 - tl.program_id(0)
    number = program // HEADS
    sequence = 0
    after = count
    while after - sequence > 1:
        middle = (sequence + after) // 2
        is_later = tl.load(starts + middle) // TILE + middle > number
        after = tl.where(is_later, middle, after)
        sequence = tl.where(is_later, sequence, middle)
    start = tl.load(starts + sequence)
    length = tl.load(starts + sequence + 1) - start
    return program % HEADS, start.to(tl.int64), length, (number - start // TILE - sequence) * TILE


@triton.jit
def _reach(first, length, WINDOW: tl.constexpr, RELAXED: tl.constexpr, TILE: tl.constexpr):
    """The first and the last row (exclusive) of the tiles within reach of this one."""
    begin = 0
    end = length
    if WINDOW is not None and not RELAXED:
        begin = tl.maximum(first - WINDOW, 0) // TILE * TILE
        end = tl.minimum(first + TILE + WINDOW, length)
    return begin, end


@triton.jit
def _allowed(i, j, length, WINDOW: tl.constexpr, RELAXED: tl.constexpr):
    """§4.2. True where row i of a sequence attends to row j."""
    allowed = j < length
    if WINDOW is not None:
        near = tl.abs(i - j) <= WINDOW
        if RELAXED:
            near = near | (i < 2) | (i >= length - 2) | (j < 2) | (j >= length - 2)
        allowed = allowed & near
    return allowed


@triton.jit
def _by_distance(distances, i, j, head, FARTHEST: tl.constexpr):
    """The number to add to q · k for the distance j - i; distances beyond the farthest count as the farthest."""
    distance = tl.minimum(tl.maximum(j - i, -FARTHEST), FARTHEST)
    return tl.load(distances + head * (2 * FARTHEST + 1) + distance + FARTHEST) * LOG_2_E


@triton.jit
def _kept(noise, j, DROPPED: tl.constexpr):
    """True where p(i -> j) is kept: by lowbias32 of step j of a Weyl sequence that starts from the noise of row i."""
    x = noise.to(tl.uint32, bitcast=True) + j.to(tl.uint32) * 0x9E3779B9
    x = (x ^ (x >> 16)) * 0x7FEB352D
    x = (x ^ (x >> 15)) * 0x846CA68B
    return ((x ^ (x >> 16)) >> 8) >= DROPPED


@triton.jit
def _places(i, length, row, block, SIZE: tl.constexpr, BLOCKS: tl.constexpr, WIDTH: tl.constexpr):
    """The offsets of a head's numbers in rows i, some in each block, and which of them exist: [TILE, WIDTH]."""
    column = tl.arange(0, WIDTH)[None, :]
    there = (i[:, None] < length) & (column < SIZE)
    if BLOCKS == 1:
        return i[:, None] * row + column, there
    part: tl.constexpr = SIZE // BLOCKS
    return i[:, None] * row + column // part * block + column % part, there


@triton.jit
def _load(base, i, length, row, block, SIZE: tl.constexpr, BLOCKS: tl.constexpr, WIDTH: tl.constexpr):
    """Rows i of a sequence and head: [TILE, WIDTH], zeros beyond the end of the sequence."""
    place, there = _places(i, length, row, block, SIZE, BLOCKS, WIDTH)
    return tl.load(base + place, mask=there, other=0.0)


@triton.jit
def _store(base, i, length, numbers, row, block, SIZE: tl.constexpr, BLOCKS: tl.constexpr, WIDTH: tl.constexpr):
    place, there = _places(i, length, row, block, SIZE, BLOCKS, WIDTH)
    tl.store(base + place, numbers, mask=there)


@triton.jit(do_not_specialize=VARYING)
def _forward(
    query, key, value, starts, noise, distances, average, sums,
    query_row, key_row, value_row, rows, count,
    HEADS: tl.constexpr, BLOCKS: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    WIDTH_K: tl.constexpr, WIDTH_V: tl.constexpr,
    TILE: tl.constexpr, SCALE: tl.constexpr, DROPPED: tl.constexpr, KEPT: tl.constexpr,
    WINDOW: tl.constexpr, RELAXED: tl.constexpr, FARTHEST: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    head, start, length, first = _tile(starts, count, HEADS, TILE)
    if first >= length:
        return
    average_row: tl.constexpr = HEADS * (D_V // BLOCKS)
    query += start * query_row + head * (D_K // BLOCKS)
    key += start * key_row + head * (D_K // BLOCKS)
    value += start * value_row + head * (D_V // BLOCKS)
    average += (start * HEADS + head) * (D_V // BLOCKS)
    sums += start + head * rows
    noise += start + head * rows

    i = first + tl.arange(0, TILE)
    q = _load(query, i, length, query_row, rows * query_row, D_K, BLOCKS, WIDTH_K)
    if DROPPED > 0:
        drawn = tl.load(noise + i, mask=i < length, other=0)
    most = tl.full((TILE,), -1e30, tl.float32)  # finite, because a tile may contain no row that this row may attend to
    total = tl.zeros((TILE,), tl.float32)
    mean = tl.zeros((TILE, WIDTH_V), tl.float32)
    begin, end = _reach(first, length, WINDOW, RELAXED, TILE)
    for low in range(begin, end, TILE):
        j = low + tl.arange(0, TILE)
        k = _load(key, j, length, key_row, rows * key_row, D_K, BLOCKS, WIDTH_K)
        v = _load(value, j, length, value_row, rows * value_row, D_V, BLOCKS, WIDTH_V)
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (SCALE * LOG_2_E)
        if FARTHEST is not None:
            s += _by_distance(distances, i[:, None], j[None, :], head, FARTHEST)
        s = tl.where(_allowed(i[:, None], j[None, :], length, WINDOW, RELAXED), s, float("-inf"))
        most_yet = tl.maximum(most, tl.max(s, axis=1))
        p = tl.exp2(s - most_yet[:, None])
        fading = tl.exp2(most - most_yet)
        most = most_yet
        total = total * fading + tl.sum(p, axis=1)
        if DROPPED > 0:
            p = tl.where(_kept(drawn[:, None], j[None, :], DROPPED), p, 0.0)
        mean = tl.dot(p.to(v.dtype), v, mean * fading[:, None], input_precision=PRECISION)
    mean *= (KEPT / total)[:, None]
    _store(average, i, length, mean, average_row, rows * average_row, D_V, BLOCKS, WIDTH_V)
    tl.store(sums + i, most + tl.log2(total), mask=i < length)


@triton.jit(do_not_specialize=VARYING)
def _backward_query(
    d_average, query, key, value, starts, noise, distances, sums, along, average, d_query,
    query_row, key_row, value_row, rows, count,
    HEADS: tl.constexpr, BLOCKS: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    WIDTH_K: tl.constexpr, WIDTH_V: tl.constexpr,
    TILE: tl.constexpr, SCALE: tl.constexpr, DROPPED: tl.constexpr, KEPT: tl.constexpr,
    WINDOW: tl.constexpr, RELAXED: tl.constexpr, FARTHEST: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    head, start, length, first = _tile(starts, count, HEADS, TILE)
    if first >= length:
        return
    average_row: tl.constexpr = HEADS * (D_V // BLOCKS)
    d_average += (start * HEADS + head) * (D_V // BLOCKS)
    query += start * query_row + head * (D_K // BLOCKS)
    key += start * key_row + head * (D_K // BLOCKS)
    value += start * value_row + head * (D_V // BLOCKS)
    average += (start * HEADS + head) * (D_V // BLOCKS)
    d_query += start * query_row + head * (D_K // BLOCKS)
    sums += start + head * rows
    along += start + head * rows
    noise += start + head * rows

    i = first + tl.arange(0, TILE)
    q = _load(query, i, length, query_row, rows * query_row, D_K, BLOCKS, WIDTH_K)
    d_mean = _load(d_average, i, length, average_row, rows * average_row, D_V, BLOCKS, WIDTH_V)
    mean = _load(average, i, length, average_row, rows * average_row, D_V, BLOCKS, WIDTH_V)
    # The sum over j of p(i -> j) times its gradient, dropout included.
    d_p_mean = tl.sum(mean.to(tl.float32) * d_mean.to(tl.float32), axis=1)
    tl.store(along + i, d_p_mean, mask=i < length)
    log_total = tl.load(sums + i, mask=i < length, other=0.0)
    if DROPPED > 0:
        drawn = tl.load(noise + i, mask=i < length, other=0)
    d_q = tl.zeros((TILE, WIDTH_K), tl.float32)
    begin, end = _reach(first, length, WINDOW, RELAXED, TILE)
    for low in range(begin, end, TILE):
        j = low + tl.arange(0, TILE)
        k = _load(key, j, length, key_row, rows * key_row, D_K, BLOCKS, WIDTH_K)
        v = _load(value, j, length, value_row, rows * value_row, D_V, BLOCKS, WIDTH_V)
        s = tl.dot(q, tl.trans(k), input_precision=PRECISION) * (SCALE * LOG_2_E)
        if FARTHEST is not None:
            s += _by_distance(distances, i[:, None], j[None, :], head, FARTHEST)
        allowed = _allowed(i[:, None], j[None, :], length, WINDOW, RELAXED)
        p = tl.where(allowed, tl.exp2(s - log_total[:, None]), 0.0)
        d_p = tl.dot(d_mean, tl.trans(v), input_precision=PRECISION)
        if DROPPED > 0:
            d_p = tl.where(_kept(drawn[:, None], j[None, :], DROPPED), d_p * KEPT, 0.0)
        d_s = p * (d_p - d_p_mean[:, None])
        d_q = tl.dot(d_s.to(k.dtype), k, d_q, input_precision=PRECISION)
    _store(d_query, i, length, d_q * SCALE, query_row, rows * query_row, D_K, BLOCKS, WIDTH_K)


@triton.jit(do_not_specialize=VARYING)
def _backward_key_value(
    d_average, query, key, value, starts, noise, distances, sums, along, d_key, d_value,
    query_row, key_row, value_row, rows, count,
    HEADS: tl.constexpr, BLOCKS: tl.constexpr, D_K: tl.constexpr, D_V: tl.constexpr,
    WIDTH_K: tl.constexpr, WIDTH_V: tl.constexpr,
    TILE: tl.constexpr, SCALE: tl.constexpr, DROPPED: tl.constexpr, KEPT: tl.constexpr,
    WINDOW: tl.constexpr, RELAXED: tl.constexpr, FARTHEST: tl.constexpr, PRECISION: tl.constexpr,
):  # fmt: skip
    """All products are transposed, keys by queries, so that no result needs to be transposed for the next product."""
    head, start, length, first = _tile(starts, count, HEADS, TILE)
    if first >= length:
        return
    average_row: tl.constexpr = HEADS * (D_V // BLOCKS)
    d_average += (start * HEADS + head) * (D_V // BLOCKS)
    query += start * query_row + head * (D_K // BLOCKS)
    key += start * key_row + head * (D_K // BLOCKS)
    value += start * value_row + head * (D_V // BLOCKS)
    d_key += start * key_row + head * (D_K // BLOCKS)
    d_value += start * value_row + head * (D_V // BLOCKS)
    sums += start + head * rows
    along += start + head * rows
    noise += start + head * rows

    j = first + tl.arange(0, TILE)
    k = _load(key, j, length, key_row, rows * key_row, D_K, BLOCKS, WIDTH_K)
    v = _load(value, j, length, value_row, rows * value_row, D_V, BLOCKS, WIDTH_V)
    d_k = tl.zeros((TILE, WIDTH_K), tl.float32)
    d_v = tl.zeros((TILE, WIDTH_V), tl.float32)
    begin, end = _reach(first, length, WINDOW, RELAXED, TILE)
    for low in range(begin, end, TILE):
        i = low + tl.arange(0, TILE)
        q = _load(query, i, length, query_row, rows * query_row, D_K, BLOCKS, WIDTH_K)
        d_mean = _load(d_average, i, length, average_row, rows * average_row, D_V, BLOCKS, WIDTH_V)
        log_total = tl.load(sums + i, mask=i < length, other=0.0)
        d_p_mean = tl.load(along + i, mask=i < length, other=0.0)
        s = tl.dot(k, tl.trans(q), input_precision=PRECISION) * (SCALE * LOG_2_E)
        if FARTHEST is not None:
            s += _by_distance(distances, i[None, :], j[:, None], head, FARTHEST)
        allowed = _allowed(i[None, :], j[:, None], length, WINDOW, RELAXED)
        p = tl.where(allowed, tl.exp2(s - log_total[None, :]), 0.0)
        d_p = tl.dot(v, tl.trans(d_mean), input_precision=PRECISION)
        kept_p = p
        if DROPPED > 0:
            drawn = tl.load(noise + i, mask=i < length, other=0)
            kept = _kept(drawn[None, :], j[:, None], DROPPED)
            kept_p = tl.where(kept, p, 0.0)
            d_p = tl.where(kept, d_p * KEPT, 0.0)
        d_v = tl.dot(kept_p.to(d_mean.dtype), d_mean, d_v, input_precision=PRECISION)
        d_s = p * (d_p - d_p_mean[None, :])
        d_k = tl.dot(d_s.to(q.dtype), q, d_k, input_precision=PRECISION)
    _store(d_key, j, length, d_k * SCALE, key_row, rows * key_row, D_K, BLOCKS, WIDTH_K)
    _store(d_value, j, length, d_v * KEPT, value_row, rows * value_row, D_V, BLOCKS, WIDTH_V)
