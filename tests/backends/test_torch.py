from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import Tensor

from fencepost.backends import torch as module
from fencepost.backends.torch import CPU_CELLS, TorchBackend, find_device, vocab_sizes
from fencepost.chart import cky
from fencepost.chart.cky import Decoded
from fencepost.config.settings import PlanConfig
from fencepost.errors import ModelError, UsageError
from fencepost.features.batch import Batch
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.parser_model import TorchBatch
from fencepost.model.plan import AttentionPlan
from fencepost.model.scorer import SpanScorer
from fencepost.parsing.load import load
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from fencepost.trees.treebank import Sentence
from tests.grammar import toy_trees
from tests.samples import TREES, tiny_config

VOCABULARIES = Vocabularies.of(TREES, tiny_config())


def backend(force_root: bool = False) -> TorchBackend:
    torch.manual_seed(3)
    config = tiny_config()
    config = dataclasses.replace(config, scorer=dataclasses.replace(config.scorer, force_root=force_root))
    return TorchBackend(build_model(config, vocab_sizes(VOCABULARIES)), config, torch.device("cpu"))


def batch_of(*sentences: tuple[str, ...]) -> Batch:
    return Indexer(tiny_config(), VOCABULARIES).batch([Sentence(words) for words in sentences])


BATCH = batch_of(*(tuple(tree.words()) for tree in toy_trees(12)), ("one",))


def spans(trees: Sequence[Decoded]) -> list[list[tuple[int, int, int]]]:
    columns = ((tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist()) for tree in trees)
    return [list(zip(*column, strict=True)) for column in columns]


@pytest.mark.parametrize("force_root", [False, True])
@pytest.mark.parametrize("cells", [1, 7, CPU_CELLS])
def test_a_chart_scored_in_pieces_gives_the_trees_of_all_scores(
    cells: int, force_root: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CPU_CELLS", cells)
    ours = backend(force_root)
    best = cky.decode(ours.score(BATCH).spans.reduce(force_root))
    assert spans(ours.launch(BATCH)().trees) == spans(best)


def test_a_sentence_forced_to_have_a_label_has_one() -> None:
    trees = backend(force_root=True).launch(BATCH)().trees
    roots = [tree[0][:2] for tree in spans(trees)]
    assert roots == [(0, length) for length in BATCH.lengths.tolist()]


def test_a_long_sentence_is_never_scored_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    score = SpanScorer.score

    def watched(self: SpanScorer, fenceposts: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        sizes.append(len(starts))
        return score(self, fenceposts, starts, ends)

    monkeypatch.setattr(SpanScorer, "score", watched)
    backend().launch(batch_of(("word",) * 150))
    assert sum(sizes) == 150 * 151 // 2
    assert max(sizes) <= CPU_CELLS


def test_parsing_leaves_the_settings_of_the_process_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    changed: list[str] = []
    monkeypatch.setattr(torch, "set_float32_matmul_precision", changed.append)
    backend().launch(BATCH)()
    assert changed == []


def test_a_model_in_training_parses_without_dropout() -> None:
    ours = backend()
    expected = spans(ours.launch(BATCH)().trees)
    ours.model.train()
    assert spans(ours.launch(BATCH)().trees) == expected


def test_no_word_gets_a_number_that_stands_for_no_tag() -> None:
    ours = backend()
    last = ours.model.tag_scorer.layers[-1]  # type: ignore[union-attr]
    with torch.no_grad():
        last.bias[:3] = 100.0  # type: ignore[operator]
    tags = ours.launch(BATCH)().tags
    assert tags is not None
    assert tags.min() >= 3


def test_parsing_follows_the_plan_of_evaluation_and_not_that_of_training() -> None:
    config, eval_plan = tiny_config(plan={"window": 3}), PlanConfig(window=0)
    config = dataclasses.replace(config, eval=dataclasses.replace(config.eval, plan=eval_plan))
    ours = TorchBackend(backend().model, config, torch.device("cpu"))
    with torch.inference_mode():
        expected = ours.model.eval()(TorchBatch.of(BATCH), AttentionPlan(window=0)).span_scores
    assert torch.equal(torch.from_numpy(ours.score(BATCH).spans.packed()), expected)
    assert spans(ours.launch(BATCH)().trees) == spans(cky.decode(ours.score(BATCH).spans.reduce()))


@pytest.mark.parametrize("device", ["mps", "meta", "tpu"])
def test_a_device_that_no_model_runs_on_is_refused(device: str) -> None:
    with pytest.raises(UsageError, match="device can't be"):
        find_device(device)


def test_a_gpu_that_is_not_there_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    assert find_device("cuda:1") == torch.device("cuda", 1)
    with pytest.raises(UsageError, match="there is no cuda:2"):
        find_device("cuda:2")


def test_weights_that_are_none_are_named(tmp_path: Path) -> None:
    vocabularies = Vocabularies.of(TREES, tiny_config())
    write_model(tmp_path / "model", tiny_config(), vocabularies, "a card", {WEIGHTS: b"weights"})
    with pytest.raises(ModelError, match=f"{WEIGHTS}: not a file of weights"):
        load(tmp_path / "model")
