"""Measures parsing and training on a GPU in a few minutes, and says what limits them: the GPU, or a part of the host.

    PYTHONPATH=src python benchmarks/gpu_probe.py --treebanks TREEBANKS --out probe

TREEBANKS holds en/wsj-sample and en/craft, each with train, dev and test (.txt or .txt.gz). The stages, in order:

    trees      the shipped model finds the same trees on the device as on ONNX Runtime
    training   trains the paper's model on en/craft for some seconds: sentences per second, host and GPU time of a step;
               then some steps that prepare their own batches instead of receiving them from another process
    paper      parses the WSJ sample with that model, from word lists to lines of brackets, by batch size
    en         the same with the shipped model
    processes  the same with both models in several processes that share the device, by gpu_parse.py
    corpus     parses running text to JSON Lines by `fencepost corpus` with the shipped model and the most processes

With ``--stages training processes corpus --processes 1 4 6 --batch-tokens 80000`` it gives the rates alone. A figure of
parsing is the fastest of several passes after a pass that compiles kernels. In the stages paper and en, one more pass
runs with clocks around each step of the host, and one with torch's profiler. ``busy`` is the share of the time in which
the GPU runs at least one kernel or copy, in a pass with the profiler, which slows the host down.
``gpu_time_by_step_time`` divides the GPU's time in profiled steps by the time of steps without profiler. Everything is
written to OUT/probe.json after each stage, and to OUT/probe.md at the end.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch.profiler import ProfilerActivity

import fencepost
from fencepost.backends.torch import TorchBackend
from fencepost.chart import cky
from fencepost.config.toml import load_config
from fencepost.experiments.data import find_part
from fencepost.features.indexer import Indexer
from fencepost.parsing.parsed_batch import ParsedBatch
from fencepost.parsing.parser import Parser, Precision
from fencepost.parsing.timing import bench_sentences
from fencepost.storage.model_folder import ModelFolder
from fencepost.training import trainer as trainer_module
from fencepost.training.data import TrainingSet
from fencepost.training.prefetch import BatchProcess
from fencepost.training.process_state import restored_process
from fencepost.training.saving import save_best_model
from fencepost.training.trainer import Trainer
from fencepost.trees.treebank import Sentence, Treebank
from gpu_parse import crew, smi_samples  # type: ignore[import-not-found]

Figures = dict[str, Any]
DEVICE_CATEGORIES = ("kernel", "gpu_memcpy", "gpu_memset")  # in torch's traces
PART_BYTES = 400_000
SPLITS = ("train", "dev", "test")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--treebanks", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--device", default="cuda")
    reader.add_argument("--config", default="paper")
    reader.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="settings of the training run")
    reader.add_argument("--train-seconds", type=float, default=20.0)
    reader.add_argument("--times", type=int, default=3, help="parse each sentence of the WSJ sample this often")
    reader.add_argument("--passes", type=int, default=2)
    reader.add_argument("--batch-tokens", type=int, nargs="+", default=[20_000, 40_000, 80_000])
    reader.add_argument("--processes", type=int, nargs="+", default=[4])
    reader.add_argument("--stages", nargs="+", default=["trees", "training", "paper", "en", "processes", "corpus"])
    reader.add_argument("--corpus-sentences", type=int, default=150_000)
    reader.add_argument("--model", type=Path, help="the paper's model, trained before (without the stage training)")
    options = reader.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    Probe(options).run()


class Probe:
    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.figures: Figures = {"device": _device_name(options.device), "torch": torch.__version__}
        self.model: Path | None = options.model
        self._sentences: list[Sentence] = []

    def run(self) -> None:
        print(json.dumps(self.figures), flush=True)
        with tempfile.TemporaryDirectory() as scratch:
            for stage in self.options.stages:
                began = time.perf_counter()
                try:
                    found = getattr(self, f"_{stage}")(Path(scratch))
                except Exception:
                    found = {"failed": traceback.format_exc()}
                found["stage_seconds"] = round(time.perf_counter() - began, 1)
                self.figures[stage] = found
                print(f"{stage}: {json.dumps(found, indent=1)}", flush=True)
                self._write()
        (self.options.out / "probe.md").write_text(_markdown(self.figures))
        print(_summary(self.figures), flush=True)

    def _write(self) -> None:
        (self.options.out / "probe.json").write_text(json.dumps(self.figures, indent=1))

    @property
    def count(self) -> int:
        """The sentences of the WSJ sample, each once."""
        return len(self.sentences()) // int(self.options.times)

    def sentences(self) -> list[Sentence]:
        """The WSJ sample, without tags."""
        if not self._sentences:
            folder = self.options.treebanks / "en" / "wsj-sample"
            loaded = Treebank.load(*(find_part(folder, split) for split in SPLITS)).sentences()
            self._sentences = [Sentence(each.words) for each in loaded] * self.options.times
        return self._sentences

    def _trees(self, _: Path) -> Figures:
        """On ONNX Runtime the products are in int8, so a tree may differ; on torch in fp32 none should."""
        sentences = bench_sentences()[:50]
        began = time.perf_counter()
        parser = fencepost.load("en", device=self.options.device, backend="torch")
        figures: Figures = {"load_seconds": round(time.perf_counter() - began, 2), "sentences": len(sentences)}
        lowered = _parser(ModelFolder.open("en"), self.options.device, "bf16")
        found = {"fp32": parser.parse(sentences), "bf16": lowered.parse(sentences)}
        for name in ("onnx", "torch"):
            expected = fencepost.load("en", backend=name).parse(sentences)
            for precision, trees in found.items():
                same = sum(str(one) == str(other) for one, other in zip(trees, expected, strict=True))
                figures[f"{precision}_same_as_{name}_on_the_cpu"] = same
        return figures

    def _training(self, scratch: Path) -> Figures:
        overrides = ["train.precision=bf16", *self.options.set]
        config = load_config(self.options.config, overrides)
        folder = self.options.treebanks / "en" / "craft"
        began = time.perf_counter()
        train, dev = (list(Treebank.load(find_part(folder, split))) for split in ("train", "dev"))
        read = time.perf_counter() - began
        device = torch.device(self.options.device)
        with restored_process(device), BatchProcess() as process:
            trainer = Trainer(config, train, dev, device, process=process)
            prepared = time.perf_counter() - began - read
            figures = self._train(trainer)
            figures |= {"read_seconds": round(read, 1), "prepare_seconds": round(prepared, 1)}
            check = trainer.check()
            save_best_model(trainer, scratch / "paper")
        self.model = scratch / "paper"
        figures["dev_f1"] = round(check.f1, 2)
        if device.type == "cuda":
            figures["peak_gib"] = round(torch.cuda.max_memory_allocated() / 2**30, 2)
        return figures

    def _train(self, trainer: Trainer) -> Figures:
        batches, size = trainer.batches(), trainer.config.train.batch_size
        took: list[float] = []  # seconds of each ten steps
        end = time.perf_counter() + self.options.train_seconds
        with smi_samples(trainer.device.type == "cuda") as samples:
            while time.perf_counter() < end:
                began = time.perf_counter()
                _steps(trainer, batches, 10)
                _synchronize(trainer.device)
                took.append(time.perf_counter() - began)
        late = sorted(took[len(took) // 2 :])  # by then all graphs are recorded
        median = late[len(late) // 2] / 10
        _synchronize(trainer.device)
        began = time.perf_counter()
        _steps(trainer, batches, 50)
        launched = time.perf_counter() - began
        _synchronize(trainer.device)
        whole = time.perf_counter() - began
        clocks = Clocks()
        with ExitStack() as stack:
            for owner, name, label in TRAINING_STEPS:
                stack.enter_context(clocks.around(owner, name, label))
            stack.enter_context(clocks.around(trainer._prefetch, "get", "wait for the batch"))
            stack.enter_context(clocks.around(trainer._prefetch, "begin", "ask for the next batch"))
            stack.enter_context(clocks.around(trainer.model, "forward", "forward"))
            stack.enter_context(clocks.around(trainer.optimizer, "step", "optimizer"))
            stack.enter_context(clocks.around(trainer.masters, "take_gradients", "take gradients"))
            stack.enter_context(clocks.around(trainer.masters, "give_values", "give values"))
            stack.enter_context(clocks.around(trainer, "step", "whole step"))
            _steps(trainer, batches, 50)
            _synchronize(trainer.device)
        with profiled(trainer.device) as profile:
            _steps(trainer, batches, 20)
            _synchronize(trainer.device)
        gpu = profile.get("gpu_seconds", 0.0) / 20
        with clocks.around(TrainingSet, "flat", "alone: prepare a batch"):
            for step in range(50):
                trainer.data.flat(trainer.order.batch(step), trainer.config.train.batch_tokens)
        trainer._prefetch._process = None
        began = time.perf_counter()
        _steps(trainer, batches, 50)
        _synchronize(trainer.device)
        without = time.perf_counter() - began
        return {
            "steps": trainer.step_number,
            "sentences_per_second_median_by_ten_steps": round(size / median),
            "sentences_per_second": round(50 * size / whole),
            "sentences_per_second_if_each_step_prepares_its_batch": round(50 * size / without),
            "ms_per_step": round(20 * whole, 2),
            "host_ms_per_step": round(20 * launched, 2),
            "first_ten_steps_seconds": round(took[0], 2),
            "host": clocks.figures(50, "ms"),
            "gpu_ms_per_step": round(1000 * gpu, 2),
            "gpu_time_by_step_time": round(50 * gpu / whole, 3),  # kernels of profiled steps, clock of other steps
            "nvidia_smi": _mean(samples[len(samples) // 2 :]),
            "profile": profile,
        }

    def _paper(self, _: Path) -> Figures:
        assert self.model is not None, "give --model, or run the stage training first"
        return self._parse(self.model, ("bf16",))

    def _en(self, _: Path) -> Figures:
        return self._parse("en", ("bf16", "fp32"))

    def _parse(self, model: Path | str, precisions: tuple[Precision, ...]) -> Figures:
        sentences = self.sentences()
        found: Figures = {"sentences": len(sentences), "rows": []}
        words = sum(map(len, sentences)) / len(sentences)
        found["words"] = round(words, 1)
        folder = ModelFolder.open(model)
        best: tuple[float, Parser, int] | None = None
        for precision in precisions:
            parser = _parser(folder, self.options.device, precision)
            sizes = self.options.batch_tokens
            for tokens in sizes if precision == "bf16" else sizes[len(sizes) // 2 :][:1]:
                passes = [_seconds(parser, sentences, tokens) for _ in range(1 + self.options.passes)]
                rate = round(len(sentences) / min(passes[1:]))
                rates = [round(len(sentences) / seconds) for seconds in passes]
                found["rows"].append({"precision": precision, "batch_tokens": tokens, "rate": rate, "passes": rates})
                print(json.dumps(found["rows"][-1]), flush=True)
                if precision == "bf16" and (best is None or rate > best[0]):
                    best = rate, parser, tokens
        assert best is not None
        _, parser, tokens = best
        found["profiled_batch_tokens"] = tokens
        clocks = Clocks()
        with ExitStack() as stack:
            for owner, name, label in PARSING_STEPS:
                stack.enter_context(clocks.around(owner, name, label))
            found["rate_with_clocks"] = round(len(sentences) / _seconds(parser, sentences, tokens))
        found["host"] = clocks.figures(len(sentences), "µs")
        with profiled(torch.device(self.options.device)) as profile:
            found["rate_with_profiler"] = round(len(sentences) / _seconds(parser, sentences, tokens))
        found["gpu_alone_rate"] = round(len(sentences) / max(profile.get("gpu_seconds", 0.0), 1e-9))
        found["profile"] = profile
        return found

    def _processes(self, _: Path) -> Figures:
        """The same processes parse with both models, because starting them takes longer than parsing."""
        found: Figures = {}
        models = {"paper": self.model, "en": "en"}
        tokens = max(self.options.batch_tokens)
        precision: Precision = "fp32" if self.options.device == "cpu" else "bf16"
        began = time.perf_counter()
        with crew(max(self.options.processes), self.sentences()[: self.count], self.options.times) as team:
            for name, model in models.items():
                if model is None:
                    continue
                found[f"{name}_load_seconds"] = round(team.load(str(model), self.options.device, precision), 1)
                for count in self.options.processes:
                    row = found[f"{name}_{count}"] = team.measure(count, tokens, self.options.passes)
                    row["seconds_so_far"] = round(time.perf_counter() - began, 1)
                    print(name, json.dumps(row), flush=True)
                    self.figures["processes"] = found
                    self._write()
        return found

    def _corpus(self, scratch: Path) -> Figures:
        """``fencepost corpus`` from documents of running text to JSON Lines, with the shipped model."""
        texts = [" ".join(sentence.words) for sentence in self.sentences()[: self.count]]
        repeats = max(1, self.options.corpus_sentences // len(texts))
        source, out, workers = scratch / "documents.jsonl", scratch / "parsed", max(self.options.processes)
        with source.open("w") as file:
            for repeat in range(repeats):
                for first in range(0, len(texts), 20):
                    text = "\n\n".join(texts[first : first + 20])
                    file.write(json.dumps({"id": f"{repeat}-{first}", "text": text}) + "\n")
        command = [sys.executable, "-m", "fencepost", "corpus", str(source), "--out", str(out)]
        command += ["--device", self.options.device, "--workers", str(workers)]
        command += ["--part-bytes", str(PART_BYTES)]  # as in a large corpus, where each part fills batches
        if self.options.device != "cpu":
            command += ["--precision", "bf16"]
        began = time.perf_counter()
        with smi_samples(self.options.device != "cpu") as samples:
            subprocess.run(command, check=True, stderr=subprocess.PIPE, timeout=120)
        whole = time.perf_counter() - began
        # Starting takes longer than parsing these documents, so the rate leaves out the first part of each worker.
        parts = sorted((part.stat().st_mtime, _lines(part)) for part in out.glob("part-*.jsonl"))
        later = parts[workers:]
        sentences = sum(count for _, count in parts)
        seconds = parts[-1][0] - parts[:workers][-1][0]
        return {
            "workers": workers,
            "sentences": sentences,
            "parts": len(parts),
            "rate": round(sum(count for _, count in later) / seconds) if later else None,
            "seconds": round(whole, 1),
            "rate_with_start": round(sentences / whole),
            "nvidia_smi_while_parsing": _mean(samples[-round(10 * seconds) :]) if later else None,
        }


def _lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(1 for _ in file)


def _mean(percentages: list[float]) -> float | None:
    return round(sum(percentages) / len(percentages) / 100, 3) if percentages else None


def _parser(folder: ModelFolder, device: str, precision: Precision) -> Parser:
    return Parser(TorchBackend.load(folder, device, precision), folder.config, folder.vocabularies)


def _seconds(parser: Parser, sentences: list[Sentence], tokens: int) -> float:
    """From words to lines of brackets."""
    began = time.perf_counter()
    lines = list(map(str, parser.iter_parse(sentences, batch_tokens=tokens)))
    seconds = time.perf_counter() - began
    assert len(lines) == len(sentences)
    return seconds


def _steps(trainer: Trainer, batches: Iterator[list[int]], count: int) -> None:
    for _ in range(count):
        trainer.step(next(batches))


def _synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def _device_name(device: str) -> str:
    return torch.cuda.get_device_name() if device.startswith("cuda") else device


class Clocks:
    """Adds up the clock time and the CPU time of calls, by what they do. Threads count separately."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clock: dict[str, float] = defaultdict(float)
        self._cpu: dict[str, float] = defaultdict(float)
        self._calls: Counter[str] = Counter()

    @contextmanager
    def around(self, owner: Any, name: str, label: str) -> Iterator[None]:
        function = getattr(owner, name)
        plain = function if not isinstance(owner, type) else owner.__dict__[name]

        def timed(*given: Any, **named: Any) -> Any:
            clock, cpu = time.perf_counter(), time.thread_time()
            try:
                result = plain(*given, **named)
            finally:
                self._add(label, time.perf_counter() - clock, time.thread_time() - cpu)
            if label == "launch":
                return self.wrapped(result, "wait for the device, collect spans")
            return result

        with patch.object(owner, name, timed):
            yield

    def wrapped(self, function: Callable[[], Any], label: str) -> Callable[[], Any]:
        def timed() -> Any:
            clock, cpu = time.perf_counter(), time.thread_time()
            try:
                return function()
            finally:
                self._add(label, time.perf_counter() - clock, time.thread_time() - cpu)

        return timed

    def _add(self, label: str, clock: float, cpu: float) -> None:
        with self._lock:
            self._clock[label] += clock
            self._cpu[label] += cpu
            self._calls[label] += 1

    def figures(self, count: int, unit: str) -> Figures:
        """Clock and CPU time for each of ``count`` steps or sentences; a call's time includes what it calls."""
        scale = {"ms": 1e3, "µs": 1e6}[unit] / count
        return {
            label: {
                f"clock_{unit}": round(self._clock[label] * scale, 3),
                f"cpu_{unit}": round(self._cpu[label] * scale, 3),
                "calls": self._calls[label],
            }
            for label in sorted(self._clock, key=lambda each: -self._clock[each])
        }


PARSING_STEPS: list[tuple[Any, str, str]] = [
    (Indexer, "batch", "index"),
    (TorchBackend, "launch", "launch"),
    (TorchBackend, "_send", "launch: make and send arrays"),
    (TorchBackend, "_best_labels", "launch: score spans"),
    (cky, "collect", "collect spans"),
    (ParsedBatch, "write_brackets", "write brackets"),
]
TRAINING_STEPS: list[tuple[Any, str, str]] = [
    (trainer_module, "share_of_loss", "loss"),
    (trainer_module, "seed_step", "seed"),
    (torch.Tensor, "backward", "backward"),
    (trainer_module, "device_batches", "send the batch"),
    (TrainingSet, "flat", "prepare a batch in this process"),
]


@contextmanager
def profiled(device: torch.device) -> Iterator[Figures]:
    """Fills in the figures of torch's profiler when the ``with`` block ends."""
    figures: Figures = {}
    if device.type != "cuda":
        yield figures
        return
    torch.cuda.synchronize()
    with torch.profiler.profile(activities=[ProfilerActivity.CUDA]) as profiler:
        began = time.perf_counter()
        yield figures
        torch.cuda.synchronize()
        wall = time.perf_counter() - began
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profiler.export_chrome_trace(file.name)
        events = json.loads(Path(file.name).read_text())["traceEvents"]
    figures |= _of_trace(events, wall)


def _of_trace(events: Iterable[dict[str, Any]], wall: float) -> Figures:
    on_device, launches = [], Counter[str]()
    kernels: dict[str, list[float]] = defaultdict(list)
    for event in events:
        if event.get("ph") != "X":
            continue
        if event.get("cat") in DEVICE_CATEGORIES:
            on_device.append((event["ts"], event["ts"] + event["dur"]))
            kernels[event["name"]].append(event["dur"])
        elif event.get("cat") in ("cuda_runtime", "cuda_driver"):
            launches[event["name"]] += 1
    busy, until = 0.0, 0.0
    for begin, end in sorted(on_device):
        busy += max(0.0, end - max(begin, until))
        until = max(until, end)
    span = max((end for _, end in on_device), default=0.0) - min((begin for begin, _ in on_device), default=0.0)
    top = sorted(kernels.items(), key=lambda item: -sum(item[1]))[:20]
    return {
        "wall_seconds": round(wall, 4),
        "gpu_seconds": round(busy / 1e6, 4),
        "busy_share_of_wall": round(busy / 1e6 / wall, 3),
        "busy_share_from_first_to_last_kernel": round(busy / max(span, 1e-9), 3),
        "kernels": len(on_device),
        "host_calls": dict(launches.most_common(8)),
        "top_kernels": [
            {"name": name[:90], "ms": round(sum(times) / 1000, 2), "count": len(times)} for name, times in top
        ],
    }


def _markdown(figures: Figures) -> str:
    """The profiles as tables."""
    lines = [f"# {figures['device']}, torch {figures['torch']}", "", "```", _summary(figures), "```"]
    for stage in ("training", "paper", "en"):
        found = figures.get(stage, {})
        lines += ["", f"## {stage}", "", "| host | clock | CPU | calls |", "|---|---|---|---|"]
        for label, values in found.get("host", {}).items():
            clock, cpu, calls = values.values()
            lines.append(f"| {label} | {clock} | {cpu} | {calls} |")
        lines += ["", "| kernel | ms | calls |", "|---|---|---|"]
        for kernel in found.get("profile", {}).get("top_kernels", []):
            lines.append(f"| `{kernel['name']}` | {kernel['ms']} | {kernel['count']} |")
    return "\n".join(lines) + "\n"


def _summary(figures: Figures) -> str:
    lines = []
    for stage, found in figures.items():
        if not isinstance(found, dict):
            continue
        if "failed" in found:
            lines.append(f"{stage}: FAILED: {found['failed'].strip().splitlines()[-1]}")
            continue
        share = found.get("profile", {}).get("busy_share_of_wall")
        busy = "" if share is None else f"; GPU busy {share:.0%} with the profiler"
        if "gpu_time_by_step_time" in found:
            busy += f", GPU time by step time {found['gpu_time_by_step_time']:.0%}, nvidia-smi {found['nvidia_smi']}"
        if stage == "trees":
            same = ", ".join(f"{name} {count}" for name, count in found.items() if "same" in name)
            lines.append(f"{stage}: of {found['sentences']} trees: {same}")
        elif stage == "training":
            text = f"{found['sentences_per_second']:,} sentences/s, {found['ms_per_step']} ms a step"
            host = f"host {found['host_ms_per_step']} ms, GPU {found['gpu_ms_per_step']} ms, F1 {found['dev_f1']}"
            lines.append(f"{stage}: {text}; {host}{busy}")
        elif "rows" in found:
            rates = ", ".join(f"{row['precision']} {row['batch_tokens']}: {row['rate']:,}" for row in found["rows"])
            lines.append(f"{stage}: {rates}; GPU alone {found['gpu_alone_rate']:,}{busy}")
        elif stage == "corpus":
            lines.append(f"{stage}: {found['rate'] or 0:,} sentences/s with {found['workers']} workers")
        else:
            rows = {name: row for name, row in found.items() if isinstance(row, dict)}
            shown = (f"{name}: {row['rate']:,} (busy {row.get('busy', 0):.0%})" for name, row in rows.items())
            lines.append(f"{stage}: {', '.join(shown)}")
        lines[-1] += f" ({found.get('stage_seconds')} s)"
    return "\n".join(lines)


if __name__ == "__main__":
    main()
