"""Cost as the work grows: more sentences through ``fencepost corpus``, and longer sentences through a parser.

    python benchmarks/growth.py sentences --models en small --largest 100000 --results growth.jsonl
    python benchmarks/growth.py words --models en small --results growth.jsonl
    python benchmarks/growth.py draw --results growth.jsonl --svg growth.svg

``small`` and ``paper`` stand for random int8 weights of these configurations. Each figure comes from its own process,
in CPU-seconds, which hold on a busy machine, too. Results are appended to the file, one JSON object per line.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fencepost.parsing.timing import bench_sentences

RANDOM = ("small", "paper")
LENGTHS = (10, 30, 100, 300, 1000, 3000)
# benepar 0.2.0 with random weights of the paper's size, sentences of 24.5 words on average: docs/results/cpu.md
BENEPAR_MILLISECONDS = 1000 / 10.1
BENEPAR_WORDS = 24.5
ONE_SENTENCE = """
import json, sys, time
from fencepost import load
parser, words = load(sys.argv[1]), json.loads(sys.argv[2])
parser.parse([words[:10]])
best = None
for _ in range(3):
    began = time.process_time()
    parser.parse([words])
    best = min(best or 1e9, time.process_time() - began)
    if best > 5:
        break
print(best)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=("sentences", "words", "draw"))
    parser.add_argument("--models", nargs="+", default=["en", "small"])
    parser.add_argument("--smallest", type=int, default=1_000)
    parser.add_argument("--largest", type=int, default=1_000_000, help="sentences in the largest corpus")
    parser.add_argument("--results", type=Path, required=True)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    if arguments.question == "draw":
        draw([json.loads(line) for line in arguments.results.read_text().splitlines()], arguments.svg)
        return
    with TemporaryDirectory() as folder:
        for name in arguments.models:
            model = _model(name, Path(folder))
            found = sentences(model, Path(folder), arguments) if arguments.question == "sentences" else words(model)
            for result in found:
                with arguments.results.open("a") as file:
                    file.write(json.dumps({"question": arguments.question, "model": name, **result}) + "\n")


def sentences(model: str, folder: Path, arguments: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Corpora of 10³, 10⁴, … sentences, parsed into Parquet by one process."""
    count = arguments.smallest
    while count <= arguments.largest:
        write_corpus(folder / "in.jsonl", count)
        command = ["corpus", folder / "in.jsonl", "--out", folder / str(count), "--model", model]
        command += ["--format", "parquet", "--workers", "1"]
        before, began = os.times(), time.perf_counter()
        process = subprocess.Popen([sys.executable, "-m", "fencepost", *map(str, command)], stderr=subprocess.DEVNULL)
        memory = list(watch(process, folder / str(count)))
        assert process.returncode == 0
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        manifest = json.loads((folder / str(count) / "manifest.json").read_text())
        yield {
            "sentences": manifest["sentences"],
            "cpu_seconds": round(cpu, 2),
            "seconds": round(time.perf_counter() - began, 1),
            "peak_mb": max(megabytes for _, megabytes in memory),
            "output_mb": round(sum(part["bytes"] for part in manifest["parts"]) / 1e6, 1),
            "memory": memory[:: max(len(memory) // 200, 1)],
        }
        count *= 10


def watch(process: subprocess.Popen[bytes], out: Path) -> Iterator[tuple[float, int]]:
    """The share of the parts that are done, and the memory of the process in MB, until it ends."""
    total = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text()
        resident = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
        plan = out / ".state" / "plan.json"
        if not total and plan.exists():
            total = len(json.loads(plan.read_text())["starts"])
        done = len(list(out.glob("part-*")))
        if resident:
            yield round(done / total, 3) if total else 0.0, resident // 1024
        time.sleep(0.2)


def words(model: str) -> Iterator[dict[str, Any]]:
    """One sentence of 10 to 3,000 words."""
    choose, vocabulary = random.Random(0), [word for sentence in bench_sentences() for word in sentence]
    for length in LENGTHS:
        sentence = json.dumps(choose.choices(vocabulary, k=length))
        command = [sys.executable, "-c", ONE_SENTENCE, model, sentence]
        result = subprocess.run(command, capture_output=True, text=True, check=True)
        yield {"words": length, "cpu_seconds": round(float(result.stdout), 4)}


def write_corpus(path: Path, count: int) -> None:
    """Documents of 20 built-in sentences; one word in fifty is new, as in real texts."""
    choose, texts = random.Random(0), bench_sentences()
    with path.open("w", encoding="utf-8") as file:
        for number in range(0, count, 20):
            chosen = [choose.choice(texts) for _ in range(min(20, count - number))]
            text = " ".join(
                f"new{choose.randrange(10**9)}" if word.isalpha() and place > 0 and choose.random() < 0.02 else word
                for sentence in chosen
                for place, word in enumerate(sentence)
            )
            file.write(json.dumps({"id": number, "text": text}) + "\n")


def draw(results: list[dict[str, Any]], path: Path) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fencepost"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
    for name in dict.fromkeys(result["model"] for result in results):
        own = [result for result in results if result["model"] == name]
        corpora = [result for result in own if result["question"] == "sentences"]
        costs = [1000 * result["cpu_seconds"] / result["sentences"] for result in corpora]
        axes[0].plot([result["sentences"] for result in corpora], costs, marker="o", label=name)
        if corpora:
            largest = corpora[-1]
            label = f"{name}, {largest['sentences']:,} sentences"
            axes[1].plot(
                [100 * share for share, _ in largest["memory"]], [mb for _, mb in largest["memory"]], label=label
            )
        single = [result for result in own if result["question"] == "words"]
        axes[2].plot(
            [each["words"] for each in single], [1000 * each["cpu_seconds"] for each in single], marker="o", label=name
        )
    axes[0].axhline(BENEPAR_MILLISECONDS, color="grey", linestyle=":", label="benepar, paper's size")
    axes[2].plot([BENEPAR_WORDS], [BENEPAR_MILLISECONDS], "x", color="grey", label="benepar, paper's size")
    axes[0].set(xscale="log", yscale="log", xlabel="sentences in the corpus", ylabel="CPU-milliseconds per sentence")
    axes[1].set(xlabel="% of the parts written", ylabel="memory of the process, MB", ylim=(0, None))
    axes[2].set(xscale="log", yscale="log", xlabel="words in the sentence", ylabel="CPU-milliseconds per sentence")
    for axis in axes:
        axis.legend()
    figure.savefig(path, metadata={"Date": None})


def _model(name: str, folder: Path) -> str:
    if name not in RANDOM:
        return name
    from fencepost.export.random_model import write_random_model

    if not (folder / name).exists():
        write_random_model(name, folder / name, exported=True)
    return str(folder / name)


if __name__ == "__main__":
    main()
