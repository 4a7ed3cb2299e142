from __future__ import annotations

import gc
import gzip
import io
import os
import sys
import threading
import tracemalloc
from pathlib import Path

import pytest

from fencepost.errors import EncodingError, InputError, UsageError
from fencepost.storage import text_files
from fencepost.storage.text_files import find_files, read_lines, write_atomically
from fencepost.trees.treebank import iter_trees

CAT = "(S (NP (DT The) (NN cat)) (VP (VBD sat)))"


def texts(path: Path) -> list[str]:
    return [line.text for line in read_lines(path)]


def test_lines_are_numbered_from_one_with_their_ends(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\nthree")
    assert list(read_lines(tmp_path / "a.txt")) == [("one\r\n", 1), ("two\n", 2), ("three", 3)]


def test_a_byte_order_mark_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("(A b)\n", "utf-8-sig")
    assert texts(tmp_path / "a.txt") == ["(A b)\n"]


def test_gzip_is_recognised_by_content_not_by_name(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(gzip.compress(b"(A b)\n") + gzip.compress(b"(C d)\n"))
    (tmp_path / "b.gz").write_bytes(b"(A b)\n")
    assert texts(tmp_path / "a.txt") == ["(A b)\n", "(C d)\n"]
    assert texts(tmp_path / "b.gz") == ["(A b)\n"]


@pytest.mark.parametrize("data", [b"(A b)\n", gzip.compress(b"(A b)\n")], ids=["plain", "gzip"])
def test_standard_input_is_read_and_left_open(monkeypatch: pytest.MonkeyPatch, data: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert texts(Path("-")) == ["(A b)\n"]
    assert not sys.stdin.buffer.closed


def test_line_ends_other_than_newline_do_not_end_a_line(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("(A b\x85c\u2028d)\n", "utf-8")
    assert texts(tmp_path / "a.txt") == ["(A b\x85c\u2028d)\n"]


def test_a_line_longer_than_the_limit_comes_in_pieces_that_never_cut_a_character(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text_files, "_LINE_LIMIT", 7)
    line = "a é 👍 漢字漢字 👍👍👍 é\n" * 3
    (tmp_path / "a.txt").write_text(line, "utf-8")
    assert "".join(texts(tmp_path / "a.txt")) == line
    assert [line.number for line in read_lines(tmp_path / "a.txt")][-1] == 3


def test_a_tree_on_a_line_longer_than_the_limit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_files, "_LINE_LIMIT", 10)
    (tmp_path / "a.txt").write_text(f"{CAT} {CAT}\n{CAT}\n", "utf-8")
    assert [str(tree) for tree in iter_trees(tmp_path / "a.txt")] == [CAT] * 3


def test_folders_globs_and_files_are_found_in_a_stable_order(tmp_path: Path) -> None:
    for name in ("b.txt", "a.txt", "below/c.txt", "below/d.mrg", ".hidden", ".git/config", "e.txt.partial"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(CAT)

    def found(*paths: str) -> list[str]:
        return [path.relative_to(tmp_path).as_posix() for path in find_files(tmp_path / path for path in paths)]

    assert found("") == ["a.txt", "b.txt", "below/c.txt", "below/d.mrg"]
    assert found("*.txt") == ["a.txt", "b.txt"]
    assert found("**/*.mrg", "b.txt") == ["below/d.mrg", "b.txt"]


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(CAT,))
    writer.start()
    assert [str(tree) for tree in iter_trees(tmp_path / "pipe")] == [CAT]
    writer.join()


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
    with pytest.raises(InputError, match="name of a file is empty"):
        find_files([""])


def test_a_name_that_no_file_can_have_is_an_input_error() -> None:
    with pytest.raises(InputError, match="too long"):
        find_files(["a" * 5000])


def test_a_closed_standard_input_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        texts(Path("-"))


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


def test_standard_input_cannot_be_asked_for_twice() -> None:
    with pytest.raises(InputError, match="only once"):
        find_files(["-", "-"])


def test_bytes_that_are_not_utf_8_are_named_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("(A b)\n(A é)\n".encode("latin-1"))
    with pytest.raises(EncodingError, match=r"a\.txt:2: not UTF-8: byte 0xe9 at column 4"):
        texts(tmp_path / "a.txt")


@pytest.mark.parametrize("name", ["out.txt", "out.txt.gz"])
def test_a_written_file_reads_back(tmp_path: Path, name: str) -> None:
    with write_atomically(tmp_path / name) as file:
        file.write("é\n")
    assert texts(tmp_path / name) == ["é\n"]
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
    assert f"what was written so far is in {tmp_path / 'out.txt.partial'}\n" in capsys.readouterr().err


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
    with pytest.raises(UsageError, match="the name of the file to write is empty"), write_atomically(""):
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
        pytest.raises(UsageError, match="can't be a folder: Not a directory"),
        write_atomically(tmp_path / "file" / "below" / "out.txt"),
    ):
        pass


def test_reading_takes_no_more_memory_for_a_file_ten_times_as_long(tmp_path: Path) -> None:
    def peak(copies: int) -> int:
        path = tmp_path / f"{copies}.txt.gz"
        with gzip.open(path, "wt", compresslevel=1) as file:
            file.writelines(f"(S (NP (NN w{number % 50}))\n (VP (VBD sat)))\n" for number in range(copies))
        gc.collect()
        tracemalloc.start()
        assert sum(1 for _ in iter_trees(path)) == copies
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    # The least of two: the reader's cache and the interpreter's own tables grow once in a while.
    short, long = (min(peak(copies) for _ in range(2)) for copies in (200, 2000))
    assert long < short + 40_000  # the text of the longer file alone is 80 kB


def test_the_folder_of_an_output_is_made(tmp_path: Path) -> None:
    with write_atomically(tmp_path / "new" / "deep" / "trees.txt") as file:
        file.write("(A a)\n")
    assert (tmp_path / "new" / "deep" / "trees.txt").read_text() == "(A a)\n"


@pytest.mark.parametrize("name", ["n" * 245 + ".t", "é" * 120 + ".t"])
def test_long_names_can_be_written_to(name: str, tmp_path: Path) -> None:
    with write_atomically(tmp_path / name) as file:
        file.write("a tree\n")
    assert [path.name for path in tmp_path.iterdir()] == [name]
