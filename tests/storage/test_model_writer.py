from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.errors import UsageError
from fencepost.storage.model_files import CHECKSUMS, CONFIG, ONNX, WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import change_config, making_model, require_no_foreign_files, write_model
from tests.samples import tiny_config
from tests.storage.conftest import VOCABULARY


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


def test_a_write_that_fails_leaves_nothing_in_the_way_of_the_next(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_model(tmp_path, tiny_config(), VOCABULARY, "a card", {WEIGHTS: None})  # type: ignore[dict-item]
    assert list(tmp_path.iterdir()) == []
    with making_model(tmp_path):
        pass


@pytest.mark.parametrize("name", [CONFIG, "README.md", WEIGHTS])
def test_a_file_that_is_no_models_is_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("somebody's")
    with pytest.raises(UsageError, match=f"{name} exists and isn't part of a model"):
        require_no_foreign_files(tmp_path)
    write_model(tmp_path, tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"weights"})
    ModelFolder.open(tmp_path)
    assert (tmp_path / f"{name}.yours").read_text() == "somebody's"


def test_folders_beside_are_nobodys_business(folder: Path) -> None:
    for end in (".old", ".new"):
        folder.with_name(f"model{end}").mkdir()
        (folder.with_name(f"model{end}") / "notes.txt").write_text("precious")
    change_config(folder, tiny_config(seed=7))
    assert {path.name for path in folder.parent.iterdir()} == {"model", "model.old", "model.new"}
    assert (folder.with_name("model.old") / "notes.txt").read_text() == "precious"


def test_a_list_of_files_does_not_lead_out_of_the_folder(folder: Path) -> None:
    (folder.parent / "precious").write_text("here")
    with (folder / CHECKSUMS).open("a") as file:
        file.write(f"{'0' * 64}  ../precious\n")
    write_model(folder, tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"better"})
    assert (folder.parent / "precious").exists()


@pytest.fixture
def link(folder: Path, tmp_path: Path) -> Path:
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "link").symlink_to(folder)
    return tmp_path / "links" / "link"


def test_a_link_to_a_folder_stays_one_however_often_it_is_written(folder: Path, link: Path) -> None:
    for weights in (b"better", b"best"):
        write_model(link, tiny_config(), VOCABULARY, "a card", {WEIGHTS: weights})
        change_config(link, tiny_config(seed=7))
        assert link.readlink() == folder
        assert (folder / WEIGHTS).read_bytes() == weights
        assert ModelFolder.open(folder).config == tiny_config(seed=7)
    assert [path.name for path in link.parent.iterdir()] == ["link"]


def test_the_current_folder_can_be_written_again_and_again(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    for weights in (b"better", b"best"):
        write_model(Path("."), tiny_config(), VOCABULARY, "a card", {WEIGHTS: weights})
        assert Path(WEIGHTS).read_bytes() == (folder / WEIGHTS).read_bytes() == weights
