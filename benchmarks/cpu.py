"""Measures how fast a model parses on one CPU thread. Each command answers one question with a Markdown table.

    python benchmarks/cpu.py peer --models model-fp32 model-int8 --words dev.words \\
        --benepar-python benepar-venv/bin/python --benepar-model benepar.pt
    python benchmarks/cpu.py lengths --models model-fp32 model-int8 --svg lengths.svg
    python benchmarks/cpu.py files --models model-int8 --svg files.svg
    python benchmarks/cpu.py batches --models model-int8 --words dev.words
    python benchmarks/cpu.py workers --models model-int8 --words dev.words
    python benchmarks/cpu.py cold --models model-int8 --python base-venv/bin/python
    python benchmarks/cpu.py roofline --models model-fp32 --words dev.words

``dev.words`` is what ``fencepost treebank words dev.txt`` prints. Each figure comes from a process of its own and is
in CPU-seconds, which hold on a busy machine, too. ``peer`` also needs ``benchmarks/benepar_peer.py``.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

ONE_THREAD = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
FIRST_TREE = 'import sys, fencepost; fencepost.load(sys.argv[1]).parse([["It", "rained", "."]])'
CHILD = str(Path(__file__).with_name("cpu_child.py"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("--models", nargs="+", required=True)
    parser.add_argument("--words", help="a file with one tokenized sentence per line")
    parser.add_argument("--benepar-python")
    parser.add_argument("--benepar-model")
    parser.add_argument("--python", default=sys.executable, help="Python of the installation whose start is measured")
    parser.add_argument("--rounds", type=int, default=3, help="measure this often and take the best")
    parser.add_argument("--largest", type=int, default=10**5, help="sentences in the largest file")
    parser.add_argument("--svg", help="also draw a plot")
    arguments = parser.parse_args()
    QUESTIONS[arguments.question](arguments)


# Questions


def peer(arguments: argparse.Namespace) -> None:
    """Compares with benepar's Parser with its defaults: same weights, same sentences."""
    runs: dict[str, list[dict[str, Any]]] = {}
    with TemporaryDirectory() as folder:
        for _ in range(arguments.rounds):
            script = str(Path(__file__).with_name("benepar_peer.py"))
            trees = str(Path(folder) / "benepar.txt")
            command = [arguments.benepar_python, script, "parse", arguments.benepar_model, arguments.words, trees]
            runs.setdefault("benepar", []).append(child(command))
            for model in arguments.models:
                trees = str(Path(folder) / f"{Path(model).name}.txt")
                runs.setdefault(model, []).append(parse(model, words=arguments.words, out=trees))
        expected = (Path(folder) / "benepar.txt").read_text("utf-8").splitlines()
        same = {"benepar": len(expected)}
        for model in arguments.models:
            ours = (Path(folder) / f"{Path(model).name}.txt").read_text("utf-8").splitlines()
            same[model] = sum(map(str.__eq__, ours, expected))
    base = max(rate(run) for run in runs["benepar"])
    rows = [
        [
            Path(name).name,
            f"{max(map(rate, results)):.1f}",
            f"{max(map(rate, results)) / base:.1f}",
            str(min(run["peak_mb"] for run in results)),
            f"{same[name]} of {len(expected)}",
        ]
        for name, results in runs.items()
    ]
    table(["", "sentences per CPU-second", "ratio", "peak MB", "same trees as benepar"], rows)


def lengths(arguments: argparse.Namespace) -> None:
    """The cost per word by the length of the sentence."""
    sizes = [10, 20, 50, 100, 200, 300, 500, 1000, 3000]
    runs = {
        model: [parse(model, count=max(1, 4000 // size), length=size, rounds=arguments.rounds) for size in sizes]
        for model in arguments.models
    }
    costs = {model: [1000 * run["cpu_seconds"] / run["words"] for run in results] for model, results in runs.items()}
    head = ["words in the sentence"]
    for model in arguments.models:
        head += [f"{Path(model).name}: ms per word", "s per sentence", "peak MB"]
    rows = []
    for index, size in enumerate(sizes):
        row = [f"{size:,}"]
        for model in arguments.models:
            cost, run = costs[model][index], runs[model][index]
            row += [f"{cost:.2f}", f"{cost * size / 1000:.3f}", str(run["peak_mb"])]
        rows.append(row)
    table(head, rows)
    plot(arguments.svg, "words in the sentence", sizes, {"CPU-milliseconds per word": costs})


def files(arguments: argparse.Namespace) -> None:
    """The cost per sentence, and memory, by the size of a file that is streamed."""
    counts = [10**power for power in range(2, 6) if 10**power <= arguments.largest]
    runs = {model: [parse(model, count=count, stream=True) for count in counts] for model in arguments.models}
    costs = {model: [1000 / rate(run) for run in results] for model, results in runs.items()}
    peaks = {model: [run["peak_mb"] for run in results] for model, results in runs.items()}
    head = ["sentences in the file"]
    for model in arguments.models:
        head += [f"{Path(model).name}: ms per sentence", "peak MB"]
    rows = [
        [f"{count:,}", *(cell for m in arguments.models for cell in (f"{costs[m][index]:.2f}", str(peaks[m][index])))]
        for index, count in enumerate(counts)
    ]
    table(head, rows)
    plot(arguments.svg, "sentences", counts, {"CPU-milliseconds per sentence": costs, "peak MB": peaks})


def batches(arguments: argparse.Namespace) -> None:
    rows = []
    for budget in (1, 250, 500, 1000, 2000, 4000, 8000, 16000):
        runs = [parse(model, words=arguments.words, batch_tokens=budget) for model in arguments.models]
        rows.append([f"{budget:,}", *(cell for run in runs for cell in (f"{rate(run):.1f}", str(run["peak_mb"])))])
    head = [cell for m in arguments.models for cell in (f"{Path(m).name}: sentences per CPU-second", "peak MB")]
    table(["`--batch-tokens`", *head], rows)


def workers(arguments: argparse.Namespace) -> None:
    """Speed by clock time, and by CPU time of all processes, with several workers."""
    rows = []
    for model in arguments.models:
        for count in (1, 2, 4):
            before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
            run = parse(model, words=arguments.words, workers=count, copies=8)
            after, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - began
            cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
            rows.append(
                [Path(model).name, str(count), f"{run['sentences'] / clock:.0f}", f"{run['sentences'] / cpu:.0f}"]
            )
    table(["", "processes", "sentences per second, start included", "sentences per CPU-second"], rows)


def cold(arguments: argparse.Namespace) -> None:
    """The time from the start of a process to its first tree, and the size of the installation."""
    rows = []
    python = str(Path(arguments.python).absolute())
    alone = {name: value for name, value in ONE_THREAD.items() if name != "PYTHONPATH"}
    for model in arguments.models:
        seconds = []
        for _ in range(max(arguments.rounds, 5)):
            before = os.times()
            subprocess.run([python, "-c", FIRST_TREE, model], check=True, env=alone)
            after = os.times()
            seconds.append(after[2] + after[3] - before[2] - before[3])
        rows.append([Path(model).name, f"{min(seconds):.2f}"])
    table(["", "CPU-seconds to the first tree"], rows)
    where = "import sysconfig; print(sysconfig.get_path('purelib'))"
    folder = Path(subprocess.run([python, "-c", where], capture_output=True, text=True, check=True).stdout[:-1])
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    torch = "installed" if (folder / "torch").exists() else "not installed"
    print(f"\nsite-packages: {size / 1e6:.0f} MB; torch is {torch}")


def roofline(arguments: argparse.Namespace) -> None:
    """The operations that a sentence needs, the peak of this machine, and how much of it the parser reaches."""
    from fencepost.config.toml import load_config

    sentences = [line.split() for line in Path(arguments.words).read_text("utf-8").splitlines()]
    rows = []
    for model in arguments.models:
        config = load_config(Path(model) / "config.toml")
        needed = sum(operations(config, len(sentence)) for sentence in sentences) / len(sentences)
        run = parse(model, words=arguments.words, rounds=arguments.rounds)
        reached = needed * rate(run)
        peak = float(child([sys.executable, CHILD, "gemm"])["peak"])
        rows.append(
            [
                Path(model).name,
                f"{needed / 1e9:.2f}",
                *(f"{x / 1e9:.0f}" for x in (peak, reached)),
                f"{reached / peak:.0%}",
            ]
        )
    table(["", "GFLOP per sentence", "GEMM peak, fp32 GFLOP/s", "GFLOP/s reached end to end", "of the peak"], rows)


QUESTIONS = {
    "peer": peer,
    "lengths": lengths,
    "files": files,
    "batches": batches,
    "workers": workers,
    "cold": cold,
    "roofline": roofline,
}


def operations(config: Any, words: int) -> float:
    """Floating-point operations of the encoder and the span scorer; a factored matrix is two blocks."""
    encoder, tokens = config.encoder, words + 2
    blocks = 2 if encoder.projection == "block" else 1
    projections = encoder.heads * (2 * encoder.d_k + 2 * encoder.d_v) * encoder.d_model / blocks
    feed_forward = 2 * encoder.d_model * encoder.d_ff / blocks
    attention = encoder.heads * (encoder.d_k + encoder.d_v) * tokens
    scorer = config.scorer.hidden * (tokens * encoder.d_model + 100 * words * (words + 1) / 2)
    return float(2 * (encoder.layers * tokens * (projections + feed_forward + attention) + scorer))


# Measuring


def parse(model: str, **what: Any) -> dict[str, Any]:
    return child([sys.executable, CHILD, json.dumps({"model": model, **what})])


def child(command: Sequence[str]) -> dict[str, Any]:
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, env=ONE_THREAD)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def rate(run: dict[str, Any]) -> float:
    return float(run["sentences"] / run["cpu_seconds"])


# Writing


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    for row in (head, ["---"] * len(head), *rows):
        print("| " + " | ".join(row) + " |", flush=True)


def plot(path: str | None, across: str, x: Sequence[int], panels: dict[str, dict[str, list[Any]]]) -> None:
    if path is None:
        return
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fencepost"
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(1, len(panels), figsize=(5 * len(panels), 3.2), squeeze=False, layout="constrained")
    for axis, (name, lines) in zip(axes[0], panels.items(), strict=True):
        for model, values in lines.items():
            axis.plot(x, values, marker="o", label=Path(model).name)
        axis.set(xscale="log", xlabel=across, ylabel=name, ylim=(0, None))
        axis.legend()
    figure.savefig(path, metadata={"Date": None})


if __name__ == "__main__":
    main()
