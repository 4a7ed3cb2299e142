from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.config.settings import VectorsConfig
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.load import load
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from tests.backends.test_onnx import write_folder
from tests.model.model_samples import small_config
from tests.samples import TREES


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_an_exported_model_parses(tmp_path: Path, capsys: pytest.CaptureFixture[str], precision: str) -> None:
    model, out = write_folder(tmp_path / "model", small_config()), tmp_path / "out"
    assert main(["export", str(model), str(out), "--precision", precision]) == 0
    assert capsys.readouterr().err == f"wrote the model for ONNX Runtime, in {precision}, to {out}\n"
    assert load(out).parse([["the", "cat", "sleeps"]])[0].words() == ["the", "cat", "sleeps"]


def test_a_model_is_exported_into_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = write_folder(tmp_path / "model", small_config())
    (tmp_path / "out").mkdir()
    monkeypatch.chdir(tmp_path / "out")
    assert main(["export", str(model), "."]) == 0
    assert load(tmp_path / "out").parse([["the", "cat"]])[0].words() == ["the", "cat"]


def test_a_folder_without_a_model_is_an_error_that_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "nothing"), str(tmp_path / "out")]) == 2
    assert "error: no model at" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_model_without_encoder_layers_is_exported(tmp_path: Path) -> None:
    model = write_folder(tmp_path / "model", small_config(layers=0))
    assert main(["export", str(model), str(tmp_path / "out")]) == 0
    sentences = [["the", "cat", "sleeps"], ["a", "mat"]]
    assert load(tmp_path / "out").parse(sentences) == load(model).parse(sentences)


def test_a_model_that_cant_be_exported_says_why(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = replace(small_config(), lexical=("vectors",), vectors=VectorsConfig(path="some.safetensors"))
    vocabularies = Vocabularies.of(TREES, config)
    write_model(tmp_path / "model", config, vocabularies, "a card", {WEIGHTS: b""})
    assert main(["export", str(tmp_path / "model"), str(tmp_path / "out")]) == 2
    assert "a model that reads vectors can't be exported yet" in capsys.readouterr().err


def test_an_export_never_takes_the_place_of_another_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = write_folder(tmp_path / "model", small_config())
    other = write_folder(tmp_path / "other", small_config())
    assert main(["export", str(model), str(other)]) == 2
    assert f"error: {other} already exists" in capsys.readouterr().err
    assert (other / WEIGHTS).exists()


@pytest.mark.parametrize("leads_to", ["out", "nowhere"])
def test_a_link_that_leads_to_no_folder_is_refused(
    tmp_path: Path, leads_to: str, capsys: pytest.CaptureFixture[str]
) -> None:
    model = write_folder(tmp_path / "model", small_config())
    (tmp_path / "out").symlink_to(leads_to)
    assert main(["export", str(model), str(tmp_path / "out")]) == 2
    assert f"error: {tmp_path / 'out'} already exists" in capsys.readouterr().err
