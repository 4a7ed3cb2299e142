"""Names, links, pipes, devices and giant files in a stranger's model folder."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.errors import ModelError, UsageError
from fencepost.parsing.load import load
from fencepost.storage.find_model import find_model
from fencepost.storage.lock import locked
from fencepost.storage.model_files import CARD, CHECKSUMS, CONFIG, SCORES, VOCABULARIES, read_scores
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_staging import LOCK, STAGING, recover
from fencepost.storage.model_writer import change_config
from tests.attacks.strangers import copy_of_en, everything_below, refusal, relist, rewrite

TREES = "(TOP (S (NP (NNS Cats)) (VP (VBP sleep)) (. .)))\n" * 4


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copy_of_en(tmp_path / "model")


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.storage.model_folder.PATIENCE", 0.1)


def test_loading_moves_nothing_through_a_link_to_another_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy_of_en(tmp_path / "thesis")
    (folder / CHECKSUMS).write_text("damaged\n")
    (folder / STAGING).symlink_to(tmp_path / "thesis")
    assert CHECKSUMS in refusal(folder, capsys)


def test_loading_finishes_no_interrupted_write(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy_of_en(folder / STAGING)
    (folder / CONFIG).unlink()
    said = refusal(folder, capsys)
    assert f"{CONFIG} is missing" in said
    assert f"hint: a process was interrupted while it wrote this model; `fencepost models repair {folder}`" in said


def test_repair_finishes_an_interrupted_write(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy_of_en(folder / STAGING)
    (folder / CONFIG).unlink()
    assert main(["models", "repair", str(folder)]) == 0
    assert not (folder / STAGING).exists()
    load(folder)
    assert main(["models", "repair", str(folder)]) == 0
    assert "nothing to repair" in capsys.readouterr().err


@pytest.mark.parametrize("write", [recover, lambda path: change_config(path, ModelFolder.open().config)])
def test_a_writer_follows_no_link_to_another_folder(
    folder: Path, tmp_path: Path, write: Callable[[Path], None]
) -> None:
    copy_of_en(tmp_path / "thesis")
    (folder / STAGING).symlink_to(tmp_path / "thesis")
    before = everything_below(tmp_path)
    with pytest.raises(UsageError, match=f"{STAGING} is not a folder"):
        write(folder)
    assert everything_below(tmp_path / "thesis").items() <= before.items()


def test_a_writer_moves_only_listed_files_and_no_links(folder: Path, tmp_path: Path) -> None:
    """A link among the staged files makes them incomplete; a file that isn't listed stays out of the model."""
    (tmp_path / "letter.txt").write_text("mine")
    copy_of_en(folder / STAGING)
    (folder / STAGING / "extra.txt").write_text("not listed")
    recover(folder)
    assert not (folder / "extra.txt").exists()
    copy_of_en(folder / STAGING)
    (folder / STAGING / CARD).unlink()
    (folder / STAGING / CARD).symlink_to(tmp_path / "letter.txt")
    recover(folder)
    assert not (folder / CARD).is_symlink()
    assert not (folder / STAGING).exists()
    assert (tmp_path / "letter.txt").read_text() == "mine"


NAMES = ["../keys", "/etc/hostname", "sub/file", "..", ".", "back\\slash", "\x1b[31mred", "a b", ".hidden", "x" * 300]


@pytest.mark.parametrize("name", NAMES)
def test_a_listed_name_must_be_plain(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    relist(folder, name)
    said = refusal(folder, capsys)
    assert re.search(rf"{CHECKSUMS}: damaged: line \d+ is not a checksum and a plain file name", said)


def test_a_name_is_listed_once(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with (folder / CHECKSUMS).open("a") as file:
        file.write(f"{'0' * 64}  {CONFIG}\n")
    assert f"{CONFIG} is listed twice" in refusal(folder, capsys)


def test_calibrating_writes_nothing_outside_the_folder(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "x").write_text("secret")
    (folder / "keys").symlink_to(tmp_path / "keys")
    shutil.copy(tmp_path / "keys" / "x", tmp_path / "content")
    relist(folder, "../keys/x", "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b")
    (tmp_path / "dev.txt").write_text(TREES)
    before = everything_below(tmp_path)
    assert main(["calibrate", str(folder), str(tmp_path / "dev.txt")]) == 2
    assert "not a checksum and a plain file name" in capsys.readouterr().err
    assert everything_below(tmp_path) == before


@pytest.mark.parametrize("name", [CONFIG, VOCABULARIES, CARD, "model.onnx", "tokenizer.json", CHECKSUMS])
def test_a_file_of_a_model_is_no_link(
    folder: Path, tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).rename(tmp_path / "elsewhere")
    (folder / name).symlink_to(tmp_path / "elsewhere")
    said = refusal(folder, capsys)
    assert f"{folder / name}: a link, not a plain file" in said
    assert "cp -rL" in said


def test_an_installed_model_may_be_made_of_links(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some installers link the files of packages to a cache."""
    (tmp_path / "models" / "en").mkdir(parents=True)
    for file in folder.iterdir():
        (tmp_path / "models" / "en" / file.name).symlink_to(file)
    monkeypatch.setattr("fencepost.storage.find_model.packaged_folder", lambda: tmp_path / "models")
    monkeypatch.setattr("fencepost.storage.installed_models.packaged_folder", lambda: tmp_path / "models")
    assert load().parse([["Cats", "sleep"]])


@pytest.mark.parametrize("name", [CONFIG, CHECKSUMS, "model.onnx", "unknown.bin"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device"])
def test_pipes_devices_and_folders_are_refused_at_once(
    folder: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / name).unlink(missing_ok=True)
    if kind == "pipe":
        os.mkfifo(folder / name)
    elif kind == "folder":
        (folder / name).mkdir()
    else:
        (folder / name).symlink_to("/dev/zero")
    if name != CHECKSUMS:
        relist(folder, name)
    said = refusal(folder, capsys)
    assert f"{folder / name}: a {'link' if kind == 'device' else kind}, not a plain file" in said


@pytest.mark.parametrize("name", [CONFIG, VOCABULARIES, CARD, CHECKSUMS, "tokenizer.json", "model.onnx"])
def test_a_giant_file_is_refused_before_it_is_read(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    os.truncate(folder / name, 2**40)
    said = refusal(folder, capsys)
    assert re.search(f"{re.escape(str(folder / name))}: larger than [0-9,]+ bytes", said)


def test_many_large_files_are_refused_together(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in range(20):
        (folder / f"part{number}.bin").touch()
        os.truncate(folder / f"part{number}.bin", 2**33)
        relist(folder, f"part{number}.bin")
    assert f"{folder}: its files are larger than" in refusal(folder, capsys)


def test_scores_are_read_as_carefully(folder: Path, tmp_path: Path) -> None:
    for content in (b"[" * 50_000, b'{"test": {"f1": 1e999}}', b'{"test": {"f1": "high"}}', b"5", b"\xff"):
        rewrite(folder, SCORES, content)
        with pytest.raises(ModelError, match=f"{SCORES}: damaged"):
            read_scores(folder)
    (folder / SCORES).unlink()
    os.mkfifo(folder / SCORES)
    with pytest.raises(ModelError, match=f"{SCORES}: a pipe, not a plain file"):
        read_scores(folder)


def test_a_lock_is_not_made_at_the_end_of_a_link(folder: Path, tmp_path: Path) -> None:
    (folder / LOCK).symlink_to(tmp_path / "made")
    with pytest.raises(UsageError, match=f"{LOCK} is a link"), locked(folder / LOCK):
        pass
    assert not (tmp_path / "made").exists()


def test_the_shipped_model_is_a_plain_folder() -> None:
    assert all(path.is_file() and not path.is_symlink() for path in find_model().iterdir())
