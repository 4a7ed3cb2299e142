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

from fencepost.errors import EncodingError, InputError
from fencepost.storage import text_reader
from fencepost.storage.text_reader import read_lines
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
    monkeypatch.setattr(text_reader, "_LINE_LIMIT", 7)
    line = "a é 👍 漢字漢字 👍👍👍 é\n" * 3
    (tmp_path / "a.txt").write_text(line, "utf-8")
    assert "".join(texts(tmp_path / "a.txt")) == line
    assert [line.number for line in read_lines(tmp_path / "a.txt")][-1] == 3


def test_a_tree_on_a_line_longer_than_the_limit_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_reader, "_LINE_LIMIT", 10)
    (tmp_path / "a.txt").write_text(f"{CAT} {CAT}\n{CAT}\n", "utf-8")
    assert [str(tree) for tree in iter_trees(tmp_path / "a.txt")] == [CAT] * 3


def test_a_pipe_is_read_as_a_file_is(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=(CAT,))
    writer.start()
    assert [str(tree) for tree in iter_trees(tmp_path / "pipe")] == [CAT]
    writer.join()


def test_a_closed_standard_input_is_an_input_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(InputError, match="standard input is closed"):
        texts(Path("-"))


def test_bytes_that_are_not_utf_8_are_named_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes("(A b)\n(A é)\n".encode("latin-1"))
    with pytest.raises(EncodingError, match=r"a\.txt:2: not UTF-8: byte 0xe9 at column 4"):
        texts(tmp_path / "a.txt")


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
