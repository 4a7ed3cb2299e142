from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.errors import InputError
from fencepost.storage.find_files import find_files

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)))"


def test_folders_globs_and_files_are_found_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "below/c.txt", "below/d.mrg", ".hidden", ".git/config", "e.txt.partial"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CAT)

    def found(*paths: str) -> list[str]:
        return [path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path / path for path in paths)]

    assert found("") == ["a.txt", "b.txt", "below/c.txt", "below/d.mrg"]
    assert found("*.txt") == ["a.txt", "b.txt"]
    assert found("**/*.mrg", "b.txt") == ["below/d.mrg", "b.txt"]


def test_a_glob_finds_the_files_below_folders_and_each_file_once(tmp_path: Path) -> None:
    for name in ("x.txt", "z.txt.partial", "a/y.txt", "a/y.txt.partial", "a/.hidden", ".hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CAT)
    (tmp_path / "empty").mkdir()
    expected = [tmp_path / "a/y.txt", tmp_path / "x.txt"]
    assert find_files([f"{tmp_path}/*"]) == expected
    assert find_files([f"{tmp_path}/**"]) == expected


def test_a_glob_finds_what_is_passed_over_if_it_names_it(tmp_path: Path) -> None:
    (tmp_path / ".folder").mkdir()
    for name in ("a.partial", ".b", ".folder/c"):
        (tmp_path / name).write_text(CAT)
    assert find_files([f"{tmp_path}/*.partial"]) == [tmp_path / "a.partial"]
    assert find_files([f"{tmp_path}/.b*"]) == [tmp_path / ".b"]
    assert find_files([f"{tmp_path}/.folder/*"]) == [tmp_path / ".folder/c"]


def test_an_empty_name_is_not_taken_for_this_folder() -> None:
    with pytest.raises(InputError, match="a file name is empty"):
        find_files([""])


def test_a_name_that_no_file_can_have_is_an_input_error() -> None:
    with pytest.raises(InputError, match="too long"):
        find_files(["a" * 5000])


def test_a_name_with_glob_characters_that_exists_is_that_file(tmp_path: Path) -> None:
    (tmp_path / "a[1].txt").write_text(CAT)
    assert find_files([tmp_path / "a[1].txt"]) == [tmp_path / "a[1].txt"]


@pytest.mark.parametrize(
    ("path", "message"), [("none.txt", "no such file"), ("*.none", "no file matches"), ("empty", "the folder has no")]
)
def test_what_is_not_there_is_named(tmp_path: Path, path: str, message: str) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=message) as caught:
        find_files([tmp_path / path])
    assert caught.value.source == str(tmp_path / path)


def test_a_file_with_nearly_the_same_name_is_suggested(tmp_path: Path) -> None:
    for name in ("book.txt", "notes.md"):
        (tmp_path / name).write_text(CAT)
    with pytest.raises(InputError, match="no such file") as caught:
        find_files([tmp_path / "bok.txt"])
    assert caught.value.hint == f"did you mean {tmp_path / 'book.txt'}?"
    with pytest.raises(InputError, match="no such file") as caught:
        find_files([tmp_path / "essay.doc"])
    assert caught.value.hint is None


def test_standard_input_cannot_be_asked_for_twice() -> None:
    with pytest.raises(InputError, match="only once"):
        find_files(["-", "-"])
