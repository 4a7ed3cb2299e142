"""Training with functions: they are learned, and the brackets don't suffer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table
from fencepost.errors import TrainingError, UsageError
from fencepost.evaluation.functions import score_functions
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.load import load
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.data import gold_tree, unseen_labels
from fencepost.training.device_batch import device_batches
from fencepost.training.losses import share_of_loss
from fencepost.training.saving import resume_run, save_run
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence
from tests.function_samples import function_config, function_trees
from tests.grammar import toy_trees
from tests.samples import tiny_config

CPU = torch.device("cpu")
TREES = function_trees(24)


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def test_labels_are_plain_and_functions_have_a_vocabulary_of_their_own() -> None:
    vocabularies = Vocabularies.of(TREES, function_config())
    plain = Vocabularies.of([without_functions(tree) for tree in TREES], tiny_config())
    assert vocabularies.labels == plain.labels
    assert plain.functions is None
    assert vocabularies.functions is not None
    assert set(vocabularies.functions.symbols) == {"SBJ", "LOC", "TMP"}
    assert vocabularies.functions.counts == tuple(sorted(vocabularies.functions.counts, reverse=True))
    assert Vocabularies.from_json(vocabularies.to_json()) == vocabularies
    assert "functions" not in json.loads(plain.to_json())


def test_without_the_setting_a_function_is_part_of_the_label() -> None:
    assert ("NP-SBJ",) in Vocabularies.of(TREES, tiny_config()).labels.ids


def test_gold_functions_say_which_functions_each_constituent_may_have() -> None:
    trees = [Tree.from_string("(TOP (S (NP-SBJ (N a)) (VP (V b) (PP-LOC-TMP? (P c)) (PP-TMP? (P d)))))")]
    vocabularies = Vocabularies.of([*trees, *TREES], function_config())
    assert vocabularies.functions is not None
    gold = gold_tree(trees[0], vocabularies).functions
    assert gold is not None
    names = ("-", *vocabularies.functions.symbols)
    allowed = [{names[column] for column in np.flatnonzero(row)} for row in gold.allowed]
    assert allowed == [{"-"}, {"SBJ"}, {"-"}, {"LOC", "TMP"}, {"-", "TMP"}]


def test_a_function_that_the_model_does_not_know_teaches_nothing() -> None:
    vocabularies = Vocabularies.of(TREES, function_config())
    gold = gold_tree(Tree.from_string("(TOP (NP-VOC (N a)))"), vocabularies).functions
    assert gold is not None
    assert gold.allowed.all()
    assert unseen_labels([Tree.from_string("(TOP (NP-VOC (N a) (XP-VOC (N b))))")], vocabularies) == {"XP": 1}


def without_dropout() -> Config:
    none = {"attention_dropout": 0.0, "relu_dropout": 0.0, "residual_dropout": 0.0}
    sizes = {"layers": 2, "d_model": 128, "heads": 4, "d_k": 16, "d_v": 16, "d_ff": 128}
    return config_from_table(
        {
            "char_lstm": {"size": 16, "dropout": 0.0, "input_dropout": 0.0},
            "encoder": {**sizes, **none},
            "scorer": {"hidden": 64, "functions": True, "function_hidden": 32},
            "train": {"batch_size": 10, "warmup_batches": 20, "learning_rate": 0.004, "checks_per_epoch": 1},
        }
    )


def test_functions_are_learned_with_the_trees_and_logged(tmp_path: Path) -> None:
    trees = function_trees(40)
    config = replace(without_dropout(), train=replace(without_dropout().train, max_epochs=30))
    parser = train(config, trees, trees, tmp_path / "model")
    checks = [json.loads(line) for line in (tmp_path / "model" / "log.jsonl").read_text().splitlines()]
    best = max(checks, key=lambda check: float(check["f1"]))
    assert best["f1"] > 95
    assert best["function_f1"] > 95
    predicted = parser.parse([tree.words() for tree in trees], functions=True)
    assert score_functions(trees, predicted).total().f1 == pytest.approx(best["function_f1"])


def test_a_run_without_functions_logs_none(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=1), toy_trees(8), toy_trees(4), tmp_path / "model")
    assert "function_f1" not in json.loads((tmp_path / "model" / "log.jsonl").read_text().splitlines()[0])


def test_where_functions_weigh_nothing_the_rest_is_trained_as_without_them() -> None:
    plain = [without_functions(tree) for tree in TREES]
    without = Trainer(tiny_config(), plain, plain, CPU)
    beside = Trainer(function_config(function_loss_weight=0.0), TREES, TREES, CPU)
    for _ in range(4):
        for trainer in (without, beside):
            trainer.step(next(trainer.batches()))
    weights = beside.model.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in without.model.state_dict().items())
    assert without.dev.score(without.backend).matched == beside.dev.score(beside.backend).matched


def test_the_loss_of_a_batch_is_that_of_its_pieces() -> None:
    trainer = Trainer(function_config(), TREES, TREES, CPU)
    trainer.model.eval()
    indices = list(range(9))
    words = sum(trainer.data.lengths[index] for index in indices)

    def loss(batch_tokens: int) -> float:
        pieces = device_batches(trainer.data.flat(indices, batch_tokens), CPU)
        shares = [
            share_of_loss(
                trainer.model(piece.sentences, None, piece.constituents), piece, trainer.config, len(indices), words
            )
            for piece in pieces
        ]
        return sum(share.item() for share in shares)

    assert loss(30) == pytest.approx(loss(10_000), rel=1e-5)


def test_a_resumed_run_equals_one_that_was_not_interrupted(tmp_path: Path) -> None:
    whole, begun = (Trainer(function_config(), TREES, TREES, CPU) for _ in range(2))
    for _ in range(6):
        whole.step(next(whole.batches()))
    for _ in range(3):
        begun.step(next(begun.batches()))
    save_run(begun, tmp_path)
    resumed = Trainer(function_config(), TREES, TREES, CPU)
    resume_run(resumed, tmp_path)
    for _ in range(3):
        resumed.step(next(resumed.batches()))
    weights = resumed.model.state_dict()
    assert all(torch.equal(weights[name], weight) for name, weight in whole.model.state_dict().items())


def test_trees_without_functions_are_refused() -> None:
    with pytest.raises(TrainingError, match="no label has a function") as caught:
        Trainer(function_config(), toy_trees(5), toy_trees(5), CPU)
    assert caught.value.hint is not None
    assert "--keep-functions" in caught.value.hint


def test_functions_can_be_added_to_a_model_and_others_later(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=2), toy_trees(12), toy_trees(4), tmp_path / "plain")
    train(function_config(max_epochs=1), TREES, TREES, tmp_path / "first", start_from=tmp_path / "plain")
    more = [*TREES, Tree.from_string("(TOP (XP-VOC (DT the) (NN cat)))")]
    parser = train(function_config(max_epochs=1), more, TREES, tmp_path / "second", start_from=tmp_path / "first")
    first, second = load(tmp_path / "first").vocabularies, parser.vocabularies
    assert first.functions is not None
    assert second.functions is not None
    assert second.functions.symbols == (*first.functions.symbols, "VOC")
    again = train(
        tiny_config(max_epochs=1), toy_trees(12), toy_trees(4), tmp_path / "x", start_from=tmp_path / "second"
    )
    assert again.vocabularies.functions is None


def test_before_the_first_step_the_added_scorer_changes_no_tree(tmp_path: Path) -> None:
    before = train(tiny_config(max_epochs=3), toy_trees(12), toy_trees(4), tmp_path / "plain")
    trainer = Trainer(function_config(), TREES, TREES, CPU, start=ModelFolder.open(tmp_path / "plain"))
    indexer = Indexer(trainer.config, trainer.vocabularies)
    sentences = [list(tree.words()) for tree in toy_trees(6)]
    parsed = trainer.backend.launch(indexer.batch([Sentence(tuple(words)) for words in sentences]))()
    assert [round(tree.score, 3) for tree in parsed.trees] == [
        round(score, 3) for _, score in before.iter_scored(sentences)
    ]


def test_the_hidden_size_is_part_of_a_models_form(tmp_path: Path) -> None:
    train(function_config(max_epochs=1), TREES, TREES, tmp_path / "first")
    config = function_config()
    larger = replace(config, scorer=replace(config.scorer, function_hidden=20))
    with pytest.raises(UsageError, match="function_hidden"):
        train(larger, TREES, TREES, tmp_path / "second", start_from=tmp_path / "first")
