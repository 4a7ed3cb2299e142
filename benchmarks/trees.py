"""Measures reading against NLTK, and scoring against reading, as ratios of CPU time.

    python benchmarks/trees.py [--treebanks ../shared/treebanks] [--reference ../shared/reference] [--all]

Each figure is the best of several rounds, in which the tasks take turns. ``--all`` also checks that every tree of every
treebank prints as it was read.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import time
from collections.abc import Callable
from pathlib import Path

import nltk

from fencepost.evaluation.score import score
from fencepost.trees.brackets import parse_trees
from fencepost.trees.treebank import Treebank, iter_trees

SHARED = Path(__file__).resolve().parents[2] / "shared"
Task = Callable[[], object]


def best_seconds(tasks: dict[str, Task], rounds: int, collect: bool = True) -> dict[str, float]:
    """CPU seconds of the fastest round of each task; ``collect`` keeps the garbage collector on."""
    best = dict.fromkeys(tasks, float("inf"))
    for _ in range(rounds):
        for name, task in tasks.items():
            gc.collect()
            if not collect:
                gc.disable()
            began = time.process_time()
            result = task()
            best[name] = min(best[name], time.process_time() - began)
            gc.enable()
            del result
    return best


def reading(path: Path, rounds: int) -> None:
    lines = path.read_text("utf-8").splitlines()
    tasks: dict[str, Task] = {
        "nltk.Tree.fromstring on every line": lambda: [nltk.Tree.fromstring(line) for line in lines],
        "parse_trees on every line": lambda: [parse_trees(line) for line in lines],
        "Treebank.load, from the file": lambda: Treebank.load(path),
        "iter_trees, keeping none": lambda: sum(1 for _ in iter_trees(path)),
    }
    for collect in (True, False):
        seconds = best_seconds(tasks, rounds, collect)
        base = seconds["nltk.Tree.fromstring on every line"]
        print(f"reading {path.name}, {len(lines):,} trees, garbage collector {'on' if collect else 'off'}")
        for name, taken in seconds.items():
            print(f"  {name:36} {taken:7.2f} s  {base / taken:5.1f} x nltk")
    print("  required: Treebank.load at least 2 x nltk")


def scoring(gold: Path, predicted: Path, rounds: int) -> None:
    tasks: dict[str, Task] = {
        "reading both files": lambda: (Treebank.load(gold), Treebank.load(predicted)),
        "scoring, reading included": lambda: score(gold, predicted),
    }
    seconds = best_seconds(tasks, rounds * 3)
    base = seconds["reading both files"]
    print(f"scoring {gold.parent.name}")
    for name, taken in seconds.items():
        print(f"  {name:36} {taken:7.3f} s  {taken / base:5.2f} x reading")
    print("  required: at most 3 x reading")


def every_file(treebanks: Path) -> None:
    """Checks that every tree of every treebank prints as it was read."""
    began, trees = time.process_time(), 0
    for path in sorted([*treebanks.glob("*/*/*.txt"), *treebanks.glob("*/*/*.txt.gz")]):
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8", newline="\n") as file:
            for tree, line in zip(iter_trees(path), file, strict=True):
                trees += 1
                if f"{tree}\n" != line:
                    raise SystemExit(f"{path}: printed differently: {line}")
    print(f"{trees:,} trees of all treebanks print as they were read, {time.process_time() - began:.1f} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebanks", type=Path, default=SHARED / "treebanks")
    parser.add_argument("--reference", type=Path, default=SHARED / "reference")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--all", action="store_true")
    arguments = parser.parse_args()
    reading(arguments.treebanks / "en" / "craft" / "train.txt", arguments.rounds)
    sample = arguments.reference / "evalb" / "wsj-sample"
    scoring(sample / "gold.txt", sample / "predicted.txt", arguments.rounds)
    if arguments.all:
        every_file(arguments.treebanks)


if __name__ == "__main__":
    main()
