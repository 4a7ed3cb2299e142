from __future__ import annotations

import os
from pathlib import Path

import pytest

from fencepost.errors import InputError, UsageError
from fencepost.storage.text_reader import read_lines
from fencepost.storage.text_writer import write_atomically

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)))"


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_a_written_file_reads_back(tmp_path: Path, name: str) -> None:
    with write_atomically(tmp_path / name) as file:
        file.write("é\n")
    assert [line.text for line in read_lines(tmp_path / name)] == ["é\n"]
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_the_same_text_gives_the_same_gzip_file_at_any_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for time, name in enumerate(("a.gz", "b.gz"), 1_000_000):
        monkeypatch.setattr("gzip.time.time", lambda time=time: time)
        with write_atomically(tmp_path / name) as file:
            file.write(CAT)
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def write_and_raise(path: Path, error: BaseException) -> None:
    with write_atomically(path) as file:
        file.write("new")
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no more")], ids=["interruption", "error"])
def test_what_was_written_so_far_is_kept_beside_the_old_file(
    tmp_path: Path, error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "out.txt").write_text("old")
    with pytest.raises(type(error)):
        write_and_raise(tmp_path / "out.txt", error)
    assert (tmp_path / "out.txt").read_text() == "old"
    assert (tmp_path / "out.txt.partial").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.txt", "out.txt.partial"]
    assert f"the output so far is in {tmp_path / 'out.txt.partial'}\n" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), ValueError("no more")], ids=["interruption", "error"])
def test_where_nothing_was_written_nothing_is_kept(
    tmp_path: Path, name: str, error: BaseException, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(type(error)), write_atomically(tmp_path / "new" / "deep" / name):
        raise error
    assert list(tmp_path.iterdir()) == []
    assert capsys.readouterr().err == ""


def test_two_that_write_to_one_place_each_write_a_whole_file(tmp_path: Path) -> None:
    out = tmp_path / "out.txt"
    with write_atomically(out) as first:
        first.write("first\n" * 5000)
        with write_atomically(out) as second:
            second.write("second\n")
        assert out.read_text() == "second\n"
    assert out.read_text() == "first\n" * 5000
    assert list(tmp_path.iterdir()) == [out]


def test_a_link_stays_a_link_to_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    with write_atomically(tmp_path / "link.txt") as file:
        file.write("new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"


def test_a_link_that_leads_to_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(InputError, match="loop: can't be written: it is a link"), write_atomically(tmp_path / "loop"):
        pass
    assert (tmp_path / "loop").is_symlink()


def test_a_file_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="the output file has an empty name"), write_atomically(""):
        pass


def test_a_pipe_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    reader = os.open(tmp_path / "pipe", os.O_RDONLY | os.O_NONBLOCK)
    with write_atomically(tmp_path / "pipe") as file:
        file.write("new")
    assert os.read(reader, 10) == b"new"
    os.close(reader)
    assert (tmp_path / "pipe").is_fifo()


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(UsageError, match=r"can't create the folder .*: Not a directory"),
        write_atomically(tmp_path / "file" / "below" / "out.txt"),
    ):
        pass


def test_the_folder_of_an_output_is_made(tmp_path: Path) -> None:
    with write_atomically(tmp_path / "new" / "deep" / "trees.txt") as file:
        file.write("(A a)\n")
    assert (tmp_path / "new" / "deep" / "trees.txt").read_text() == "(A a)\n"


@pytest.mark.parametrize("name", ["n" * 245 + ".t", "é" * 120 + ".t"])
def test_long_names_can_be_written_to(name: str, tmp_path: Path) -> None:
    with write_atomically(tmp_path / name) as file:
        file.write("a tree\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]
