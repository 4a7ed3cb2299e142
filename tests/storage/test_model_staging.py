from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.errors import ModelError, UsageError
from fencepost.storage.model_files import CHECKSUMS, CONFIG, ONNX, VOCABULARIES, WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_staging import recover
from fencepost.storage.model_writer import change_config, write_model
from tests.samples import tiny_config
from tests.storage.conftest import VOCABULARY


@pytest.mark.parametrize("mend", [recover, lambda path: change_config(path, tiny_config(seed=7))])
def test_a_file_where_models_are_put_together_is_named(folder: Path, mend: Callable[[Path], None]) -> None:
    (folder / ".fencepost-incoming").write_text("somebody's")
    with pytest.raises(UsageError, match=r"fencepost-incoming is not a folder"):
        mend(folder)
    assert (folder / ".fencepost-incoming").read_text() == "somebody's"
    ModelFolder.open(folder)


def died_at(step: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that dies at its so-many-th rename."""
    renamed = iter(range(step))

    def rename(source: Path, target: Path) -> None:
        if next(renamed, None) is None:
            raise KeyboardInterrupt
        source.rename(target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", rename)
        with pytest.raises(KeyboardInterrupt):
            write_model(folder, tiny_config(seed=7), VOCABULARY, "another card", {ONNX: b"other weights"})


@pytest.mark.parametrize("step", range(6))
def test_what_a_process_that_died_left_is_one_model_or_the_other(
    step: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "checkpoint.safetensors").write_bytes(b"hours of work")
    died_at(step, folder, monkeypatch)
    recover(folder)
    opened = ModelFolder.open(folder)
    assert (opened.config.train.seed, opened.has(ONNX)) == ((1, False) if step == 0 else (7, True))
    files = {CONFIG, VOCABULARIES, "README.md", CHECKSUMS, "checkpoint.safetensors", ONNX if step else WEIGHTS}
    assert {path.name for path in folder.iterdir()} == files
    assert (folder / "checkpoint.safetensors").read_bytes() == b"hours of work"


def test_a_model_that_is_being_put_in_place_is_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died_at(2, folder, monkeypatch)
    monkeypatch.setattr("fencepost.storage.model_folder.time.sleep", lambda _: recover(folder))  # as its writer would
    assert ModelFolder.open(folder).config.train.seed == 7


def test_a_model_that_nobody_puts_in_place_any_more_is_a_writers_job(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    died_at(2, folder, monkeypatch)
    monkeypatch.setattr("fencepost.storage.model_folder.PATIENCE", 0.1)
    with pytest.raises(ModelError, match=f"`fencepost models repair {folder}`"):
        ModelFolder.open(folder)
    recover(folder)
    assert ModelFolder.open(folder).config.train.seed == 7


def test_a_model_that_waits_with_a_damaged_file_takes_no_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died_at(1, folder, monkeypatch)
    (folder / ".fencepost-incoming" / ONNX).write_bytes(b"")
    recover(folder)
    opened = ModelFolder.open(folder)
    assert (opened.config.train.seed, opened.has(WEIGHTS)) == (1, True)
