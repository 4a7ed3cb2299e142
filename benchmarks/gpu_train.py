"""Trains on one treebank, and measures speed, accuracy and memory. Needs only torch, numpy and safetensors.

    PYTHONPATH=src python benchmarks/gpu_train.py --treebank DIR --out runs/craft --minutes 8 --device cuda

DIR holds train.txt, dev.txt and test.txt. Run again with the same --out to resume.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import time
from pathlib import Path

import torch
from safetensors.torch import load_file

from fencepost.backends.torch import TorchBackend
from fencepost.config.toml import load_config
from fencepost.evaluation.score import score
from fencepost.parsing.parser import Parser
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.log import LOG
from fencepost.training.prefetch import BatchProcess
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.treebank import Sentence, Treebank


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebank", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--config", default="paper")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--minutes", type=float, default=5.0, help="minutes of training, over all sessions")
    parser.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--profile", action="store_true", help="only profile the time of a training step")
    arguments = parser.parse_args()
    overrides = [f"train.max_minutes={arguments.minutes}", *arguments.set]
    config = load_config(arguments.config, overrides)
    banks = {split: Treebank.load(arguments.treebank / f"{split}.txt") for split in ("train", "dev", "test")}
    if arguments.profile:
        with BatchProcess() as process:
            profile(Trainer(config, banks["train"], banks["dev"], torch.device(arguments.device), process=process))
        return
    began = time.perf_counter()
    train(config, banks["train"], banks["dev"], arguments.out, resume=True, device=arguments.device)
    seconds = time.perf_counter() - began
    peak = torch.cuda.max_memory_allocated() / 2**30 if arguments.device.startswith("cuda") else float("nan")
    figures = {"treebank": arguments.treebank.name, "set": overrides, "wall_seconds": round(seconds, 1)}
    figures |= training_figures(arguments.out / LOG) | {"peak_gib": round(peak, 2)}
    figures["parameters"] = sum(tensor.numel() for tensor in load_file(arguments.out / WEIGHTS).values())
    for precision in ("fp32", "bf16"):
        folder = ModelFolder.open(arguments.out)
        backend = TorchBackend.load(folder, arguments.device, precision)
        model = Parser(backend, folder.config, folder.vocabularies)
        figures |= {f"{key}_{precision}": value for key, value in test_figures(model, banks["test"]).items()}
    print(json.dumps(figures))
    (arguments.out / "figures.json").write_text(json.dumps(figures, indent=1))
    print("\n".join(f"{key:32} {value}" for key, value in figures.items()))


def training_figures(log: Path) -> dict[str, object]:
    checks = [json.loads(line) for line in log.read_text().splitlines()]
    best = max(checks, key=lambda check: check["f1"])
    rates = sorted(check["sentences_per_second"] for check in checks[1:]) or [0.0]
    return {
        "epochs": checks[-1]["epoch"],
        "training_sentences_per_second_median": rates[len(rates) // 2],
        "dev_f1_best": best["f1"],
        "dev_f1_best_epoch": best["epoch"],
    }


def test_figures(parser: Parser, bank: Treebank) -> dict[str, object]:
    """Scores, and the speed from words in memory to trees in memory (the last of three passes)."""
    sentences = [Sentence(sentence.words, sentence.tags) for sentence in bank.sentences()]
    for _ in range(3):
        began = time.perf_counter()
        trees = parser.parse(sentences)
        seconds = time.perf_counter() - began
    result = score(bank, trees)
    return {
        "test_recall": round(result.recall, 2),
        "test_precision": round(result.precision, 2),
        "test_f1": round(result.f1, 2),
        "parsing_sentences_per_second": round(len(bank) / seconds),
    }


def profile(trainer: Trainer) -> None:
    batches = trainer.batches()
    for _ in range(60):  # shapes differ from batch to batch: kernels and memory take a while to settle
        trainer.step(next(batches))
    _synchronize(trainer)
    began = time.perf_counter()
    for _ in range(60):
        trainer.step(next(batches))
    launched = time.perf_counter() - began
    _synchronize(trainer)
    took = time.perf_counter() - began
    size = trainer.config.train.batch_size
    print(
        f"{1000 * took / 60:.1f} ms per step ({60 * size / took:,.0f} sentences/s); host {1000 * launched / 60:.1f} ms"
    )
    with torch.profiler.profile() as profiler:
        for _ in range(10):
            trainer.step(next(batches))
        _synchronize(trainer)
    keys = ["self_cpu_time_total", "cpu_time_total"]
    for key in ["self_cuda_time_total", *keys] if trainer.device.type == "cuda" else keys:
        print(f"by {key}:")
        print(profiler.key_averages().table(sort_by=key, row_limit=25, max_name_column_width=60))
    host = cProfile.Profile()  # not of the process that prepares batches
    host.enable()
    for _ in range(60):
        trainer.step(next(batches))
    host.disable()
    for order in ("tottime", "cumulative"):
        pstats.Stats(host, stream=sys.stdout).strip_dirs().sort_stats(order).print_stats(30)


def _synchronize(trainer: Trainer) -> None:
    if trainer.device.type == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
