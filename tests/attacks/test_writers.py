"""Writers that meet in one folder, or that are killed in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.errors import UsageError
from fencepost.export.onnx import export_onnx
from fencepost.features.vocabularies import Vocabularies
from fencepost.integrations.benepar import import_benepar
from fencepost.parsing.load import load
from fencepost.storage.find_model import find_model
from fencepost.storage.model_files import CONFIG, ONNX
from fencepost.storage.model_staging import LOCK, STAGING
from fencepost.storage.model_writer import making_model, write_model
from tests.samples import TREES, tiny_config

VOCABULARY = Vocabularies.of(TREES, tiny_config())


def test_the_second_of_two_exports_into_one_folder_says_so(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with making_model(out):
        with pytest.raises(UsageError, match=f"another process is writing a model to {out}"):
            export_onnx(find_model(), out)
        with pytest.raises(UsageError, match=f"another process is writing a model to {out}"):
            import_benepar(tmp_path / "any.pt", out)
    assert not out.exists()
    export_onnx(find_model(), out)
    assert load(out).parse([["Cats", "sleep"]])
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]
    with pytest.raises(UsageError, match="already exists"):
        export_onnx(find_model(), out)


def test_an_export_that_was_killed_can_be_repeated(tmp_path: Path) -> None:
    """It left its lock and half of the files in their staging folder."""
    out = tmp_path / "out"
    (out / STAGING).mkdir(parents=True)
    (out / STAGING / ONNX).write_bytes(b"half")
    (out / LOCK).touch()
    (out / ".fencepost-writing").touch()
    export_onnx(find_model(), out)
    assert load(out).parse([["Cats", "sleep"]])
    assert not [path.name for path in out.iterdir() if path.name.startswith(".")]


def test_an_error_leaves_no_folder_behind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(tmp_path / "none"), str(tmp_path / "out")]) == 2
    assert not (tmp_path / "out").exists()


def test_a_file_that_makes_way_for_a_model_is_mentioned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        (tmp_path / CONFIG).write_text("mine")
        write_model(tmp_path, tiny_config(), VOCABULARY, "a card", {})
        os.unlink(tmp_path / "checksums")
    said = capsys.readouterr().err
    assert f"note: {tmp_path / CONFIG} isn't part of the model; it was renamed to {CONFIG}.yours\n" in said
    assert f"{CONFIG}.yours.1\n" in said
    assert (tmp_path / f"{CONFIG}.yours").read_text() == "mine"
