"""Many sentences through a command: memory must stay flat. Draws it beside the results, as reliability-parse.svg."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import numpy as np
from benchmarks.attacks.harness import Outcome, new_outcome
from benchmarks.attacks.text import write_random

SAMPLES: Final = 200
FEWEST: Final = 60  # samples that show more than the start of a process
SENTENCES: Final = 20  # in a document
WIDTH, HEIGHT, MARGIN = 640, 240, 40


def run(cases: int, model: str, through: str, results: Path) -> Outcome:
    """``model`` is a model, or ``random`` for a small one; ``through`` is the command: parse or corpus."""
    outcome = new_outcome(f"soak, {through}", 0)
    began = time.monotonic()
    with TemporaryDirectory() as scratch:
        folder = Path(scratch)
        if model == "random":
            write_random(folder / "model")
            model = str(folder / "model")
        memory = _memory_of(_command(folder, cases, model, through))
        done = _count(folder / "out" if through == "corpus" else folder / "trees.txt")
    outcome.cases, outcome.peak_mb = done, round(max(memory, default=0))
    outcome.failures = int(done != cases)
    if len(memory) < FEWEST:
        outcome.note = "too short to say anything about memory"
    else:
        half = np.array(memory[len(memory) // 2 :])
        growth = 100 * float(np.polyfit(np.arange(len(half)), half, 1)[0]) * len(half) / float(half.mean())
        outcome.failures += growth > 1  # the system may take memory back, which is no leak
        outcome.note = f"memory over the second half: {growth:+.2f}% of {half.mean():.0f} MB"
    outcome.minutes = round((time.monotonic() - began) / 60, 1)
    if memory:
        picture = results.with_name(f"reliability-{through}.svg")
        picture.write_text(_picture(memory, cases), "utf-8")
    return outcome


def _command(folder: Path, cases: int, model: str, through: str) -> list[str]:
    """Writes the input, and returns the command that reads it in one process."""
    sentences = (f"{' '.join(words)}\n" for words in _sentences(cases))
    options = ["--model", model, "--workers", "1"]
    if through == "parse":
        with (folder / "words.txt").open("w", encoding="utf-8") as file:
            file.writelines(sentences)
        return ["parse", "--tokenized", str(folder / "words.txt"), "--output", str(folder / "trees.txt"), *options]
    with (folder / "texts.jsonl").open("w", encoding="utf-8") as file:
        while texts := "".join(islice(sentences, SENTENCES)):
            file.write(json.dumps({"text": texts}) + "\n")
    return ["corpus", str(folder / "texts.jsonl"), "--out", str(folder / "out"), *options]


def _memory_of(command: list[str]) -> list[float]:
    """The memory of a process while it runs, in MB, once a second."""
    memory: list[float] = []
    with subprocess.Popen([sys.executable, "-m", "fencepost", *command]) as process:
        while process.poll() is None:
            if megabytes := _resident_mb(process.pid):
                memory.append(megabytes)
            time.sleep(1)
    assert process.returncode == 0, command
    step = max(1, len(memory) // SAMPLES)
    return memory[::step]


def _count(path: Path) -> int:
    """The sentences of the output."""
    if path.is_dir():
        return int(json.loads((path / "manifest.json").read_text())["sentences"])
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _sentences(count: int) -> Iterator[tuple[str, ...]]:
    """The built-in sentences, each time with another word in them, so that caches have something to do."""
    from fencepost.parsing.timing import bench_sentences

    for number, words in enumerate(islice(cycle(bench_sentences()), count)):
        yield (*words[:-1], f"w{number % 200_000}", words[-1])


def _resident_mb(process: int) -> float:
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def _picture(memory: list[float], cases: int) -> str:
    top = 1.2 * max(memory)
    inner_width, inner_height = WIDTH - 2 * MARGIN, HEIGHT - 2 * MARGIN
    across, down = inner_width / max(1, len(memory) - 1), inner_height / top
    places = ((MARGIN + across * index, HEIGHT - MARGIN - down * each) for index, each in enumerate(memory))
    points = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    head = f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {head}>\n'
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>\n'
        f'<polyline points="{points}" fill="none" stroke="#1f5fa8" stroke-width="1.5"/>\n'
        f'<path d="M{MARGIN},{MARGIN}V{HEIGHT - MARGIN}H{WIDTH - MARGIN}" fill="none" stroke="#444"/>\n'
        f'<text x="{MARGIN}" y="{MARGIN - 10}">resident memory, MB (top of the axis: {top:.0f})</text>\n'
        f'<text x="{WIDTH - MARGIN}" y="{HEIGHT - 12}" text-anchor="end">{cases:,} sentences</text>\n'
        "</svg>\n"
    )
