"""Trains every variant of the paper for the same short time, one after the other, and prints dev F1 and speed.

    PYTHONPATH=src python benchmarks/variants.py --treebank DIR --seconds 12 --device cuda --out variants.json

Needs only torch, numpy and safetensors.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

from fencepost.config.toml import load_config
from fencepost.parsing.parser import Parser
from fencepost.training.prefetch import batch_process
from fencepost.training.trainer import Trainer
from fencepost.trees.treebank import Treebank

TAGGED = "lexical=['words', 'tags']"
VARIANTS: dict[str, list[str]] = {
    "factored, CharLSTM": [],
    "factored, words + CharLSTM": ["lexical=['words', 'char_lstm']"],
    "factored, CharConcat": ["lexical=['char_concat']"],
    "factored, words + CharConcat": ["lexical=['words', 'char_concat']"],
    "factored, self-attentive characters": ["lexical=['char_attention']"],
    "factored, words": ["lexical=['words']"],
    "factored, words + gold tags": [TAGGED],
    "base (added, dense)": [TAGGED, "encoder.position=added", "encoder.projection=dense"],
    "position-only attention": [TAGGED, "encoder.position=added", "encoder.projection=dense", "encoder.reads=position"],
    "concatenated, dense": [TAGGED, "encoder.projection=dense"],
    "added, block-sparse": [TAGGED, "encoder.position=added"],
    "LSTM encoder": [TAGGED, "encoder.kind=lstm"],
    "sinusoidal positions": [TAGGED, "encoder.positions=sinusoidal"],
    "window 10, strict": [TAGGED, "train.plan.window=10", "eval.plan.window=10"],
    "window 10, relaxed": [
        TAGGED,
        *(f"{part}.plan.{setting}" for part in ("train", "eval") for setting in ("window=10", "relaxed=true")),
    ],
    "CharLSTM, tree-CRF loss": ["train.loss=crf"],
    "CharLSTM, tag head": ["scorer.predict_tags=true"],
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebank", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=12.0)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--config", default="paper")
    parser.add_argument("--set", nargs="+", default=["train.precision=bf16"], metavar="KEY=VALUE")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    banks = {split: Treebank.load(arguments.treebank / f"{split}.txt") for split in ("train", "dev", "test")}
    device = torch.device(arguments.device)
    rows = []
    for name, overrides in VARIANTS.items():
        config = load_config(arguments.config, [*arguments.set, *overrides])
        with batch_process(device) as process:
            trainer = Trainer(config, banks["train"], banks["dev"], device, process=process)
            rows.append({"variant": name, **train_for(trainer, arguments.seconds)})
        if not overrides:
            words = [tree.words() for bank in banks.values() for tree in bank] * 3
            rows.extend(parsing_speed(trainer, words))
        print(json.dumps(rows[-1]), flush=True)
        arguments.out.write_text(json.dumps(rows, indent=1))
    print("\n".join(map(json.dumps, rows)))


def train_for(trainer: Trainer, seconds: float) -> dict[str, object]:
    trainer.steps_a_check = 10**9
    began = time.monotonic()
    for batch in trainer.batches():
        trainer.step(batch)
        if time.monotonic() - began > seconds:
            break
    if trainer.device.type == "cuda":
        torch.cuda.synchronize()
    took = time.monotonic() - began
    score = trainer.dev.score(trainer.backend)
    return {
        "dev_f1": round(score.f1, 2),
        "epochs": round(trainer.step_number / trainer.order.batches_per_epoch, 1),
        "loss": round(float(trainer.loss_sum) / trainer.step_number, 3),
        "sentences_per_second": round(trainer.step_number * trainer.config.train.batch_size / took),
        "parameters": sum(parameter.numel() for parameter in trainer.parameters),
    }


def parsing_speed(trainer: Trainer, words: list[list[str]]) -> list[dict[str, object]]:
    """The speed from lists of words to trees in memory, the best of three passes."""
    lines: list[dict[str, object]] = []
    parser = Parser(trainer.backend, trainer.config, trainer.vocabularies)
    for budget in (10_000, 20_000, 40_000, 80_000):
        times = []
        for _ in range(3):
            began = time.perf_counter()
            parser.parse(words, batch_tokens=budget)
            times.append(time.perf_counter() - began)
        rate = round(len(words) / min(times))
        lines.append({"parsing": trainer.config.train.precision, "batch_tokens": budget, "sentences_per_second": rate})
    return lines


if __name__ == "__main__":
    main()
