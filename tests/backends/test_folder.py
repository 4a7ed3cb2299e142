from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.samples import TREES, tiny_config

from fencepost.backends.folder import CHECKSUMS, CONFIG, ONNX, VOCABULARIES, WEIGHTS, ModelFolder, recover, write_model
from fencepost.errors import ModelError
from fencepost.features.vocabularies import Vocabularies

VOCABULARY = Vocabularies.of(TREES, tiny_config())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model", tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"weights"})
    return tmp_path / "model"


def test_a_folder_gives_back_what_was_put_in(folder: Path) -> None:
    opened = ModelFolder.open(folder)
    assert (opened.config, opened.vocabularies) == (tiny_config(), VOCABULARY)


def test_nothing_is_left_beside_the_folder(folder: Path) -> None:
    assert [path.name for path in folder.parent.iterdir()] == ["model"]


def test_writing_again_keeps_files_that_are_not_the_models(folder: Path) -> None:
    log = (folder / "log.jsonl").open("a")
    log.write("one\n")
    log.flush()
    write_model(folder, tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"better"})
    log.write("two\n")
    log.close()
    assert (folder / "log.jsonl").read_text() == "one\ntwo\n"
    assert (folder / WEIGHTS).read_bytes() == b"better"


def test_writing_again_keeps_folders_too(folder: Path) -> None:
    (folder / "plots").mkdir()
    (folder / "plots" / "curve.svg").write_text("a curve")
    write_model(folder, tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"better"})
    assert (folder / "plots" / "curve.svg").read_text() == "a curve"


def test_a_file_of_the_model_before_does_not_stay_beside_the_next(folder: Path) -> None:
    write_model(folder, tiny_config(), VOCABULARY, "a card", {ONNX: b"an exported model"})
    assert (folder / ONNX).exists()
    assert not (folder / WEIGHTS).exists()


def test_a_write_that_fails_leaves_the_old_model_whole(folder: Path) -> None:
    with pytest.raises(TypeError):
        write_model(folder, tiny_config(), VOCABULARY, "a card", {WEIGHTS: None})  # type: ignore[dict-item]
    ModelFolder.open(folder)
    assert (folder / WEIGHTS).read_bytes() == b"weights"


def test_a_process_that_died_between_two_renames_loses_nothing(folder: Path) -> None:
    os.replace(folder, folder.with_name("model.old"))
    recover(folder)
    ModelFolder.open(folder)


def test_a_process_that_died_after_both_renames_keeps_files_that_are_not_the_models(folder: Path) -> None:
    old = folder.with_name("model.old")
    old.mkdir()
    (old / "checkpoint.safetensors").write_bytes(b"hours of work")
    (old / WEIGHTS).write_bytes(b"older weights")
    recover(folder)
    ModelFolder.open(folder)
    assert (folder / "checkpoint.safetensors").read_bytes() == b"hours of work"
    assert not old.exists()


@pytest.mark.parametrize("name", [CONFIG, VOCABULARIES, WEIGHTS])
def test_a_damaged_file_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes((folder / name).read_bytes() + b" ")
    with pytest.raises(ModelError, match="damaged"):
        ModelFolder.open(folder)


@pytest.mark.parametrize("name", [VOCABULARIES, WEIGHTS])
def test_a_missing_file_is_named(folder: Path, name: str) -> None:
    (folder / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        ModelFolder.open(folder)


def test_a_folder_without_checksums_is_refused(folder: Path) -> None:
    (folder / CHECKSUMS).unlink()
    with pytest.raises(ModelError, match="checksums"):
        ModelFolder.open(folder)


def test_a_folder_that_is_no_model_gets_a_hint(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no model at") as caught:
        ModelFolder.open(tmp_path)
    assert "fencepost train" in (caught.value.hint or "")


def test_a_file_beside_the_model_is_no_part_of_it(folder: Path) -> None:
    (folder / ONNX).write_bytes(b"somebody else's")
    opened = ModelFolder.open(folder)
    assert opened.has(WEIGHTS)
    assert not opened.has(ONNX)
