"""Checks the attention kernels against padded attention with a mask, on CUDA at the paper's size, and times both.

    PYTHONPATH=src python benchmarks/attention.py
    PYTHONPATH=src python benchmarks/attention.py --tile 32 --warps 4 4 4 --stages 2   # other shapes of the kernels

Also times torch's flash attention over concatenated sentences, a private operation of torch. Errors are relative to the
largest value of each tensor. Times are device times from CUDA graphs, for the attention of one layer of a factored
model, from the projected rows to the input of the output matrix.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from fencepost.chart.packing import Ints
from fencepost.model.attention import attend
from fencepost.model.cuda import attention_kernels
from fencepost.model.cuda.packed_attention import attend_packed
from fencepost.model.heads import HeadSizes, roles
from fencepost.model.plan import AttentionPlan
from fencepost.model.sequences import Layout

BLOCKS = 2
SIZES = HeadSizes(8, 64, 64)
Attention = Callable[[Tensor, float], Tensor]


def sentence_lengths(sentences: int) -> Ints:
    """Sentence lengths in tokens, start and stop included, as in the WSJ: 27 on average, 99% below 80."""
    tokens = np.random.default_rng(0).gamma(4.0, 6.2, sentences).round() + 2
    lengths: Ints = np.clip(tokens, 3, 140).astype(np.int64)
    return lengths


def packed(layout: Layout, plan: AttentionPlan, projected: Tensor, dropout: float) -> Tensor:
    return attend_packed([projected], SIZES, layout.starts, dropout, plan.reach)


def flash(layout: Layout, plan: AttentionPlan, projected: Tensor, dropout: float) -> Tensor:
    bounds = (layout.starts, layout.starts, layout.width, layout.width)
    window = {"window_size_left": plan.window, "window_size_right": plan.window}
    answers = torch.ops.aten._flash_attention_forward(*to_heads(projected), *bounds, dropout, False, False, **window)
    return to_blocks(answers[0])


def padded(layout: Layout, mask: Tensor, projected: Tensor, dropout: float) -> Tensor:
    queries, keys, values = to_heads(projected)
    return to_blocks(attend(queries, keys, values, layout, mask, dropout))


def to_heads(projected: Tensor) -> list[Tensor]:
    """[blocks, R, columns] -> three of [R, heads, d], for all but our own kernels."""
    return [role.unflatten(-1, (SIZES.heads, -1)).permute(1, 2, 0, 3).flatten(-2) for role in roles([projected], SIZES)]


def to_blocks(rows: Tensor) -> Tensor:
    blocks: Tensor = rows.unflatten(-1, (BLOCKS, -1)).permute(2, 0, 1, 3)
    return blocks.flatten(-2)


def with_gradients(attention: Attention, projected: Tensor, towards: Tensor, dropout: float) -> list[Tensor]:
    average = attention(projected, dropout)
    return [average, *torch.autograd.grad(average, [projected], towards)]


def check(name: str, actual: list[Tensor], expected: list[Tensor], most: float) -> None:
    errors = [((a - b).abs().max() / b.abs().max()).item() for a, b in zip(actual, expected, strict=True)]
    print(f"{name}: average within {errors[0]:.1e}, gradients within {errors[1]:.1e}")
    assert max(errors) < most, f"{name}: the error is larger than {most}"


def milliseconds(work: Callable[[], object], repeats: int = 200) -> float:
    aside = torch.cuda.Stream()
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            work()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    graph.replay()
    begin.record()
    for _ in range(repeats):
        graph.replay()
    end.record()
    torch.cuda.synchronize()
    return float(begin.elapsed_time(end)) / repeats


def measure(lengths: Ints, plan: AttentionPlan, dtype: torch.dtype, dropout: float) -> None:
    torch.manual_seed(0)
    layout = Layout.of(lengths, torch.device("cuda"))
    columns = SIZES.heads * (2 * SIZES.d_k + SIZES.d_v) // BLOCKS
    projected = torch.randn(BLOCKS, int(lengths.sum()), columns, device="cuda", dtype=dtype, requires_grad=True)
    towards = torch.randn(BLOCKS, int(lengths.sum()), SIZES.heads * SIZES.d_v // BLOCKS, device="cuda", dtype=dtype)
    allowed = plan.mask(layout.lengths, layout.width)
    mask = torch.zeros(allowed.shape, device="cuda").masked_fill_(~allowed, -math.inf)

    exact = projected.detach().double().requires_grad_()
    expected = with_gradients(partial(padded, layout, mask.double()), exact, towards.double(), 0.0)
    kinds: dict[str, Attention] = {
        "kernels": partial(packed, layout, plan),
        "padded": partial(padded, layout, mask.to(dtype)),
    }
    if dtype != torch.float32 and not plan.relaxed:
        kinds["flash"] = partial(flash, layout, plan)
    for kind, attention in kinds.items():
        name = f"{str(dtype).removeprefix('torch.')}, {plan.reach}, {kind}"
        most = 1e-4 if dtype == torch.float32 else 3e-2
        check(name, with_gradients(attention, projected, towards, 0.0), expected, most)
        with torch.no_grad():
            forward = milliseconds(partial(attention, projected, dropout))
        both = milliseconds(partial(with_gradients, attention, projected, towards, dropout))
        print(f"{name}: forward {forward:.3f} ms, backward {both - forward:.3f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=250)
    parser.add_argument("--length", type=int, help="length of all sentences, instead of the lengths of a treebank")
    parser.add_argument("--dropout", type=float, default=0.2)
    parser.add_argument("--tile", type=int, default=attention_kernels.TILE, help="tile size in half precision")
    parser.add_argument("--stages", type=int, default=attention_kernels.STAGES)
    parser.add_argument("--warps", type=int, nargs=3, help="warps of the kernels: forward, queries, keys and values")
    arguments = parser.parse_args()
    attention_kernels.TILE, attention_kernels.STAGES = arguments.tile, arguments.stages
    if arguments.warps is not None:
        forward, query, key_value = arguments.warps
        attention_kernels.FORWARD_WARPS = forward
        attention_kernels.QUERY_WARPS, attention_kernels.KEY_VALUE_WARPS = query, key_value
    lengths = sentence_lengths(arguments.sentences)
    if arguments.length is not None:
        lengths = np.full(arguments.sentences, arguments.length)
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}: {len(lengths):,} sentences, ", end="")
    print(f"{lengths.sum():,} tokens, at most {lengths.max()}")
    for dtype in (torch.bfloat16, torch.float32):
        for plan in (AttentionPlan(), AttentionPlan(10), AttentionPlan(10, relaxed=True)):
            measure(lengths, plan, dtype, arguments.dropout)


if __name__ == "__main__":
    main()
