from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.find_model import find_model
from fencepost.storage.model_files import CONFIG, SCORES, format_scores
from fencepost.storage.model_writer import write_model
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from tests.samples import TREES, tiny_config
from tests.storage.test_installed_models import declare


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of an installed model called xx, with scores and without weights."""
    scores = format_scores({"wsj": {"sentences": 10, "f1": 91.25, "tags": None}, "gum": {"f1": 90}})
    vocabularies = Vocabularies.of(TREES, tiny_config())
    write_model(tmp_path / "model", tiny_config(), vocabularies, "a card", {SCORES: scores})
    monkeypatch.syspath_prepend(tmp_path / "site")
    return declare(tmp_path / "site", "xx", "some_models", tmp_path / "model")


def test_the_list_has_names_languages_sizes_scores_and_places(
    installed: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models"]) == 0
    head, en, xx = capsys.readouterr().out.splitlines()
    assert head.split() == ["name", "language", "MB", "F1", "from", "folder"]
    assert en.split()[:2] == ["en", "en"]
    assert en.endswith(str(find_model()))
    size = sum(path.stat().st_size for path in installed.iterdir())
    assert " ".join(xx.split()) == f"xx en {size / 1e6:.1f} wsj 91.2, gum 90.0 dist-of-xx 1.5 {installed}"


def test_the_list_in_json(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "--json"]) == 0
    en, xx = json.loads(capsys.readouterr().out)
    assert en["name"] == "en"
    assert en["distribution"].startswith("fencepost ")
    assert xx == {
        "name": "xx",
        "path": str(installed),
        "distribution": "dist-of-xx 1.5",
        "language": "en",
        "bytes": sum(path.stat().st_size for path in installed.iterdir()),
        "scores": {"wsj": {"sentences": 10, "f1": 91.25, "tags": None}, "gum": {"f1": 90.0}},
        "problem": None,
    }


def test_the_list_leaves_out_scores_on_development_sets(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"fo.dev": {"f1": 88}, "fo.test": {"f1": 87}, "wsj": {"f1": 90}}
    (installed / SCORES).unlink()
    write_model(installed, tiny_config(), Vocabularies.of(TREES, tiny_config()), "", {SCORES: format_scores(scores)})
    assert main(["models"]) == 0
    assert " fo 87.0, wsj 90.0 " in " ".join(capsys.readouterr().out.splitlines()[2].split())


@pytest.mark.parametrize("name", [CONFIG, SCORES])
def test_a_damaged_model_stays_in_the_list(installed: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    (installed / name).write_text("damaged")
    assert main(["models"]) == 0
    assert capsys.readouterr().out.splitlines()[2].split()[:4] == ["xx", "–", "–", "damaged"]
    assert main(["models", "--json"]) == 0
    assert name in json.loads(capsys.readouterr().out)[1]["problem"]


def test_a_good_model_is_verified(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "verify", "en"]) == 0
    answer = capsys.readouterr().out
    assert answer.startswith("en: every file has its checksum, and the model parses: (TOP (S (NP (PRP It))")


@pytest.mark.extras
def test_a_model_is_verified_with_its_own_tags(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tree = Tree.from_string("(TOP (SENT (VN (CLS Il) (V pleut)) (PONCT .)))")
    train(tiny_config(max_epochs=1), [tree] * 4, [tree], tmp_path / "model")
    capsys.readouterr()
    assert main(["models", "verify", str(tmp_path / "model")]) == 0
    shown = Tree.from_string(capsys.readouterr().out.partition("the model parses: ")[2])
    assert set(shown.tags()) <= {"CLS", "V", "PONCT"}


def test_a_damaged_model_is_not(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (installed / SCORES).write_text("{}")
    assert main(["models", "verify", "xx"]) == 2
    assert f"error: {installed / SCORES}: damaged: its checksum is wrong" in capsys.readouterr().err


def test_a_model_that_cannot_run_is_not(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "verify", "xx"]) == 2
    assert f"error: {installed}" in capsys.readouterr().err
