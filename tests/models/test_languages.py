"""The recipe of the language models, with tiny treebanks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import evaluate_language
import language_card
import prepare_languages
import pytest
import release_language
from languages import JOINT, LANGUAGES, TERMS

from fencepost.config.toml import load_config
from fencepost.export.onnx import export_onnx
from fencepost.parsing.load import load
from fencepost.storage.model_files import read_scores
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank
from tests.extras import ROOT
from tests.samples import TREES, marked, tiny_config

RECIPE = ROOT / "models" / "languages"
FREE = ("yes", "no")
PARTS = ("dev", "test")


@pytest.fixture
def treebanks(tmp_path: Path) -> Path:
    """The same trees for all languages; every other Japanese tree is not free."""
    for language in LANGUAGES.values():
        folder = tmp_path / "treebanks" / language.treebank
        folder.mkdir(parents=True)
        for part, trees in (("train", TREES), ("dev", TREES[:2]), ("test", TREES[2:5])):
            Treebank(trees).save(folder / f"{part}.txt")
            rows = [f"{number}\t{FREE[number % 2]}" for number in range(len(trees))]
            (folder / f"{part}.meta.tsv").write_text("\n".join(["line\tcommercial", *rows]) + "\n")
    return tmp_path / "treebanks"


def run(main: object, monkeypatch: pytest.MonkeyPatch, *arguments: object) -> None:
    assert callable(main)
    monkeypatch.setattr(sys, "argv", ["script", *map(str, arguments)])
    main()


@pytest.mark.parametrize("name", [*LANGUAGES, JOINT])
def test_every_model_has_a_configuration_that_says_how_to_run_it(name: str) -> None:
    config = load_config(RECIPE / f"{name}.toml")
    assert config.scorer.predict_tags
    assert config.eval.params == "spmrl"
    assert ("treebank" in config.lexical) == (name == JOINT)
    assert config.language == ("mul" if name == JOINT else LANGUAGES[name].code)
    assert f"fencepost train models/languages/{name}.toml" in (RECIPE / f"{name}.toml").read_text()


def test_data_are_free_and_apart_and_the_joint_ones_are_marked(
    treebanks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tmp_path / "data"
    run(prepare_languages.main, monkeypatch, "--treebanks", treebanks, "--out", data)
    assert [tree for tree in TREES[:5] if len(tree.words()) >= 6] == [TREES[0]]  # of dev and test
    assert list(Treebank.load(data / "fo.train.txt")) == list(TREES[1:])
    assert list(Treebank.load(data / "ja.dev.txt")) == [TREES[0]]
    assert list(Treebank.load(data / "fo.dev.txt")) == list(TREES[:2])
    joint = [str(tree) for tree in Treebank.load(data / "multi.train.txt")]
    assert str(marked(TREES[1], "is-historical")) in joint
    assert {tag.rpartition(":")[2] for tree in joint for tag in Tree.from_string(tree).tags()} == set(LANGUAGES)


def test_a_model_is_measured_described_and_released(
    treebanks: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, scores, text = tmp_path / "data", tmp_path / "scores.json", tmp_path / "card.md"
    run(prepare_languages.main, monkeypatch, "--treebanks", treebanks, "--out", data)
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path / "model")
    export_onnx(tmp_path / "model", tmp_path / "export", "int8")
    steps = ["--name", "fo", "--scores", scores]
    run(evaluate_language.main, monkeypatch, *steps, "--model", tmp_path / "export", "--data", data)
    figures = json.loads(scores.read_text())
    assert figures.keys() == {"fo.dev", "fo.test"}
    assert figures["fo.dev"]["sentences"] == 2
    run(language_card.main, monkeypatch, *steps, "--out", text)
    assert "# Faroese: the model `fo` of fencepost" in text.read_text("utf-8")
    shown = " | ".join(f"{figures['fo.dev'][name]:.2f}" for name in ("f1", "f1_text", "precision"))
    assert f"| fo.dev | 2 | {shown} |" in text.read_text("utf-8")
    assert "LGPL-3.0-or-later" in text.read_text("utf-8")
    into = tmp_path / "fo"
    run(release_language.main, monkeypatch, *steps, "--model", tmp_path / "export", "--card", text, "--into", into)
    model = into / "src" / "fencepost_fo" / "fo"
    assert read_scores(model).keys() == figures.keys()
    assert (model / "README.md").read_text("utf-8") == text.read_text("utf-8")
    assert load(model).parse([["It", "works"]]) == load(tmp_path / "export").parse([["It", "works"]])
    project = (into / "pyproject.toml").read_text("utf-8")
    assert '[project.entry-points."fencepost.models"]\nfo = "fencepost_fo"\n' in project
    assert 'license = "LGPL-3.0-or-later"' in project
    assert "LESSER GENERAL PUBLIC LICENSE" in (into / "LICENSE.LGPL-3.0-or-later.txt").read_text("utf-8")
    assert 'fencepost parse --model fo --text "Barnið sá bátin."' in (into / "README.md").read_text("utf-8")
    assert "pip install .                   # fencepost itself" in (into / "README.md").read_text("utf-8")
    with pytest.raises(SystemExit, match=r"must not exceed 0\.001 MB"):
        release_language.release("fo", tmp_path / "export", text, scores, into, 0.001)
    with pytest.raises(SystemExit, match="is not an export"):
        release_language.release("fo", tmp_path / "model", text, scores, into, 12)


def test_how_to_install_a_model_of_japanese_names_the_extra_that_splits_its_text(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path / "model")
    export_onnx(tmp_path / "model", tmp_path / "export", "int8")
    (tmp_path / "card.md").write_text("card")
    (tmp_path / "scores.json").write_text('{"ja.dev": {"f1": 91.0}, "ja.test": {"f1": 90.0}, "fr.test": {"f1": 80.0}}')
    sources = tmp_path / "export", tmp_path / "card.md", tmp_path / "scores.json"
    release_language.release("ja", *sources, tmp_path / "ja", 12)
    assert 'pip install ".[ja]" ' in (tmp_path / "ja" / "README.md").read_text("utf-8")
    assert read_scores(tmp_path / "ja" / "src" / "fencepost_ja" / "ja").keys() == {"ja.dev", "ja.test"}


def test_a_card_has_the_scores_of_its_own_model_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("f1", "precision", "recall", "complete_match", "tags")
    scores = {f"{name}.{part}": {"sentences": 1, **dict.fromkeys(names, 1.0)} for name in LANGUAGES for part in PARTS}
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    for name, rows in (("fo", ["fo.dev", "fo.test"]), (JOINT, [*scores])):
        steps = ["--name", name, "--scores", tmp_path / "scores.json", "--out", tmp_path / "card.md"]
        run(language_card.main, monkeypatch, *steps)
        lines = (tmp_path / "card.md").read_text("utf-8").splitlines()
        assert [line.split()[1] for line in lines if ".dev |" in line or ".test |" in line] == rows
    del scores["fr.test"]
    (tmp_path / "scores.json").write_text(json.dumps(scores))
    with pytest.raises(SystemExit, match=r"no scores of fr\.test: run evaluate_language\.py"):
        run(language_card.main, monkeypatch, *steps)


def test_the_joint_model_names_every_licence() -> None:
    text = language_card.card(JOINT, {"fo.test": dict.fromkeys(
        ("sentences", "f1", "precision", "recall", "complete_match", "tags"), 1)})  # fmt: skip
    for language in LANGUAGES.values():
        assert f"{language.license}," in text
        assert f"- {TERMS[language.license]}." in text
        assert language.citation in text
