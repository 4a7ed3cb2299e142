"""Indexes from a stranger: folders of arrays that are mapped into memory, and searched by the numbers in them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fencepost.cli.main import main
from fencepost.search.index import Index
from tests.samples import TREES

PATTERNS = ("NP", "NP < PP", "__ <# __", "NP <-1 NN", "VP >># S", "NP . VP", "NP=a < NN=b", "__ <: __", "/N/ $++ __")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "trees.txt").write_text("".join(f"{tree}\n" for tree in TREES))
    Index.read(tmp_path / "trees.txt").save(tmp_path / "index")
    return tmp_path / "index"


def refusal(folder: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What ``fencepost search`` says to every pattern."""
    said = set()
    for pattern in PATTERNS:
        assert main(["search", pattern, "--index", str(folder)]) == 2
        heard = capsys.readouterr()
        assert heard.out == ""
        said.add(heard.err)
    (only,) = said
    assert only.startswith(f"error: {folder}: ")
    return only


def change(folder: Path, name: str, edit: Callable[[Any], Any]) -> None:
    array = np.load(folder / f"{name}.npy")
    edited = edit(array)
    np.save(folder / f"{name}.npy", array if edited is None else edited)


def put(place: int, value: int) -> Callable[[Any], None]:
    return lambda array: array.__setitem__(place, value)


NUMBERS: dict[str, tuple[str, Callable[[Any], object]]] = {
    "a label beyond the vocabulary": ("label", put(3, 2**31 - 1)),
    "a label below 0": ("label", put(3, -1)),
    "a parent that comes later": ("parent", put(3, 4)),
    "a node that is its own parent": ("parent", put(3, 3)),
    "a parent in another tree": ("parent", put(-1, 0)),
    "a second root": ("parent", put(3, -1)),
    "a parent below -1": ("parent", put(3, -2)),
    "a node that ends where it begins": ("end", put(3, 3)),
    "a node that ends before it begins": ("end", put(3, 0)),
    "a node that ends after its parent": ("end", put(2, 2**31 - 1)),
    "a tree that ends in another": ("end", put(0, 40)),
    "trees out of order": ("roots", put(2, 0)),
    "a tree that begins nowhere": ("roots", put(-1, 2**31 - 1)),
    "a first tree that isn't first": ("roots", put(0, 1)),
    "a node that doesn't exist": ("by_label", put(0, 2**31 - 1)),
    "a node below 0": ("by_label", put(0, -(2**31))),
    "a head elsewhere": ("head_word", put(3, 100)),
    "a head above": ("head_word", put(3, 0)),
    "too few labels": ("label", lambda array: array[:-1]),
    "too many ends": ("end", lambda array: np.append(array, array)),
    "no roots": ("roots", lambda array: array[:0]),
    "numbers of 64 bits": ("label", lambda array: array.astype(np.int64)),
    "fractions": ("end", lambda array: array.astype(np.float32)),
    "strings": ("parent", lambda array: array.astype("U4")),
    "a table": ("head_word", lambda array: array.reshape(-1, 1)),
    "one number": ("label", lambda array: np.int32(5)),
    "records": ("label", lambda array: np.zeros(len(array), [("a", "<i4")])),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_that_are_wrong_are_an_error(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    file, edit = NUMBERS[name]
    change(folder, file, edit)
    assert "the index is damaged: " in refusal(folder, capsys)


TEXTS: dict[str, tuple[str, bytes]] = {
    "a deep list": ("vocabulary.json", b"[" * 100_000),
    "deep objects": ("index.json", b'{"a":' * 100_000),
    "a vocabulary of numbers": ("vocabulary.json", b"[1, 2, 3]"),
    "a vocabulary that is an object": ("vocabulary.json", b"{}"),
    "a vocabulary that is too small": ("vocabulary.json", b'["NP"]'),
    "not UTF-8": ("vocabulary.json", b"\xff"),
    "nothing": ("index.json", b""),
    "a list": ("index.json", b"[]"),
    "a long number": ("index.json", b"9" * 10_000),
    "an array that is text": ("label.npy", b"[1, 2, 3]"),
    "an array without a header": ("label.npy", b"\x93NUMPY"),
    "an empty array": ("end.npy", b""),
    "a pickle": ("label.npy", b"\x80\x04cposix\nsystem\n(S'touch owned'\ntR."),
    "a header that is no Python": ("label.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': [((((  "),
    "a zip file": ("label.npy", b"PK\x03\x04" + bytes(100)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_files_that_are_something_else_are_an_error(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file, content = TEXTS[name]
    (folder / file).write_bytes(content)
    refusal(folder, capsys)
    assert not Path("owned").exists()


FILES: dict[str, dict[str, object]] = {
    "a name that is a number": {"path": 5},
    "a name with a NUL": {"path": "a\0b"},
    "a size that is a string": {"size": "5"},
    "fewer trees": {"trees": 1},
    "trees below 0": {"trees": -5},
    "a number of trees that is true": {"trees": True},
    "an unknown field": {"code": "import os"},
}


@pytest.mark.parametrize("name", FILES)
def test_a_list_of_files_that_is_wrong_is_an_error(folder: Path, name: str, capsys: pytest.CaptureFixture[str]) -> None:
    summary = json.loads((folder / "index.json").read_text())
    summary["files"][0] |= FILES[name]
    (folder / "index.json").write_text(json.dumps(summary))
    refusal(folder, capsys)


@pytest.mark.parametrize("name", ["index.json", "vocabulary.json", "label.npy", "head_word.npy"])
@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "link", "terabyte"])
def test_what_is_no_plain_file_is_refused_at_once(
    folder: Path, name: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / name
    if kind == "terabyte":
        os.truncate(path, 2**40)
    else:
        path.rename(folder.with_name("elsewhere"))
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind in ("device", "link"):
        path.symlink_to("/dev/zero" if kind == "device" else folder.with_name("elsewhere"))
    said = refusal(folder, capsys)
    assert name in said
    assert ("larger than" if kind == "terabyte" else "not a plain file") in said
