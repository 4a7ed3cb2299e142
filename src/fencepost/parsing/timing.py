"""Measures how fast a model parses on this machine, for ``fencepost bench``."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from fencepost.parsing.parser import Parser

_FIRST_TREE: Final = """
import sys, fencepost
fencepost.load(sys.argv[1], device=sys.argv[2], precision=sys.argv[3]).parse([["It", "rained", "."]])
"""


@dataclass(frozen=True)
class Speed:
    """Clock seconds are how long a user waits; CPU-seconds are the cost, and stay comparable on a busy machine."""

    sentences: int
    words: int
    seconds: float
    cpu_seconds: float

    @property
    def sentences_per_second(self) -> float:
        return self.sentences / self.seconds

    @property
    def sentences_per_cpu_second(self) -> float:
        return self.sentences / self.cpu_seconds

    @property
    def words_per_second(self) -> float:
        return self.words / self.seconds


def bench_sentences() -> list[list[str]]:
    """English sentences of 3 to 65 words, 20 on average."""
    text = resources.files("fencepost").joinpath("parsing/bench_sentences.txt").read_text("utf-8")
    return [line.split() for line in text.splitlines()]


def parsing_speed(parser: Parser, sentences: list[list[str]], seconds: float) -> Speed:
    """The fastest of the rounds that fit in this many seconds.

    Each round has twice the sentences of the one before, as long as several still fit: a GPU needs large batches.
    Sentences repeat, so words are already known from the second round on.
    """
    began = time.perf_counter()
    rounds: list[Speed] = []
    copies = 1
    while not rounds or time.perf_counter() - began + rounds[-1].seconds < seconds:
        rounds.append(_round(parser, sentences * copies))
        if rounds[-1].seconds < seconds / 16:
            copies *= 2
    return max(rounds, key=lambda speed: speed.sentences_per_cpu_second)


def _round(parser: Parser, sentences: list[list[str]]) -> Speed:
    clock, cpu = time.perf_counter(), time.process_time()
    parser.parse(sentences)
    seconds, cpu_seconds = time.perf_counter() - clock, time.process_time() - cpu
    return Speed(len(sentences), sum(map(len, sentences)), seconds, cpu_seconds)


def cold_start(model: str | Path, device: str = "cpu", precision: str = "fp32") -> Speed:
    """The time of a new process from its start through its first tree to its end; the best of three."""
    return min((_first_tree(model, device, precision) for _ in range(3)), key=lambda speed: speed.cpu_seconds)


def _first_tree(model: str | Path, device: str, precision: str) -> Speed:
    before = os.times()
    subprocess.run([sys.executable, "-c", _FIRST_TREE, str(model), device, precision], check=True)
    after = os.times()
    cpu_seconds = after.children_user + after.children_system - before.children_user - before.children_system
    return Speed(1, 3, after.elapsed - before.elapsed, cpu_seconds)
