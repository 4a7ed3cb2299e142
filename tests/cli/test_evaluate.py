from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.config.settings import Config
from fencepost.evaluation.breakdown import BY
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees
from tests.samples import tiny_config

TREES = toy_trees(30)


def trained(folder: Path, config: Config) -> str:
    train(config, TREES, TREES, folder)
    return str(folder)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return trained(tmp_path_factory.mktemp("evaluate") / "model", tiny_config(max_epochs=10))


@pytest.fixture
def gold(tmp_path: Path) -> str:
    Treebank(TREES).save(tmp_path / "gold.txt")
    return str(tmp_path / "gold.txt")


def figures(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, float]:
    assert main(["evaluate", *arguments, "--json"]) == 0
    answer: dict[str, float] = json.loads(capsys.readouterr().out)
    return answer


def test_figures_are_those_of_scoring_the_written_trees(
    model: str, gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = str(tmp_path / "predicted.txt")
    found = figures(capsys, model, gold, "--output", output)
    assert main(["score", gold, output, "--json"]) == 0
    assert found == json.loads(capsys.readouterr().out)
    assert found["sentences"] == len(TREES)
    assert found["f1"] > 20


def test_gold_tags_are_all_right_and_predicted_ones_are_the_models(
    model: str, gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert figures(capsys, model, gold)["tag_accuracy"] == 100
    output = tmp_path / "predicted.txt"
    figures(capsys, model, gold, "--tags", "predicted", "--output", str(output))
    tags = [tree.tags() for tree in Treebank.load(output)]
    assert tags != [tree.tags() for tree in TREES]


def test_a_model_without_a_tag_head_has_no_predicted_tags(
    gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tiny_config(max_epochs=1)
    config = replace(config, scorer=replace(config.scorer, predict_tags=False))
    assert main(["evaluate", trained(tmp_path / "model", config), gold, "--tags", "predicted"]) == 2
    assert "predicts no tags" in capsys.readouterr().err


def test_small_batches_give_the_same_figures(model: str, gold: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert figures(capsys, model, gold, "--batch-tokens", "1") == figures(capsys, model, gold)


@pytest.mark.parametrize("size", ["0", "-5"])
def test_batches_have_a_token_at_least(gold: str, size: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", "model", gold, "--batch-tokens", size]) == 2
    assert f"--batch-tokens must be at least 1, got {size}" in capsys.readouterr().err


def test_help_names_all_that_figures_can_be_broken_down_by(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["evaluate", "--help"])
    options = capsys.readouterr().out.partition("options:")[2]
    about_by = options.partition("--by")[2].partition("--json")[0]
    assert all(kind in about_by for kind in BY)


def test_a_folder_that_is_no_model_is_named(gold: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", str(tmp_path), gold]) == 2
    assert "error: no model at" in capsys.readouterr().err


def test_an_interruption_keeps_the_trees_that_are_done(
    model: str, gold: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> Iterator[tuple[Tree, float]]:
        yield from ((tree, 0.0) for tree in TREES[:7])
        raise KeyboardInterrupt

    monkeypatch.setattr("fencepost.parsing.workers.Workers.iter_scored", interrupted)
    output = tmp_path / "predicted.txt"
    assert main(["evaluate", model, gold, "--output", str(output)]) == 130
    assert not output.exists()
    assert list(Treebank.load(f"{output}.partial")) == TREES[:7]


def test_traces_are_warned_of_once(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "raw.mrg"
    path.write_text("(TOP (S (NP (-NONE- *)) (VP (VB go) (NP (-NONE- *T*-1)))))\n(TOP (S (VP (VB go))))\n")
    assert main(["evaluate", model, str(path)]) == 0
    assert "warning: 2 words are traces (-NONE-)\nhint: `fencepost treebank normalize`" in capsys.readouterr().err


def test_plain_trees_are_no_reason_to_warn(model: str, gold: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["evaluate", model, gold]) == 0
    assert "warning" not in capsys.readouterr().err
