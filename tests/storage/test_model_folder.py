from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.errors import ModelError, UsageError
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.model_folder import (
    CHECKSUMS,
    CONFIG,
    DEFAULT_MODEL,
    ONNX,
    VOCABULARIES,
    WEIGHTS,
    ModelFolder,
    change_config,
    find_model,
    recover,
    require_new,
    require_room,
    write_model,
)
from tests.samples import TREES, tiny_config

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


def test_a_write_that_fails_leaves_nothing_in_the_way_of_the_next(tmp_path: Path) -> None:
    with pytest.raises(TypeError):
        write_model(tmp_path, tiny_config(), VOCABULARY, "a card", {WEIGHTS: None})  # type: ignore[dict-item]
    assert list(tmp_path.iterdir()) == []
    require_new(tmp_path)


@pytest.mark.parametrize("mend", [recover, lambda path: change_config(path, tiny_config(seed=7))])
def test_a_file_where_models_are_put_together_is_named(folder: Path, mend: Callable[[Path], None]) -> None:
    (folder / ".fencepost-incoming").write_text("somebody's")
    with pytest.raises(UsageError, match=r"fencepost-incoming is no folder"):
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


def test_a_model_that_nobody_puts_in_place_any_more_is_put_there(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died_at(2, folder, monkeypatch)
    monkeypatch.setattr("fencepost.storage.model_folder.PATIENCE", 0.1)
    assert ModelFolder.open(folder).config.train.seed == 7


def test_half_a_model_under_the_name_of_one_that_ships_is_not_passed_over(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    os.replace(folder, DEFAULT_MODEL)
    Path(DEFAULT_MODEL, CONFIG).unlink()
    with pytest.raises(ModelError, match=f"{CONFIG} is missing"):
        ModelFolder.open(DEFAULT_MODEL)


def test_a_name_that_no_file_can_have_is_no_model() -> None:
    with pytest.raises(ModelError, match="no model at"):
        ModelFolder.open("x" * 5_000)


@pytest.mark.parametrize("name", [CONFIG, "README.md", WEIGHTS])
def test_a_file_that_is_no_models_is_not_overwritten(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("somebody's")
    with pytest.raises(UsageError, match=f"{name} is there and belongs to no model"):
        require_room(tmp_path)
    write_model(tmp_path, tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"weights"})
    ModelFolder.open(tmp_path)
    assert (tmp_path / f"{name}.yours").read_text() == "somebody's"


def test_a_model_that_waits_with_a_damaged_file_takes_no_place(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    died_at(1, folder, monkeypatch)
    (folder / ".fencepost-incoming" / ONNX).write_bytes(b"")
    recover(folder)
    opened = ModelFolder.open(folder)
    assert (opened.config.train.seed, opened.has(WEIGHTS)) == (1, True)


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


def test_a_folder_comes_before_a_model_that_ships_under_its_name(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shipped = find_model(DEFAULT_MODEL)
    os.replace(folder, DEFAULT_MODEL)
    assert find_model(DEFAULT_MODEL) == Path(DEFAULT_MODEL)
    assert ModelFolder.open(DEFAULT_MODEL).config == tiny_config()
    assert find_model() == shipped != Path(DEFAULT_MODEL)


def test_a_folder_that_is_no_model_does_not_hide_one_that_ships(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path(DEFAULT_MODEL).mkdir()
    assert find_model(DEFAULT_MODEL) == find_model()


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
