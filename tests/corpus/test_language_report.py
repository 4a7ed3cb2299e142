"""A run says how many documents aren't in the model's language, and warns early if they are the rule."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any, Final

import pytest

from fencepost.cli.main import main
from fencepost.errors import LanguageWarning
from fencepost.training.train import train
from tests.samples import TREES, tiny_config

GERMAN: Final = "Ich weiß nicht, ob sie heute noch kommt. Wir haben die Katze gestern im Garten gesehen."
FRENCH: Final = "Je ne sais pas si elle viendra ce soir. Nous avons vu le chat dans le jardin."
ENGLISH: Final = "I don't know if she is coming. We saw the cat in the garden yesterday."
EARLY: Final = "warning: most documents look like German; the model model knows English\nhint: use a model for"

pytestmark = pytest.mark.filterwarnings("always::fencepost.errors.LanguageWarning")


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, path)
    return str(path)


def corpus(folder: Path, documents: list[str], model: str, *options: str, name: str = "out") -> dict[str, Any]:
    """The manifest of a run."""
    if not (folder / "in.jsonl").exists():
        (folder / "in.jsonl").write_text("".join(json.dumps({"text": text}) + "\n" for text in documents), "utf-8")
    assert main(["corpus", str(folder / "in.jsonl"), "--out", str(folder / name), "--model", model, *options]) == 0
    manifest: dict[str, Any] = json.loads((folder / name / "manifest.json").read_text("utf-8"))
    return manifest


def test_documents_are_counted_by_language(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = corpus(tmp_path, [*[ENGLISH] * 4, GERMAN, FRENCH, GERMAN], model)
    assert manifest["other_languages"] == {"German": 2, "French": 1}
    said = (
        "warning: 3 of 7 documents have text in another language (German 2, French 1); the model model knows English\n"
    )
    assert capsys.readouterr().err.startswith(said)
    corpus(tmp_path, [*[ENGLISH] * 4, GERMAN, FRENCH, GERMAN], model)
    assert capsys.readouterr().err.startswith(said)


def test_a_run_in_one_language_says_nothing(model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = corpus(tmp_path, [ENGLISH] * 3, model)
    assert manifest["other_languages"] == {}
    assert "warning" not in capsys.readouterr().err


@pytest.mark.parametrize("options", [["--workers", "1"], ["--workers", "2"]], ids=" ".join)
def test_the_wrong_model_is_noticed_with_the_first_part_and_said_once(
    model: str, options: list[str], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    manifest = corpus(tmp_path, [GERMAN] * 9, model, "--part-bytes", "200", *options)
    assert len(manifest["parts"]) > 2
    said = capfd.readouterr().err
    assert said.startswith(EARLY)
    assert said.count("most documents") == said.count("9 of 9 documents") == 1


def test_a_manifest_with_strange_counts_is_refused(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = corpus(tmp_path, [GERMAN], model)
    for strange in (["German"], {"German": "many"}, 3):
        path = tmp_path / "out" / "manifest.json"
        path.write_text(json.dumps({**manifest, "other_languages": strange}), "utf-8")
        assert main(["corpus", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out"), "--model", model]) == 2
        assert "manifest.json can't be read" in capsys.readouterr().err


def test_a_manifest_from_before_there_were_counts_is_complete(model: str, tmp_path: Path) -> None:
    manifest = corpus(tmp_path, [ENGLISH], model)
    del manifest["other_languages"]
    (tmp_path / "out" / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    assert corpus(tmp_path, [ENGLISH], model) == manifest


def test_where_warnings_are_errors_a_run_can_be_resumed(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    documents, options = [GERMAN] * 9, ["--part-bytes", "200", "--workers", "1"]
    manifest = corpus(tmp_path, documents, model, *options, name="whole")
    arguments = ["corpus", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out"), "--model", model, *options]
    capsys.readouterr()
    for parts in range(1, 1 + len(manifest["parts"])):
        with warnings.catch_warnings():
            warnings.simplefilter("error", LanguageWarning)
            assert main(arguments) == 2
        assert capsys.readouterr().err.startswith(EARLY.replace("warning", "error"))
        assert len([*(tmp_path / "out").glob("part-*")]) == parts
    assert corpus(tmp_path, documents, model, *options) == manifest
