"""Files that say they are benepar models."""

from __future__ import annotations

import io
import json
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import pytest
import torch

from fencepost.cli.main import main
from fencepost.parsing.load import load
from tests.attacks.strangers import everything_below
from tests.integrations.benepar_samples import char_lstm_file
from tests.integrations.test_benepar import exported


def refused(source: Path, capsys: pytest.CaptureFixture[str]) -> str:
    before = everything_below(source.parent)
    assert main(["import-benepar", str(source), str(source.parent / "out")]) == 2
    assert everything_below(source.parent) == before
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    return said


def zipped(folder: Path, **more: bytes) -> Path:
    path = folder.with_suffix(".zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in folder.iterdir():
            archive.write(file, f"benepar_en3/{file.name}")
        for name, content in more.items():
            archive.writestr(name, content)
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return exported(tmp_path / "benepar")


def test_only_the_members_that_are_needed_are_unpacked(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    path = zipped(folder, **{"../outside": b"x", "/tmp/fencepost-owned": b"x", "benepar_en3/../../up": b"x"})
    before = set(tmp_path.rglob("*"))
    assert main(["import-benepar", str(path), str(tmp_path / "out")]) == 0
    assert {each for each in set(tmp_path.rglob("*")) - before if "out" not in each.parts} == set()
    assert not os.path.exists("/tmp/fencepost-owned")
    assert load(tmp_path / "out").parse([["the", "cats"]])


@pytest.mark.parametrize("name", ["/config.json", "../config.json", "a/../../config.json"])
def test_a_member_outside_the_archive_is_no_model(
    tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with zipfile.ZipFile(tmp_path / "bad.zip", "w") as archive:
        archive.writestr(name, "{}")
        archive.writestr(str(Path(name).parent / "benepar_model.bin"), b"")
    assert f"{name} is not inside the archive" in refused(tmp_path / "bad.zip", capsys)


def test_a_zip_bomb_is_not_unpacked(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_bytes(b" " * (100 * 2**20))
    assert "config.json: larger than" in refused(zipped(folder), capsys)


def test_a_member_that_is_larger_than_it_says_is_refused(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = zipped(folder)
    content = bytearray(path.read_bytes())
    at = content.index(b"PK\x01\x02")
    content[at + 24 : at + 28] = (5).to_bytes(4, "little")  # the declared size of the first member
    path.write_bytes(content)
    refused(path, capsys)


def with_giant() -> dict[str, Any]:
    """A tensor of a terabyte in four bytes: all of its numbers are the same one."""
    saved = char_lstm_file()
    saved["state_dict"]["f_label.0.weight"] = torch.zeros(1).as_strided((2**20, 2**18), (0, 0))
    return saved


def test_a_giant_tensor_in_a_small_file_takes_no_memory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save(with_giant(), tmp_path / "model.pt")
    assert "f_label.0.weight" in refused(tmp_path / "model.pt", capsys)


def test_compressed_weights_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """torch doesn't compress its files, so that a compressed one can only be a bomb."""
    file = io.BytesIO()
    torch.save({"zeros": torch.zeros(2**22)}, file)
    with zipfile.ZipFile(file) as before, zipfile.ZipFile(tmp_path / "m.pt", "w", zipfile.ZIP_DEFLATED) as after:
        for info in before.infolist():
            after.writestr(info.filename, before.read(info))
    assert "compressed" in refused(tmp_path / "m.pt", capsys)


def with_labels(labels: object) -> dict[str, Any]:
    saved = char_lstm_file()
    return {**saved, "config": {**saved["config"], "label_vocab": labels}}


SAVED: dict[str, Any] = {
    "a list": [1, 2],
    "no settings": {"config": {}, "state_dict": {}},
    "weights that are a list": {**char_lstm_file(), "state_dict": [1]},
    "weights that are numbers": {**char_lstm_file(), "state_dict": {"f_label.0.weight": 5}},
    "a sparse tensor": {**char_lstm_file(), "state_dict": {"a": torch.zeros(3).to_sparse()}},
    "settings that are strings": char_lstm_file(d_model="16"),
    "giant settings": char_lstm_file(d_model=2**62),
    "a billion layers": char_lstm_file(num_layers=10**9),
    "a label with a blank": with_labels({"": 0, "A B": 1, "C": 2, "D": 3}),
    "labels that are numbers": with_labels({0: 0}),
    "labels that are a list": with_labels(["NP"]),
    "numbers of labels that are strings": with_labels({"": 0, "NP": "1"}),
}


@pytest.mark.parametrize("name", SAVED)
def test_a_file_that_is_no_model_is_named(tmp_path: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    torch.save(SAVED[name], tmp_path / "model.pt")
    assert str(tmp_path / "model.pt") in refused(tmp_path / "model.pt", capsys)


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\x80\x02.", b"\x80\x04N.", b"(" * 10_000, b"cos\nsystem\n."])
def test_bytes_that_are_no_model_are_named(tmp_path: Path, content: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.pt").write_bytes(content)
    assert str(tmp_path / "model.pt") in refused(tmp_path / "model.pt", capsys)


def doubled(levels: int) -> bytes:
    """A dictionary whose key is a tuple of the same tuple twice, and so on: hashing it takes 2 ** levels steps."""
    steps = b"".join(b"h" + bytes([level]) + b"\x86q" + bytes([level + 1]) for level in range(1, levels))
    return b"\x80\x02}K\x01q\x01" + steps + b"K\x01s."


PICKLES = {
    "a key that is doubled again and again": doubled(60),
    "a terabyte of zeros": b"\x80\x02cbuiltins\nbytearray\n\x8a\x06" + (2**40).to_bytes(6, "little") + b"\x85R.",
    "a number that isn't there": b"\x80\x02h\x07.",
    "nothing on the stack": b"\x80\x02\x86.",
    "no end": b"\x80\x02(((",
    "objects without end": b"\x80\x02" + b"]" * 2_000_000 + b".",
}


@pytest.mark.parametrize("name", PICKLES)
@pytest.mark.parametrize("old", [False, True], ids=["archive", "old"])
def test_a_pickle_that_takes_for_ever_is_refused(
    tmp_path: Path, name: str, old: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    file = io.BytesIO()
    torch.save({}, file, _use_new_zipfile_serialization=not old)
    path = tmp_path / "model.pt"
    if old:
        assert b"\x80\x02}q\x00." in file.getvalue()
        path.write_bytes(file.getvalue().replace(b"\x80\x02}q\x00.", PICKLES[name]))
    else:
        with zipfile.ZipFile(file) as before, zipfile.ZipFile(path, "w") as after:
            for info in before.infolist():
                is_pickle = info.filename.endswith("data.pkl")
                after.writestr(info.filename, PICKLES[name] if is_pickle else before.read(info))
    assert str(path) in refused(path, capsys)


def directory(members: int) -> bytes:
    """An archive that is only a list of members."""
    member = b"PK\x01\x02" + bytes(42)
    size = members * len(member)
    end = struct.pack("<4sQ2H2L4Q", b"PK\x06\x06", 44, 45, 45, 0, 0, members, members, size, 0)
    end += struct.pack("<4sLQL", b"PK\x06\x07", 0, size, 1)
    return (
        member * members
        + end
        + struct.pack("<4s4H2LH", b"PK\x05\x06", 0, 0, 2**16 - 1, 2**16 - 1, 2**32 - 1, 2**32 - 1, 0)
    )


def test_a_list_of_a_million_members_is_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "model.zip").write_bytes(directory(10**6))
    assert "the archive's list of members has 46,000,000 bytes" in refused(tmp_path / "model.zip", capsys)


@pytest.mark.parametrize("damage", [(0, 0), (6, 99), (28, 255)])
def test_a_damaged_list_of_members_is_named(
    folder: Path, damage: tuple[int, int], capsys: pytest.CaptureFixture[str]
) -> None:
    path = zipped(folder)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + damage[0]] = damage[1]
    path.write_bytes(content)
    assert str(path) in refused(path, capsys)


def test_an_archive_without_its_start_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = zipped(folder)
    path.write_bytes(path.read_bytes()[40:])
    assert "a damaged archive: its start is missing" in refused(path, capsys)


def test_an_archive_on_several_disks_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = zipped(folder)
    content = path.read_bytes()
    end = content.index(b"PK\x05\x06")
    on_two_disks = struct.pack("<4sLQL", b"PK\x06\x07", 0, 0, 2)
    path.write_bytes(content[:end] + on_two_disks + content[end:])
    assert "a damaged archive: zipfiles that span multiple disks are not supported" in refused(path, capsys)


def test_a_pipe_is_not_waited_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "model.pt")
    assert "a pipe, not a plain file" in refused(tmp_path / "model.pt", capsys)


@pytest.mark.parametrize("text", ["[" * 50_000, "{}", "[]", '{"benepar": 5}', '{"model_type": "bert", "benepar": {}}'])
def test_a_configuration_that_is_wrong_is_named(folder: Path, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "config.json").write_text(text)
    assert str(folder) in refused(folder, capsys)


def test_code_beside_an_encoder_never_runs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """transformers asks whether to run it; the answer must not matter."""
    monkeypatch.setattr("builtins.input", lambda *_: "y")
    (folder / "tokenizer.json").unlink()
    (folder / "code.py").write_text("open('owned', 'w')\nclass Tokenizer: pass\nclass Config: pass\n")
    auto = {"AutoTokenizer": ["code.Tokenizer", "code.Tokenizer"], "AutoConfig": "code.Config"}
    settings = json.loads((folder / "config.json").read_text()) | {"model_type": "own", "auto_map": auto}
    (folder / "config.json").write_text(json.dumps(settings))
    (folder / "tokenizer_config.json").write_text(json.dumps({"auto_map": auto, "tokenizer_class": "Tokenizer"}))
    monkeypatch.chdir(folder.parent)
    refused(folder, capsys)
    assert not (folder.parent / "owned").exists()


def test_code_beside_an_encoder_to_train_never_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fencepost.errors import ModelError
    from fencepost.features.pretrained_files import PretrainedFiles

    monkeypatch.setattr("builtins.input", lambda *_: "y")
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "encoder"
    folder.mkdir()
    (folder / "code.py").write_text("open('owned', 'w')\nfrom transformers import BertConfig as Config\n")
    settings = {"model_type": "own", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (folder / "config.json").write_text(json.dumps(settings))
    with pytest.raises(ModelError):
        PretrainedFiles.of(folder)
    assert not (tmp_path / "owned").exists()
