from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.grammar import toy_trees
from tests.samples import tiny_config

from fencepost.cli.main import main
from fencepost.parser import load
from fencepost.training.run import train
from fencepost.trees.treebank import Treebank


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("calibrate")
    trees = toy_trees(80)
    train(tiny_config(max_epochs=8), trees[:50], trees[:20], folder / "model")
    Treebank(trees[50:]).save(folder / "dev.txt")
    return folder / "model"


def test_a_temperature_is_fitted_written_and_used(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = toy_trees(1, seed=9)[0].words()
    before = load(model).analyze(words)
    weights = (model / "model.safetensors").read_bytes()
    assert main(["calibrate", str(model), str(model.parent / "dev.txt"), "--json"]) == 0
    figures = json.loads(capsys.readouterr().out)
    parser = load(model)
    assert parser.config.eval.temperature == figures["temperature"] != 1.0
    after = parser.analyze(words)
    assert after.tree == before.tree
    assert [c.probability for c in after.constituents] != [c.probability for c in before.constituents]
    assert parser.analyze(words, temperature=1.0) == before
    assert (model / "model.safetensors").read_bytes() == weights
    assert (model / "log.jsonl").exists()


def test_one_tree_is_too_few(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(model), str(model.parent / "dev.txt"), "--sentences", "1"]) == 2
    assert "at least two trees" in capsys.readouterr().err


def test_a_negative_number_of_sentences_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(model), str(model.parent / "dev.txt"), "--sentences", "-30"]) == 2
    assert "--sentences takes a number from 1 up, got -30" in capsys.readouterr().err
