"""Measures how fast a model parses on a GPU, from word lists to lines of brackets, with one or more processes.

    PYTHONPATH=src python benchmarks/gpu_parse.py --model runs/craft --trees TREEBANKS/en/wsj-sample/*.txt --times 3
    PYTHONPATH=src python benchmarks/gpu_parse.py --model en --trees TREEBANKS/en/wsj-sample/*.txt --processes 1 4 6

Every process parses all sentences, and all begin together. A figure is the fastest of several passes after a pass that
compiles kernels. One more pass runs with torch's profiler, and says how busy the GPU was:

    busy          the share of the time in which at least one process ran a kernel or a copy
    busy_sum      the time of all kernels and copies by that of the pass; kernels of processes that take turns on the
                  GPU count until they end, so this can be more than 1
    nvidia_smi    the mean of what nvidia-smi said every 100 ms during the passes without profiler
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import torch
from torch.profiler import ProfilerActivity

import fencepost
from fencepost.parsing.parser import Parser, Precision
from fencepost.trees.treebank import Sentence, Treebank

Figures = dict[str, Any]
Interval = tuple[int, int]  # nanoseconds of the system's clock, which all processes share
Pass = tuple[Interval, list[Interval]]  # when it began and ended, and when the GPU worked for it


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--model", required=True)
    reader.add_argument("--trees", type=Path, nargs="+", required=True)
    reader.add_argument("--times", type=int, default=1, help="parse each sentence this often")
    reader.add_argument("--device", default="cuda")
    reader.add_argument("--precision", nargs="+", default=["bf16", "fp32"])
    reader.add_argument("--batch-tokens", type=int, nargs="+", default=[10_000, 20_000, 40_000, 80_000])
    reader.add_argument("--processes", type=int, nargs="+", default=[1])
    reader.add_argument("--passes", type=int, default=3)
    reader.add_argument("--out", type=Path)
    options = reader.parse_args()
    sentences = [Sentence(each.words, each.tags) for path in options.trees for each in Treebank.load(path).sentences()]
    words = sum(map(len, sentences)) / len(sentences)
    print(f"{options.times} times {len(sentences):,} sentences of {words:.1f} words; torch {torch.__version__}")
    rows = []
    with crew(max(options.processes), sentences, options.times) as team:
        for precision in options.precision:
            team.load(options.model, options.device, precision)
            for tokens in options.batch_tokens:
                for count in options.processes:
                    row = {"precision": precision, **team.measure(count, tokens, options.passes)}
                    print(json.dumps(row), flush=True)
                    rows.append(row)
    if options.out is not None:
        options.out.write_text(json.dumps(rows, indent=1))


class Crew:
    """Processes that parse the same sentences. They are started once, and then a few or all of them are measured."""

    def __init__(self, connections: Sequence[Connection], sentences: int) -> None:
        self._connections, self._sentences = connections, sentences
        self._on_gpu = False

    def load(self, model: str, device: str, precision: Precision) -> float:
        """Loads a model in every process in place of the one before; returns the seconds it took."""
        began = time.perf_counter()
        self._on_gpu = device != "cpu"
        self._ask(len(self._connections), ("load", model, device, precision))
        return time.perf_counter() - began

    def measure(self, count: int, batch_tokens: int, passes: int) -> Figures:
        self._ask(count, ("parse", batch_tokens, False))
        with smi_samples(self._on_gpu) as samples:
            turns = [self._ask(count, ("parse", batch_tokens, False)) for _ in range(passes)]
        rates = [round(count * self._sentences / _seconds(turn)) for turn in turns]
        found: Figures = {"processes": count, "batch_tokens": batch_tokens, "rate": max(rates), "passes": rates}
        if self._on_gpu:
            found |= {"nvidia_smi": round(statistics.fmean(samples) / 100, 3) if samples else None}
            turn = self._ask(count, ("parse", batch_tokens, True))
            found |= {"rate_with_profiler": round(count * self._sentences / _seconds(turn)), **_busy(turn)}
        return found

    def _ask(self, count: int, question: tuple[Any, ...]) -> list[Any]:
        for connection in self._connections[:count]:
            connection.send(question)
        answers = [connection.recv() for connection in self._connections[:count]]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers


@contextmanager
def crew(count: int, sentences: list[Sentence], times: int) -> Iterator[Crew]:
    context = get_context("spawn")
    pipes = [context.Pipe() for _ in range(count)]
    processes = [context.Process(target=_work, args=(theirs, sentences, times), daemon=True) for _, theirs in pipes]
    for process, (_, theirs) in zip(processes, pipes, strict=True):
        process.start()
        theirs.close()
    try:
        yield Crew([ours for ours, _ in pipes], len(sentences) * times)
    finally:
        for ours, _ in pipes:
            ours.close()
        for process in processes:
            process.terminate()
            process.join()


def _work(connection: Connection, sentences: list[Sentence], times: int) -> None:
    """In a process: answers questions until the pipe closes."""
    torch.set_num_threads(1)
    parser: Parser | None = None
    with suppress(EOFError):
        while True:
            what, *given = connection.recv()
            try:
                if what == "load":
                    parser = None
                    model, device, precision = given
                    parser = fencepost.load(model, device=device, backend="torch", precision=precision)
                    connection.send(None)
                else:
                    assert parser is not None
                    connection.send(_parse(parser, sentences * times, *given))
            except Exception as error:
                connection.send(RuntimeError(f"{type(error).__name__}: {error}"))


def _parse(parser: Parser, sentences: list[Sentence], tokens: int, is_profiled: bool) -> Pass:
    if not is_profiled:
        return _pass(parser, sentences, tokens), []
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA]) as profiler:
        whole = _pass(parser, sentences, tokens)
        torch.cuda.synchronize()
    return whole, kernel_times(profiler)


def _pass(parser: Parser, sentences: list[Sentence], tokens: int) -> Interval:
    """From words to lines of brackets."""
    began = time.time_ns()
    lines = list(map(str, parser.iter_parse(sentences, batch_tokens=tokens)))
    ended = time.time_ns()
    assert len(lines) == len(sentences)  # also keeps the text alive until the clock has stopped
    return began, ended


def kernel_times(profiler: torch.profiler.profile) -> list[Interval]:
    """When each kernel and each copy ran."""
    assert profiler.profiler is not None
    results = profiler.profiler.kineto_results
    assert results is not None
    # Waiting counts as an event of the device, too.
    events = (event for event in results.events() if event.device_type().name != "CPU")
    works = (event for event in events if not event.name().endswith((" Sync", " Wait Event")))
    return [(event.start_ns(), event.start_ns() + event.duration_ns()) for event in works]


def covered(intervals: Sequence[Interval]) -> int:
    """The length of the union."""
    total, until = 0, 0
    for begin, end in sorted(intervals):
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


def _busy(turn: list[Pass]) -> Figures:
    intervals = [interval for _, found in turn for interval in found]
    whole = _seconds(turn) * 1e9
    alone = [sum(end - begin for begin, end in found) for _, found in turn]
    return {
        "busy": round(covered(intervals) / whole, 3),
        "busy_sum": round(sum(alone) / whole, 3),
        "gpu_seconds": round(covered(intervals) / 1e9, 4),
    }


def _seconds(turn: list[Pass]) -> float:
    """From the first begin to the last end."""
    return (max(end for (_, end), _ in turn) - min(begin for (begin, _), _ in turn)) / 1e9


@contextmanager
def smi_samples(wanted: bool = True) -> Iterator[list[float]]:
    """Percentages of utilization, one every 100 ms, filled in when the ``with`` block ends; none without nvidia-smi."""
    samples: list[float] = []
    command = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", "-i", "0", "-lms", "100"]
    try:
        watcher = subprocess.Popen(command, stdout=subprocess.PIPE, text=True) if wanted else None
    except OSError:
        watcher = None
    try:
        yield samples
    finally:
        if watcher is not None:
            watcher.terminate()
            for line in watcher.communicate()[0].splitlines():
                with suppress(ValueError):
                    samples.append(float(line))


if __name__ == "__main__":
    main()
