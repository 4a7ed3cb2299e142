"""Checks the LSTM kernels against torch's LSTM, on CUDA at the paper's size, and times both.

    PYTHONPATH=src python benchmarks/char_lstm.py

Errors are relative to the largest value of each tensor. Times are medians of a forward and a backward pass: until the
host is free again, and until the device is done.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from fencepost.chart.packing import Ints
from fencepost.model.cuda.letters import last_states_in_one_launch
from fencepost.model.sequences import Layout

LastStates = Callable[[nn.LSTM, Tensor, Layout], Tensor]
LETTER_SIZE, SIZE = 64, 256


def by_torch(lstm: nn.LSTM, rows: Tensor, layout: Layout) -> Tensor:
    final: Tensor = lstm(layout.for_lstm(rows))[1][0]
    return final.transpose(0, 1).flatten(1)


def word_lengths(words: int) -> Ints:
    """Word lengths in letters, start and stop included: 3 to 66, about 10 on average, a few very long."""
    lengths: Ints = np.clip(np.random.default_rng(0).gamma(6.0, 1.3, words).round() + 2, 3, 66).astype(np.int64)
    lengths[:: words // 8] = np.linspace(24, 66, len(lengths[:: words // 8])).astype(np.int64)
    return lengths


def gradients(last_states: LastStates, lstm: nn.LSTM, rows: Tensor, layout: Layout, towards: Tensor) -> list[Tensor]:
    states = last_states(lstm, rows, layout)
    return [states, *torch.autograd.grad(states, (rows, *lstm.parameters()), towards.to(states.dtype))]


def check(name: str, last_states: LastStates, lstm: nn.LSTM, rows: Tensor, layout: Layout, limit: float) -> None:
    """Compares with torch's LSTM in fp64."""
    towards = torch.randn(layout.count, 2 * SIZE, device=rows.device)
    actual = gradients(last_states, lstm, rows, layout, towards)
    with torch.autocast("cuda", enabled=False):
        exact = nn.LSTM(LETTER_SIZE, SIZE, bidirectional=True, device=rows.device, dtype=torch.float64)
        exact.load_state_dict(lstm.state_dict())
        expected = gradients(by_torch, exact, rows.detach().double().requires_grad_(), layout, towards)
    errors = [((a - b).abs().max() / b.abs().max()).item() for a, b in zip(actual, expected, strict=True)]
    names = ["states", "rows", *(parameter for parameter, _ in lstm.named_parameters())]
    worst = max(range(len(errors)), key=errors.__getitem__)
    print(f"{name}: states within {errors[0]:.1e}, inputs {errors[1]:.1e}, worst {names[worst]} {errors[worst]:.1e}")
    assert errors[worst] < limit, f"{name}: {names[worst]} differs"


def milliseconds(work: Callable[[], object], repeats: int = 15) -> tuple[float, float]:
    host, total = [], []
    for _ in range(repeats + 3):
        torch.cuda.synchronize()
        began = time.perf_counter()
        work()
        host.append(1000 * (time.perf_counter() - began))
        torch.cuda.synchronize()
        total.append(1000 * (time.perf_counter() - began))
    return statistics.median(host[3:]), statistics.median(total[3:])


def measure(name: str, last_states: LastStates, lstm: nn.LSTM, rows: Tensor, layout: Layout, limit: float) -> None:
    check(name, last_states, lstm, rows, layout, limit)
    towards = torch.randn(layout.count, 2 * SIZE, device=rows.device)
    for what, work in (
        ("forward", lambda: last_states(lstm, rows, layout)),
        ("forward and backward", lambda: gradients(last_states, lstm, rows, layout, towards)),
    ):
        host, total = milliseconds(work)
        print(f"{name}: {what}: host {host:.2f} ms, total {total:.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=2000)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    torch.backends.cudnn.allow_tf32 = False  # otherwise torch's LSTM would round to tf32 even in "fp32"
    lengths = word_lengths(arguments.words)
    layout = Layout.of(lengths, torch.device("cuda"))
    rows = torch.randn(int(lengths.sum()), LETTER_SIZE, device="cuda", requires_grad=True)
    lstm = nn.LSTM(LETTER_SIZE, SIZE, bidirectional=True, device="cuda")
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name()}: {len(lengths):,} words, {len(rows):,} letters")

    measure("fp32, torch", by_torch, lstm, rows, layout, 1e-4)
    measure("fp32, kernels", last_states_in_one_launch, lstm, rows, layout, 1e-4)
    torch.set_float32_matmul_precision("high")
    measure("tf32, kernels", last_states_in_one_launch, lstm, rows, layout, 0.02)
    with torch.autocast("cuda", torch.bfloat16):
        measure("bf16, torch", by_torch, lstm, rows, layout, 0.1)
        measure("bf16, kernels", last_states_in_one_launch, lstm, rows, layout, 0.1)


if __name__ == "__main__":
    main()
