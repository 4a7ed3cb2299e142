"""Charts on a GPU in Triton: one program per sentence, a barrier between diagonals, nothing for the host to wait for.

The recursions are those of ``chart.cky`` and ``chart.inside``, on charts packed as ``chart.packing`` says. A program
works on tiles of SPLITS x STARTS: ways to split a span, by spans along a diagonal.
"""
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator,misc"

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE = {"SPLITS": 16, "STARTS": 32, "num_warps": 2, "num_stages": 1}


def best_trees(scores: Tensor, offsets: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The score of the best binary tree of each sentence [B], and which cells are in it [S]."""
    scores = scores.contiguous()
    best = torch.empty_like(scores)
    splits = torch.empty_like(scores, dtype=torch.int32)
    marked = torch.zeros_like(scores, dtype=torch.uint8)
    totals = scores.new_empty(len(lengths))
    if len(lengths):
        _best_trees[(len(lengths),)](scores, best, splits, marked, totals, offsets, lengths, **TILE)
    return totals, marked.view(torch.bool)


def inside_outside(labels: Tensor, offsets: Tensor, lengths: Tensor, force_root: bool) -> tuple[Tensor, Tensor]:
    """log Z [B], and the probability that each span is a constituent [S]."""
    labels = labels.contiguous()
    node, sequence, around_inner, marginals = (torch.empty_like(labels) for _ in range(4))
    totals = labels.new_empty(len(lengths))
    if len(lengths):
        grid = (len(lengths),)
        _inside[grid](labels, node, sequence, totals, offsets, lengths, FORCE_ROOT=force_root, **TILE)
        _outside[grid](
            labels, node, sequence, around_inner, marginals, totals, offsets, lengths, FORCE_ROOT=force_root, **TILE
        )
    return totals, marginals


@triton.jit
def _first_cell(n, width):
    """Where the diagonal of a width begins; adding a span's start gives its cell."""
    return (width - 1) * (n + 1) - width * (width - 1) // 2


@triton.jit
def _best_trees(labels, best, splits, marked, totals, offsets, lengths, SPLITS: tl.constexpr, STARTS: tl.constexpr):
    sentence = tl.program_id(0)
    n = tl.load(lengths + sentence).to(tl.int32)
    offset = tl.load(offsets + sentence).to(tl.int64)
    labels += offset
    best += offset
    splits += offset
    marked += offset
    for low in range(0, n, STARTS):
        start = low + tl.arange(0, STARTS)
        tl.store(best + start, tl.load(labels + start, mask=start < n), mask=start < n)

    for width in range(2, n + 1):
        tl.debug_barrier()
        for low in range(0, n - width + 1, STARTS):
            start = low + tl.arange(0, STARTS)
            here = start < n - width + 1
            score = tl.full([STARTS], float("-inf"), best.dtype.element_ty)
            split = tl.full([STARTS], 1, tl.int32)
            for low_split in range(1, width, SPLITS):
                left = low_split + tl.arange(0, SPLITS)
                right = width - left
                mask = (left < width)[:, None] & here[None, :]
                left_cell = _first_cell(n, left)[:, None] + start[None, :]
                right_cell = (_first_cell(n, right) + left)[:, None] + start[None, :]
                joined = tl.load(best + left_cell, mask=mask, other=float("-inf"))
                joined += tl.load(best + right_cell, mask=mask, other=0.0)
                top, index = tl.max(joined, axis=0, return_indices=True, return_indices_tie_break_left=True)
                split = tl.where(top > score, low_split + index, split)
                score = tl.maximum(top, score)
            cell = _first_cell(n, width) + start
            tl.store(best + cell, score + tl.load(labels + cell, mask=here), mask=here)
            tl.store(splits + cell, split, mask=here)

    tl.debug_barrier()
    root = _first_cell(n, n)
    tl.store(totals + sentence, tl.load(best + root))
    tl.store(marked + root, 1)
    yes = tl.full([STARTS], 1, tl.uint8)
    for narrower in range(n - 1):
        tl.debug_barrier()
        width = n - narrower
        for low in range(0, narrower + 1, STARTS):
            start = low + tl.arange(0, STARTS)
            here = start <= narrower
            cell = _first_cell(n, width) + start
            here = here & (tl.load(marked + cell, mask=here, other=0) != 0)
            left = tl.load(splits + cell, mask=here, other=1)
            tl.store(marked + _first_cell(n, left) + start, yes, mask=here)
            tl.store(marked + _first_cell(n, width - left) + start + left, yes, mask=here)


@triton.jit
def _log_add(a, b):
    peak = tl.maximum(a, b)
    peak = tl.where(peak == float("-inf"), 0.0, peak)
    return peak + tl.log(tl.exp(a - peak) + tl.exp(b - peak))


@triton.jit
def _add_rows(peak, total, values):
    """Adds the rows of a tile to a running sum of exponentials, total * exp(peak)."""
    new_peak = tl.maximum(peak, tl.max(values, axis=0))
    anchor = tl.where(new_peak == float("-inf"), 0.0, new_peak)
    total = total * tl.exp(peak - anchor) + tl.sum(tl.exp(values - anchor[None, :]), axis=0)
    return new_peak, total


@triton.jit
def _inside(
    labels, node, sequence, totals, offsets, lengths,
    FORCE_ROOT: tl.constexpr, SPLITS: tl.constexpr, STARTS: tl.constexpr,
):  # fmt: skip
    sentence = tl.program_id(0)
    n = tl.load(lengths + sentence).to(tl.int32)
    offset = tl.load(offsets + sentence).to(tl.int64)
    labels += offset
    node += offset
    sequence += offset
    for low in range(0, n, STARTS):
        start = low + tl.arange(0, STARTS)
        label = tl.load(labels + start, mask=start < n, other=0.0)
        word = _log_add(label, tl.zeros_like(label))
        tl.store(node + start, word, mask=start < n)
        tl.store(sequence + start, word, mask=start < n)

    for width in range(2, n + 1):
        tl.debug_barrier()
        for low in range(0, n - width + 1, STARTS):
            start = low + tl.arange(0, STARTS)
            here = start < n - width + 1
            peak = tl.full([STARTS], float("-inf"), node.dtype.element_ty)
            total = tl.zeros_like(peak)
            for low_split in range(1, width, SPLITS):
                first = low_split + tl.arange(0, SPLITS)
                rest = width - first
                mask = (first < width)[:, None] & here[None, :]
                first_cell = _first_cell(n, first)[:, None] + start[None, :]
                rest_cell = (_first_cell(n, rest) + first)[:, None] + start[None, :]
                joined = tl.load(node + first_cell, mask=mask, other=float("-inf"))
                joined += tl.load(sequence + rest_cell, mask=mask, other=0.0)
                peak, total = _add_rows(peak, total, joined)
            inner = peak + tl.log(total)
            cell = _first_cell(n, width) + start
            complete = tl.load(labels + cell, mask=here, other=0.0) + inner
            tl.store(node + cell, complete, mask=here)
            tl.store(sequence + cell, _log_add(complete, inner), mask=here)

    tl.debug_barrier()
    root = _first_cell(n, n)
    if FORCE_ROOT:
        tl.store(totals + sentence, tl.where(n == 1, tl.load(labels + root), tl.load(node + root)))
    else:
        tl.store(totals + sentence, tl.load(sequence + root))


@triton.jit
def _outside(
    labels, node, sequence, around_inner, marginals, totals, offsets, lengths,
    FORCE_ROOT: tl.constexpr, SPLITS: tl.constexpr, STARTS: tl.constexpr,
):  # fmt: skip
    sentence = tl.program_id(0)
    n = tl.load(lengths + sentence).to(tl.int32)
    offset = tl.load(offsets + sentence).to(tl.int64)
    labels += offset
    node += offset
    sequence += offset
    around_inner += offset
    marginals += offset
    around_root = -tl.load(totals + sentence)

    for narrower in range(n):
        tl.debug_barrier()
        width = n - narrower
        for low in range(0, narrower + 1, STARTS):
            start = low + tl.arange(0, STARTS)
            here = start <= narrower
            last_peak = tl.full([STARTS], float("-inf"), node.dtype.element_ty)
            last_total = tl.zeros_like(last_peak)
            first_peak = last_peak
            first_total = last_total
            for low_more in range(1, narrower + 1, SPLITS):
                more = low_more + tl.arange(0, SPLITS)
                wide = _first_cell(n, width + more)[:, None] + start[None, :]
                beside = _first_cell(n, more)[:, None] + start[None, :]

                mask = here[None, :] & (start[None, :] >= more[:, None]) & (more <= narrower)[:, None]
                as_last = tl.load(around_inner + wide - more[:, None], mask=mask, other=float("-inf"))
                as_last += tl.load(node + beside - more[:, None], mask=mask, other=0.0)
                last_peak, last_total = _add_rows(last_peak, last_total, as_last)

                mask = here[None, :] & (start[None, :] + width + more[:, None] <= n)
                as_first = tl.load(around_inner + wide, mask=mask, other=float("-inf"))
                as_first += tl.load(sequence + beside + width, mask=mask, other=0.0)
                first_peak, first_total = _add_rows(first_peak, first_total, as_first)

            around_sequence = last_peak + tl.log(last_total)
            around_node = _log_add(around_sequence, first_peak + tl.log(first_total))
            around_node = tl.where(narrower == 0, around_root, around_node)
            if not FORCE_ROOT:
                around_sequence = tl.where(narrower == 0, around_root, around_sequence)
            cell = _first_cell(n, width) + start
            label = tl.load(labels + cell, mask=here, other=0.0)
            complete = tl.where(width == 1, label, tl.load(node + cell, mask=here, other=0.0))
            tl.store(marginals + cell, tl.exp(around_node + complete), mask=here)
            tl.store(around_inner + cell, _log_add(around_sequence, around_node + label), mask=here)
