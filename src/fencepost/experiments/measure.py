"""Measures a trained model: accuracy on development and test data under an attention plan, and speed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from fencepost.backends.charts import decode
from fencepost.backends.torch import CPU_BATCH_TOKENS, CUDA_BATCH_TOKENS, TorchBackend
from fencepost.chart import cky, packing
from fencepost.chart.scores import LabelChart
from fencepost.config.settings import PlanConfig
from fencepost.evaluation.score import Score, score
from fencepost.experiments.data import Data
from fencepost.experiments.models import Model
from fencepost.features.batching import pieces
from fencepost.parsing.parser import Parser
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.tagging import retag
from fencepost.trees.treebank import Sentence, Treebank

PASSES = 3  # the fastest one counts


def measure(model: Model, plan: PlanConfig, data: Data, names: Sequence[str], device: str) -> dict[str, float]:
    """Measures the figures in ``names``; ``tables.MEASURES`` lists them all."""
    parser = load_under(model.path, plan, device)
    figures: dict[str, float] = {}
    if any(name.startswith("test_") for name in names):
        test = accuracy(parser, data.test, data.gold_test)
        figures |= {"test_recall": test.recall, "test_precision": test.precision, "test_f1": test.f1}
    if "dev_f1" in names:
        figures["dev_f1"] = accuracy(parser, data.dev, data.gold_dev).f1
    if "train_seconds" in names:
        figures["train_seconds"] = model.seconds
    if "dev_seconds" in names or "decoding_percent" in names:
        figures["dev_seconds"] = parsing_seconds(parser, data.dev)
        decoding = decoding_seconds([len(tree.leaves()) for tree in data.dev], device)
        figures["decoding_percent"] = 100 * decoding / figures["dev_seconds"]
    return {name: figures[name] for name in names}


def load_under(path: Path, plan: PlanConfig, device: str) -> Parser:
    """Loads a trained model to parse under this plan, in the precision it was trained in."""
    folder = ModelFolder.open(path)
    config = replace(folder.config, eval=replace(folder.config.eval, plan=plan))
    backend = TorchBackend.load(replace(folder, config=config), device, config.train.precision)
    return Parser(backend, config, folder.vocabularies)


def accuracy(parser: Parser, trees: Treebank, gold: Treebank) -> Score:
    """Parses the words and tags of ``trees``. Scoring uses gold tags, so that both sides agree on punctuation."""
    parsed = parser.parse(trees.sentences())
    retagged = [retag(tree, right.tags()) for tree, right in zip(parsed, gold, strict=True)]
    return score(gold, retagged, parser.config.eval.params)


def parsing_seconds(parser: Parser, trees: Treebank) -> float:
    """The time from words in memory to trees in memory, after a warm-up pass."""
    sentences = [Sentence(sentence.words, sentence.tags) for sentence in trees.sentences()]
    parser.parse(sentences)
    return min(_timed(lambda: parser.parse(sentences)) for _ in range(PASSES))


def decoding_seconds(lengths: Sequence[int], device: str) -> float:
    """The time of chart decoding alone, for sentences of these lengths in a parser's batches.

    The charts are random: the time of exact decoding doesn't depend on the scores.
    """
    target = torch.device(device)
    budget = CUDA_BATCH_TOKENS if target.type == "cuda" else CPU_BATCH_TOKENS
    charts = [_random_chart([lengths[number] for number in group]) for group in pieces(lengths, budget)]
    if target.type == "cpu":
        return min(_timed(lambda: [cky.decode(chart) for chart in charts]) for _ in range(PASSES))
    sent = [(torch.from_numpy(c.scores).to(target), torch.from_numpy(c.lengths).to(target)) for c in charts]

    def run() -> None:
        for scores, sizes in sent:
            decode(scores, sizes)
        torch.cuda.synchronize()

    run()
    return min(_timed(run) for _ in range(PASSES))


def _random_chart(lengths: Sequence[int]) -> LabelChart:
    sizes = np.array(lengths, np.int64)
    cells = int(packing.span_count(sizes).sum())
    scores = np.random.default_rng(0).standard_normal(cells, np.float32)
    return LabelChart(scores, np.ones(cells, np.int32), sizes)


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def device_name(device: str) -> str:
    target = torch.device(device)
    return torch.cuda.get_device_name(target) if target.type == "cuda" else "CPU"
