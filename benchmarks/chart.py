"""Checks that numpy and Triton agree on charts, and times both: python benchmarks/chart.py [--device cuda]

numpy runs on one core of the host, Triton on a CUDA device. The losses run on the chosen device.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial

import numpy as np
import torch
from torch import Tensor

from fencepost.backends.charts import decode, inside
from fencepost.chart import cky, packing
from fencepost.chart.inside import span_marginals
from fencepost.chart.packing import Ints
from fencepost.chart.scores import Floats
from fencepost.model.loss import crf_loss, margin_loss


def news_lengths(sentences: int) -> Ints:
    """Sentence lengths as in newspaper text: 24 words on average, few over 60."""
    lengths: Ints = np.clip(np.random.default_rng(0).gamma(4.5, 5.3, sentences).round(), 1, 120).astype(np.int64)
    return lengths


def random_chart(lengths: Ints, seed: int, whole: bool) -> Floats:
    """Scores of all cells; with ``whole``, whole numbers from 0 up, which give many ties."""
    scores = np.random.default_rng(seed).normal(0, 1.5, int(packing.span_count(lengths).sum()))
    return (np.maximum(scores.round(), 0) if whole else scores).astype(np.float32)


def check_trees(name: str, lengths: Ints, device: str) -> None:
    for whole in (False, True):
        scores = random_chart(lengths, 1, whole)
        expected = cky.mark(scores, lengths)
        actual = decode(torch.tensor(scores, device=device), torch.tensor(lengths, device=device))
        assert np.array_equal(actual[0].cpu().numpy(), expected[0]), f"{name}: scores differ"
        assert np.array_equal(actual[1].cpu().numpy(), expected[1]), f"{name}: trees differ"
    print(f"{name}: same trees, bit for bit")


def check_sums(name: str, lengths: Ints, device: str) -> None:
    scores = random_chart(lengths, 2, whole=False)
    values, sizes = torch.tensor(scores, device=device), torch.tensor(lengths, device=device)
    errors = []
    for force_root in (False, True):
        totals, spans = span_marginals(scores.astype(np.float64), lengths, force_root)
        actual = inside(values, sizes, force_root)
        of_total = (np.abs(actual[0].cpu().numpy() - totals) / (1 + np.abs(totals))).max()
        errors.append((of_total, np.abs(actual[1].cpu().numpy() - spans).max()))
    worst_total, worst_span = np.array(errors).max(axis=0)
    print(f"{name}: relative error of log Z {worst_total:.1e}, probabilities within {worst_span:.1e}")
    assert worst_total < 1e-5, f"{name}: log Z differs"
    assert worst_span < 5e-3, f"{name}: probabilities differ"


def milliseconds(work: Callable[[], object], device: str, repeats: int = 10) -> float:
    """The median time of a call, after two warm-up calls."""
    times = []
    for _ in range(repeats + 2):
        began = time.perf_counter()
        work()
        if device == "cuda":
            torch.cuda.synchronize()
        times.append(1000 * (time.perf_counter() - began))
    return statistics.median(times[2:])


def time_charts(name: str, lengths: Ints, device: str) -> None:
    scores = random_chart(lengths, 3, whole=False)
    doubles = scores.astype(np.float64)
    values, sizes = torch.tensor(scores, device=device), torch.tensor(lengths, device=device)
    rows: list[tuple[str, Callable[[], object]]] = [
        ("decode, numpy", lambda: cky.mark(scores, lengths)),
        ("inside + outside, numpy", lambda: span_marginals(doubles, lengths)),
    ]
    if device == "cuda":
        rows.append(("decode, Triton", lambda: decode(values, sizes)))
        rows.append(("inside + outside, Triton", lambda: inside(values, sizes)))
    for what, work in rows:
        print(f"{name}: {what}: {milliseconds(work, device):.3f} ms")


def time_losses(name: str, lengths: Ints, device: str, labels: int = 110) -> None:
    sizes = torch.tensor(lengths, device=device)
    cells = int(packing.span_count(lengths).sum())
    scores = torch.randn(cells, labels, device=device)
    scores[:, 0] = 0
    scores.requires_grad_()
    gold = torch.zeros(cells, dtype=torch.int64, device=device)
    gold[torch.tensor(packing.roots(lengths), device=device)] = 1

    def step(loss: Callable[[Tensor, Tensor, Tensor], Tensor]) -> None:
        scores.grad = None
        loss(scores, gold, sizes).sum().backward()

    for what, loss in (
        ("margin loss", partial(margin_loss, decode=decode)),
        ("CRF loss", partial(crf_loss, inside=inside)),
    ):
        taken = milliseconds(lambda loss=loss: step(loss), device)  # type: ignore[misc]
        print(f"{name}: {what} and its gradient, {cells:,} spans x {labels} labels: {taken:.3f} ms")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    options.add_argument("--sentences", type=int, default=250)
    options.add_argument("--longest", type=int, default=300)
    arguments = options.parse_args()
    device, news = arguments.device, news_lengths(arguments.sentences)
    every = np.unique(np.concatenate([np.arange(1, 71), np.geomspace(70, arguments.longest, 12).astype(np.int64)]))
    print(f"torch {torch.__version__} on {torch.cuda.get_device_name() if device == 'cuda' else 'the CPU'}")
    for name, lengths in ((f"1 to {arguments.longest} words", every), (f"{len(news)} sentences of news", news)):
        check_trees(name, lengths, device)
        check_sums(name, lengths, device)
    name = f"{len(news)} sentences of news"
    time_charts(name, news, device)
    time_losses(name, news, device)
    for length in (25, 50, 100):
        time_charts(f"64 sentences of {length} words", np.full(64, length), device)
        time_losses(f"16 sentences of {length} words", np.full(16, length), device)


if __name__ == "__main__":
    main()
