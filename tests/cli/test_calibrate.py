from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.parsing.load import load
from fencepost.storage.find_model import find_model
from fencepost.storage.model_writer import change_config
from fencepost.training.train import train
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees
from tests.samples import tiny_config


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


def test_through_a_link_the_folder_is_calibrated_however_often(model: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(model)
    for _ in range(2):
        assert main(["calibrate", str(link), str(model.parent / "dev.txt"), "--sentences", "6"]) == 0
        assert link.is_symlink()
    assert load(model).config == load(link).config


def test_the_current_folder_is_calibrated(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(model)
    assert main(["calibrate", ".", str(model.parent / "dev.txt"), "--sentences", "6"]) == 0
    assert load(model).config == load(".").config


@pytest.mark.parametrize("name", ["en", str(find_model())])
def test_a_model_that_ships_is_not_changed(
    name: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("fencepost.evaluation.calibration.fit_temperature", lambda *_: pytest.fail("too late"))
    before = (find_model() / "config.toml").read_bytes()
    assert main(["calibrate", name, str(model.parent / "dev.txt")]) == 2
    message = capsys.readouterr().err
    assert "error: en is inside the package" in message
    assert f"hint: change a copy instead: cp -r {find_model().resolve()} my-en" in message
    assert (find_model() / "config.toml").read_bytes() == before


def test_a_folder_called_as_one_that_ships_is_the_one_that_is_calibrated(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(model, tmp_path / "en")
    change_config(tmp_path / "en", tiny_config())
    monkeypatch.chdir(tmp_path)
    assert main(["calibrate", "en", str(model.parent / "dev.txt"), "--sentences", "6"]) == 0
    assert load(tmp_path / "en").config.eval.temperature != 1.0


def test_one_tree_is_too_few(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(model), str(model.parent / "dev.txt"), "--sentences", "1"]) == 2
    assert "at least two trees" in capsys.readouterr().err


def test_a_negative_number_of_sentences_is_refused(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", str(model), str(model.parent / "dev.txt"), "--sentences", "-30"]) == 2
    assert "--sentences must be at least 1, got -30" in capsys.readouterr().err
