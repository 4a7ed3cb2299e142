"""Indexes on disk: the same answers, and no silent surprises."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from fencepost import Pattern
from fencepost.errors import InputError, UsageError
from fencepost.search.index import Index
from tests.grammar import toy_trees

PATTERNS = [Pattern(text) for text in ("NP < NN", "S <# VP", "NP=x .. =x", "/^V/ ,, (NP=n < DT)", "NP $++ VP")]


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    bank = toy_trees(30)
    paths = [tmp_path / "one.txt", tmp_path / "two.txt"]
    paths[0].write_text("".join(f"{tree}\n" for tree in bank[:20]))
    paths[1].write_text("".join(f"{tree}\n" for tree in bank[20:]))
    return paths


def test_saved_index_gives_the_same_answers(files: list[Path], tmp_path: Path) -> None:
    index = Index.read(*files)
    index.save(tmp_path / "index")
    again = Index.open(tmp_path / "index")
    assert again.columns.trees == 30
    for pattern in PATTERNS:
        assert again.count(pattern) == index.count(pattern)
        assert [(hit.tree, hit.place) for hit in again.search(pattern)] == [
            (hit.tree, hit.place) for hit in index.search(pattern)
        ]


def test_opened_arrays_stay_on_disk(files: list[Path], tmp_path: Path) -> None:
    Index.read(*files).save(tmp_path / "index")
    columns = Index.open(tmp_path / "index").columns
    assert all(isinstance(getattr(columns, name), np.memmap) for name in ("label", "parent", "end", "head_word"))


def test_index_knows_the_file_of_each_tree(files: list[Path]) -> None:
    index = Index.read(*files)
    assert index.file_of(0) == (str(files[0]), 0)
    assert index.file_of(19) == (str(files[0]), 19)
    assert index.file_of(20) == (str(files[1]), 0)
    assert Index.of(toy_trees(2)).file_of(1) == (None, 1)


def test_index_of_changed_files_is_refused(files: list[Path], tmp_path: Path) -> None:
    folder = tmp_path / "index"
    Index.read(*files).save(folder)
    Index.open(folder).require_fresh(files, folder)
    Index.open(folder).require_fresh([], folder)
    with pytest.raises(InputError, match="other files"):
        Index.open(folder).require_fresh(files[:1], folder)
    os.utime(files[1], ns=(1, 1))
    with pytest.raises(InputError, match=r"two\.txt has changed") as caught:
        Index.open(folder).require_fresh(files, folder)
    assert "delete" in (caught.value.hint or "")
    files[1].unlink()
    with pytest.raises(InputError, match=r"two\.txt has changed"):
        Index.open(folder).require_fresh([], folder)


def test_folder_that_exists_is_not_overwritten(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="already exists"):
        Index.read(*files).save(tmp_path)


def test_half_an_index_never_appears(files: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(np, "save", full)
    with pytest.raises(OSError, match="no space"):
        Index.read(*files).save(tmp_path / "new" / "index")
    assert list((tmp_path / "new").iterdir()) == []


@pytest.mark.parametrize("damage", ["missing", "cut", "format", "version", "json"])
def test_damaged_index_is_explained(files: list[Path], tmp_path: Path, damage: str) -> None:
    folder = tmp_path / "index"
    Index.read(*files).save(folder)
    summary = json.loads((folder / "index.json").read_text())
    if damage == "missing":
        (folder / "parent.npy").unlink()
    elif damage == "cut":
        (folder / "parent.npy").write_bytes((folder / "parent.npy").read_bytes()[:200])
    elif damage == "json":
        (folder / "index.json").write_text("{")
    else:
        (folder / "index.json").write_text(json.dumps(summary | {damage: 99}))
    with pytest.raises(InputError, match=r"damaged|isn't an index|version 99"):
        Index.open(folder)


@pytest.mark.parametrize("content", [None, "[]", "const index = 1;", '{"format": "a website"}'])
def test_a_hint_never_suggests_deleting_a_folder_of_other_files(tmp_path: Path, content: str | None) -> None:
    (tmp_path / "thesis").mkdir()
    if content is not None:
        (tmp_path / "thesis" / "index.json").write_text(content)
    with pytest.raises(InputError, match="thesis: this isn't an index\\nhint: give a new folder, or an index"):
        Index.open(tmp_path / "thesis")


def test_a_hint_never_suggests_deleting_a_file_of_trees(files: list[Path]) -> None:
    with pytest.raises(InputError, match="this isn't an index\\nhint: give a new folder, or an index"):
        Index.open(files[0])


def test_files_whose_names_are_not_utf8_have_an_index(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"trees\xff")
    path.write_text("(TOP (NN cat))\n")
    Index.read(path).save(tmp_path / "index")
    index = Index.open(tmp_path / "index")
    index.require_fresh([path], tmp_path / "index")
    assert index.file_of(0) == (str(path), 0)
