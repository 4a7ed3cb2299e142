"""The process that ``benchmarks/cpu.py`` measures. A JSON object on the command line says what to parse."""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def measure(what: dict[str, Any]) -> None:
    from fencepost import load

    parser = load(what["model"])
    parser.parse([["It", "rained", "."]])
    runs = [parse_all(parser, what) for _ in range(what.get("rounds", 1))]
    best = min(runs, key=lambda run: run["cpu_seconds"])
    print(json.dumps({**best, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024}))


def parse_all(parser: Any, what: dict[str, Any]) -> dict[str, float]:
    from fencepost.parsing.workers import parse_with_workers

    if what.get("stream"):
        trees = parser.iter_parse(generated(what["count"], None))
        began = time.process_time()
    else:
        once = read_words(what["words"]) if "words" in what else generated(what["count"], what["length"])
        sentences = list(once) * what.get("copies", 1)
        began = time.process_time()
        if "workers" in what:
            trees = parse_with_workers(parser, sentences, what["workers"])
        else:
            trees = iter(parser.parse(sentences, batch_tokens=what.get("batch_tokens")))
    count = words = 0
    with open(what.get("out", os.devnull), "w", encoding="utf-8") as out:
        for tree in trees:
            count, words = count + 1, words + len(tree.leaves())
            if "out" in what:
                out.write(f"{tree}\n")
    return {"sentences": count, "words": words, "cpu_seconds": time.process_time() - began}


def generated(count: int, length: int | None) -> Iterator[list[str]]:
    """Sentences of shuffled words, one in fifty of them new; all of one length, or of lengths as in newspapers."""
    from fencepost.parsing.timing import bench_sentences

    source = random.Random(0)
    vocabulary = [word for sentence in bench_sentences() for word in sentence]
    for _ in range(count):
        words = source.choices(vocabulary, k=length or min(120, 1 + int(source.gammavariate(4, 6))))
        yield [f"new{source.randrange(10**9)}" if source.random() < 0.02 else word for word in words]


def read_words(path: str) -> list[list[str]]:
    return [line.split() for line in Path(path).read_text("utf-8").splitlines()]


def gemm_peak() -> None:
    """The highest speed of fp32 matrix products in numpy on one thread, over several sizes."""
    import numpy as np

    best = 0.0
    for size in (512, 1024, 2048):
        matrix = np.random.default_rng(0).standard_normal((size, size), np.float32)
        for _ in range(5):
            began = time.process_time()
            for _ in range(4):
                matrix @ matrix
            best = max(best, 4 * 2 * size**3 / (time.process_time() - began))
    print(json.dumps({"peak": best}))


if __name__ == "__main__":
    gemm_peak() if sys.argv[1] == "gemm" else measure(json.loads(sys.argv[1]))
