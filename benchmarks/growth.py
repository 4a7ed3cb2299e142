"""Cost as the work grows: more sentences, in documents or in a stream, and longer sentences.

    python -m benchmarks.growth input TEXT.gz… --largest 1000000 --input in.jsonl
    python -m benchmarks.growth sentences --input in.jsonl --work work --results growth.jsonl --workers 16
    python -m benchmarks.growth stream --input in.jsonl --work work --results growth.jsonl --workers 16
    python -m benchmarks.growth words --results growth.jsonl
    python -m benchmarks.growth slope --results growth.jsonl
    python -m benchmarks.growth draw --results growth.jsonl --svg growth.svg

``input`` makes documents of texts with one sentence per line. ``sentences`` parses 10³, 10⁴, … of their sentences with
``fencepost corpus``, and ``stream`` with ``fencepost parse``; without ``--input``, both take built-in sentences. Memory
is sampled every second. A run that was stopped goes on when the same command is given again, and sizes that are done
are passed over. Models: ``small`` and ``paper`` stand for random int8 weights of these configurations.

Costs are CPU-seconds, which hold on a busy machine, too. Results are appended to the file, one JSON object per line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import subprocess
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any, BinaryIO

from benchmarks.sampled_run import run_and_sample

from fencepost.parsing.timing import bench_sentences

RANDOM = ("small", "paper")
LENGTHS = (10, 30, 100, 300, 1000, 3000)
DOCUMENT = 20  # sentences, at most
BETWEEN = "\n\n"  # always the end of a sentence
# benepar 0.2.0 with random weights of the paper's size: sentences per CPU-second and peak MB
BENEPAR = {"benepar, its defaults": (10.1, 3812), "benepar, batches of 500 tokens": (25, 837)}
BENEPAR_WORDS = 24.5  # words per sentence, on average
MOST_POINTS = 200  # of a curve in the drawing
ONE_SENTENCE = r"""
import json, re, sys, time
from pathlib import Path
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
peak = re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())  # getrusage counts the parent's, too
print(json.dumps([best, int(peak[1]) * 1024 / 1e6]))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("question", choices=QUESTIONS)
    parser.add_argument("texts", nargs="*", type=Path, help="for input: packed files with one sentence per line")
    parser.add_argument("--models", nargs="+", default=["en"])
    parser.add_argument("--smallest", type=int, default=1_000)
    parser.add_argument("--largest", type=int, default=1_000_000, help="sentences in the largest corpus")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--format", choices=("jsonl", "parquet"), default="jsonl")
    parser.add_argument("--input", type=Path, help="documents as JSON Lines (default: built-in sentences)")
    parser.add_argument("--work", type=Path, help="a folder for inputs, models and output")
    parser.add_argument("--every", type=float, default=1.0, help="seconds between two samples of memory")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time; the next run goes on")
    parser.add_argument("--results", type=Path)
    parser.add_argument("--svg", type=Path)
    arguments = parser.parse_args()
    QUESTIONS[arguments.question](arguments)


# Inputs


def make_input(arguments: argparse.Namespace) -> None:
    """Documents in an order that mixes all texts, so that the end of the corpus is like its beginning."""
    documents = [document for path in arguments.texts for document in _documents(path)]
    random.Random(0).shuffle(documents)
    print(f"{write_documents(arguments.input, documents, arguments.largest):,} sentences in {arguments.input}")


def _documents(path: Path) -> Iterator[list[str]]:
    """Up to DOCUMENT sentences that follow each other. An empty line stands between two documents."""
    document: list[str] = []
    with gzip.open(path, "rt", encoding="utf-8") as file:
        for line in chain(file, "\n"):
            if line.strip():
                document.append(line.strip())
            if document and (not line.strip() or len(document) == DOCUMENT):
                yield document
                document = []


def built_in() -> Iterator[list[str]]:
    """One word in fifty is new, as in real texts."""
    choose, sentences = random.Random(0), bench_sentences()

    def changed(word: str, place: int) -> str:
        return f"new{choose.randrange(10**9)}" if word.isalpha() and place and choose.random() < 0.02 else word

    while True:
        chosen = [choose.choice(sentences) for _ in range(DOCUMENT)]
        yield [" ".join(changed(word, place) for place, word in enumerate(sentence)) for sentence in chosen]


def _given(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)["text"].split(BETWEEN)


def write_documents(
    path: Path, documents: Iterator[list[str]] | Sequence[list[str]], most: int, *, plain: bool = False
) -> int:
    """Writes up to ``most`` sentences, as JSON Lines or one per line, and returns how many there are."""
    left = most
    with path.open("w", encoding="utf-8") as file:
        for number, document in enumerate(documents):
            own = document[:left]
            left -= len(own)
            text = BETWEEN.join(own)
            file.write("\n".join(own) + "\n" if plain else json.dumps({"id": number, "text": text}) + "\n")
            if not left:
                break
    return most - left


# Questions


def sentences(arguments: argparse.Namespace) -> None:
    """10³, 10⁴, … sentences of documents, through ``fencepost corpus``."""
    for model, count, folder, label in _runs(arguments, "corpus"):
        out = folder / f"corpus-{model}-{count}-{arguments.workers}"
        source = _input(arguments, folder / f"in-{count}.jsonl", count)
        command = ["corpus", source, "--out", out, "--format", arguments.format]
        progress = partial(_sentences_in, out, {})
        if _run(arguments, model, command, label, progress):
            manifest = json.loads((out / "manifest.json").read_text())
            size = sum(part["bytes"] for part in manifest["parts"])
            _finish(arguments, label, manifest["sentences"], output_mb=round(size / 1e6, 1))


def stream(arguments: argparse.Namespace) -> None:
    """10³, 10⁴, … lines, through ``fencepost parse``. A run that is stopped starts again from the first line."""
    for model, count, folder, label in _runs(arguments, "parse"):
        source = _input(arguments, folder / f"in-{count}.txt", count, plain=True)
        lines = [0]

        def read(output: BinaryIO, lines: list[int] = lines) -> None:
            while piece := output.read(1 << 16):
                lines[0] += piece.count(b"\n")

        command = ["parse", "--lines", source]
        if _run(arguments, model, command, label, lambda lines=lines: lines[0], stdout=subprocess.PIPE, read=read):
            _finish(arguments, label, lines[0])


def _runs(arguments: argparse.Namespace, command: str) -> Iterator[tuple[str, int, Path, dict[str, Any]]]:
    """Models and sizes that aren't done yet: each with a folder, and the label of its lines in the results."""
    arguments.work.mkdir(exist_ok=True)
    done = [each for each in _results(arguments.results) if each["question"] == "sentences"]
    for model in arguments.models:
        count = arguments.smallest
        while count <= arguments.largest:
            label = {"command": command, "model": model, "size": count, "workers": arguments.workers}
            if not any(label.items() <= each.items() for each in done):
                yield model, count, arguments.work, label
            count *= 10


def _input(arguments: argparse.Namespace, path: Path, count: int, *, plain: bool = False) -> Path:
    if not path.exists():
        growing = path.with_suffix(".partial")
        write_documents(growing, _given(arguments.input) if arguments.input else built_in(), count, plain=plain)
        growing.rename(path)
    return path


def _run(
    arguments: argparse.Namespace, model: str, command: list[Any], label: dict[str, Any], *rest: Any, **more: Any
) -> bool:
    start = [sys.executable, "-m", "fencepost", *command, "--workers", arguments.workers]
    session = 1 + max((each["session"] for each in _samples(_results(arguments.results), label)), default=0)
    return run_and_sample(
        [*start, "--model", _model(model, arguments.work)],
        arguments.results,
        {**label, "session": session},
        *rest,
        every=arguments.every,
        most_seconds=arguments.seconds,
        **more,
    )


def _sentences_in(out: Path, known: dict[str, int]) -> int:
    """The sentences of the parts that are written. ``known`` are those that were counted before."""
    for path in out.glob("part-*"):
        state = out / ".state" / f"{path.stem}.json"
        if path.name not in known and state.exists():
            known[path.name] = json.loads(state.read_text())["sentences"]
    return sum(known.values())


def _finish(arguments: argparse.Namespace, label: dict[str, Any], count: int, **more: Any) -> None:
    """Adds up the sessions of a run. One that was killed has no last line, only samples."""
    results = _results(arguments.results)
    samples = _samples(results, label)
    sessions = [each for each in results if each["question"] == "session" and label.items() <= each.items()]
    took: dict[str, dict[int, float]] = {"cpu_seconds": {}, "seconds": {}}
    for each in samples + sessions:
        for name, values in took.items():
            values[each["session"]] = max(each[name], values.get(each["session"], 0))
    sums = {name: round(sum(values.values()), 2) for name, values in took.items()}
    result = {**label, "sentences": count, **sums, "peak_mb": max(each["peak_mb"] for each in samples), **more}
    _append(arguments.results, {"question": "sentences", **result})


def words(arguments: argparse.Namespace) -> None:
    """One sentence of 10 to 3,000 words."""
    choose, vocabulary = random.Random(0), [word for sentence in bench_sentences() for word in sentence]
    for length in LENGTHS:
        sentence = json.dumps(choose.choices(vocabulary, k=length))
        for model in arguments.models:
            command = [sys.executable, "-c", ONE_SENTENCE, _model(model, arguments.work), sentence]
            output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            cpu, peak = json.loads(output)
            result = {"words": length, "cpu_seconds": round(cpu, 4), "peak_mb": round(peak, 1)}
            _append(arguments.results, {"question": "words", "model": model, **result})


# Results


def slope(arguments: argparse.Namespace) -> None:
    """How much memory changes in the second half of each run."""
    results = _results(arguments.results)
    keys = ("command", "model", "size", "workers")
    labels = {tuple(each[key] for key in keys): None for each in results if each["question"] == "sample"}
    for values in labels:
        label = dict(zip(keys, values, strict=True))
        if found := _second_half(_samples(results, label)):
            print(json.dumps({**label, **found}))


def _second_half(samples: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The straight line through memory in the second half of the sentences, in the session with the most samples."""
    import numpy as np

    sessions = [each["session"] for each in samples]
    longest = max(set(sessions), key=sessions.count)
    full = max(len(each["workers_mb"]) for each in samples)
    own = [each for each in samples if each["session"] == longest and len(each["workers_mb"]) == full]
    first, last = own[0]["sentences"], own[-1]["sentences"]
    half = [each for each in own if each["sentences"] >= (first + last) / 2]
    count = np.array([each["sentences"] for each in half])
    if len(half) < 10 or len(set(count.tolist())) < 2:
        return None
    found = {}
    for name, memory in (
        ("parent", np.array([each["parent_mb"] for each in half])),
        ("workers", np.array([sum(each["workers_mb"]) for each in half])),
        ("all", np.array([each["parent_mb"] + sum(each["workers_mb"]) for each in half])),
    ):
        if memory.any():
            change = float(np.polyfit(count, memory, 1)[0] * (count.max() - count.min()) / memory.mean())
            found[name] = {"mean_mb": round(float(memory.mean()), 1), "change_percent": round(100 * change, 2)}
    flat = abs(found["all"]["change_percent"]) <= 1
    return {"sentences": last, "samples in the second half": len(half), "memory": found, "within 1%": flat}


def draw(arguments: argparse.Namespace) -> None:
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fencepost"
    from matplotlib import pyplot

    results = _results(arguments.results)
    figure = pyplot.figure(figsize=(11, 10.5), layout="constrained")
    grid = figure.add_gridspec(3, 2)
    places = (grid[0, 0], grid[0, 1], grid[1, :], grid[2, 0], grid[2, 1])
    cost, memory, flat, word_cost, word_memory = axes = [figure.add_subplot(place) for place in places]
    runs = [each for each in results if each["question"] == "sentences"]
    for command, model, workers in dict.fromkeys((each["command"], each["model"], each["workers"]) for each in runs):
        label = {"command": command, "model": model, "workers": workers}
        own = sorted((each for each in runs if label.items() <= each.items()), key=lambda each: each["sentences"])
        name = f"{model}, {command}, {workers} {'process' if workers == 1 else 'processes'}"
        counts = [each["sentences"] for each in own]
        cost.plot(counts, [1000 * each["cpu_seconds"] / each["sentences"] for each in own], marker="o", label=name)
        samples = _samples(results, {**label, "size": own[-1]["size"]})
        for part, of in (("parent", _parent_mb), ("a worker", _worker_mb)) if workers > 1 else (("", _parent_mb),):
            points = [(each["sentences"], of(each)) for each in samples if each["sentences"] and of(each)]
            points = points[:: max(1, len(points) // MOST_POINTS)]
            for axis in (memory, flat):
                axis.plot(*zip(*points, strict=True), label=f"{name}{', ' * bool(part)}{part}")
    for model in dict.fromkeys(each["model"] for each in results if each["question"] in ("sentences", "words")):
        single = [each for each in results if each["question"] == "words" and each["model"] == model]
        lengths = [each["words"] for each in single]
        word_cost.plot(lengths, [1000 * each["cpu_seconds"] for each in single], marker="o", label=model)
        word_memory.plot(lengths, [each["peak_mb"] for each in single], marker="o", label=model)
    for (name, (rate, peak)), style in zip(BENEPAR.items(), ("dotted", "dashed"), strict=True):
        cost.axhline(1000 / rate, color="grey", linestyle=style, label=name)
        memory.axhline(peak, color="grey", linestyle=style, label=name)
    rate, _ = BENEPAR["benepar, its defaults"]
    word_cost.plot([BENEPAR_WORDS], [1000 / rate], "x", color="grey", label="benepar, its defaults")
    cost.set(xlabel="sentences", ylabel="CPU-milliseconds per sentence", ylim=(0.2, None))
    memory.set(xlabel="sentences parsed so far", ylabel="MB per process", ylim=(50, None))
    word_cost.set(xlabel="words in the sentence", ylabel="CPU-milliseconds per sentence")
    word_memory.set(xlabel="words in the sentence", ylabel="peak MB", ylim=(50, None))
    flat.set(xlabel="sentences parsed so far", ylabel="MB per process", ylim=(0, None))
    flat.xaxis.set_major_formatter("{x:,.0f}")
    for axis in (cost, memory, word_cost, word_memory):
        axis.set(xscale="log", yscale="log")
    for axis in axes:
        axis.legend(fontsize="small", loc="lower right" if axis is flat else "best")
    figure.savefig(arguments.svg, metadata={"Date": None})


def _parent_mb(sample: dict[str, Any]) -> float:
    return float(sample["parent_mb"])


def _worker_mb(sample: dict[str, Any]) -> float:
    workers = sample["workers_mb"]
    return sum(workers) / len(workers) if workers else 0.0


def _results(path: Path) -> list[dict[str, Any]]:
    """All lines but those that were cut when a machine went away."""
    lines = path.read_text().splitlines() if path.exists() else []
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def _samples(results: list[dict[str, Any]], label: dict[str, Any]) -> list[dict[str, Any]]:
    return [each for each in results if each["question"] == "sample" and label.items() <= each.items()]


def _append(path: Path, result: dict[str, Any]) -> None:
    with path.open("a") as file:
        file.write(json.dumps(result) + "\n")


def _model(name: str, folder: Path | None) -> str:
    if name not in RANDOM:
        return name
    from fencepost.export.random_model import write_random_model

    assert folder is not None
    folder.mkdir(exist_ok=True)
    if not (folder / name).exists():
        write_random_model(name, folder / name, exported=True)
    return str(folder / name)


QUESTIONS = {
    "input": make_input,
    "sentences": sentences,
    "stream": stream,
    "words": words,
    "slope": slope,
    "draw": draw,
}

if __name__ == "__main__":
    main()
