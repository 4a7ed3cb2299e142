"""Tries other settings of ONNX Runtime and other sizes of batches than those that fencepost has.

    python benchmarks/onnx_options.py --words dev.words --rounds 5
    python benchmarks/onnx_options.py --words dev.words --only arena encoded=700

``dev.words`` has one tokenized sentence per line. Prints a table in Markdown: sentences per CPU-second in the fastest
round of each variant, and how many trees differ. Variants take turns, so that a busy machine slows all of them down.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import onnxruntime

import fencepost
from fencepost.backends import onnx, onnx_graphs
from fencepost.parsing.parser import Parser

Change = Callable[[Any], None]


def _level(name: str) -> Change:
    level = getattr(onnxruntime.GraphOptimizationLevel, f"ORT_ENABLE_{name}")
    return lambda options: setattr(options, "graph_optimization_level", level)


def _entry(name: str, value: str) -> Change:
    return lambda options: options.add_session_config_entry(name, value)


OPTIONS: dict[str, Change] = {
    "no memory arena": lambda options: setattr(options, "enable_cpu_mem_arena", False),
    "memory pattern": lambda options: setattr(options, "enable_mem_pattern", True),
    "basic optimisation": _level("BASIC"),
    "extended optimisation": _level("EXTENDED"),
    "no prepacking": _entry("session.disable_prepacking", "1"),
    "denormals as zero": _entry("session.set_denormal_as_zero", "1"),
    "spinning": _entry("session.intra_op.allow_spinning", "1"),
}
WITHOUT = {  # optimizers that are turned off
    "all fusions": [],
    "no fusion of gelu": [*onnx_graphs.SLOWER, "GeluFusion"],
    "no fusion of norms": [*onnx_graphs.SLOWER, "LayerNormFusion"],
}
SIZES = {
    "ENCODED": (250, 350, 700, 1000, 2000),
    "CELLS": (1024, 4096),
    "BATCH_TOKENS": (2000, 8000),
}


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--model", default="en")
    reader.add_argument("--words", type=Path, required=True)
    reader.add_argument("--rounds", type=int, default=5)
    reader.add_argument("--only", nargs="+", default=[""], help="variants whose names have one of these texts")
    arguments = reader.parse_args()
    sentences = [line.split() for line in arguments.words.read_text("utf-8").splitlines()]
    names = [*OPTIONS, *WITHOUT, *(f"{name}={size:,}" for name, sizes in SIZES.items() for size in sizes)]
    chosen = [name for name in names if any(text.lower() in name.lower() for text in arguments.only)]
    parsers = {name: _load(arguments.model, name) for name in ["as it is", *chosen]}
    seconds: dict[str, list[float]] = {name: [] for name in parsers}
    trees: dict[str, list[str]] = {}
    for _ in range(arguments.rounds + 1):  # the first one fills tables of words
        for name, parser in parsers.items():
            with _sizes(name):
                began = time.process_time()
                found = parser.parse(sentences)
                seconds[name].append(time.process_time() - began)
            trees.setdefault(name, list(map(str, found)))
    print("| variant | sentences per CPU-second | ratio | trees that differ |\n|---|---|---|---|")
    base = min(seconds["as it is"][1:])
    for name in parsers:
        best = min(seconds[name][1:])
        differ = sum(map(str.__ne__, trees[name], trees["as it is"]))
        print(f"| {name} | {len(sentences) / best:.1f} | {base / best:.3f} | {differ} of {len(sentences)} |")


def _load(model: str, name: str) -> Parser:
    original, slower = onnx_graphs.session_options, list(onnx_graphs.SLOWER)

    def changed(threads: int) -> Any:
        options = original(threads)
        OPTIONS.get(name, lambda options: None)(options)
        return options

    onnx_graphs.session_options = changed
    onnx_graphs.SLOWER[:] = WITHOUT.get(name, slower)
    try:
        return fencepost.load(model)
    finally:
        onnx_graphs.session_options = original
        onnx_graphs.SLOWER[:] = slower


@contextmanager
def _sizes(name: str) -> Iterator[None]:
    constant, _, size = name.partition("=")
    if not size:
        yield
        return
    before = getattr(onnx, constant)
    setattr(onnx, constant, int(size.replace(",", "")))
    try:
        yield
    finally:
        setattr(onnx, constant, before)


if __name__ == "__main__":
    main()
