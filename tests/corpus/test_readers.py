from __future__ import annotations

import gzip
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import pytest

from fencepost.corpus import packed_files
from fencepost.corpus.inputs import InputFile, find_inputs
from fencepost.corpus.readers import Columns, RawDocument, open_reader
from fencepost.errors import FencepostError, InputError, UsageError
from tests.corpus.corpus_samples import input_file, read_documents, write_jsonl


def read(path: Path, columns: Columns | None = None) -> list[RawDocument]:
    return read_documents(input_file(path), columns=columns)


def problems(path: Path, columns: Columns | None = None) -> list[str | None]:
    return [document.problem for document in read(path, columns)]


def test_documents_have_their_ids_and_texts_from_named_fields(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": "x", "text": "One."}, {"id": 2, "text": "Two."}])
    assert [document[:3] for document in read(path)] == [(1, "x", "One."), (2, "2", "Two.")]
    path = write_jsonl(tmp_path / "b.jsonl", [{"url": "u", "id": "x", "body": "One.", "text": "no"}])
    assert [document[:3] for document in read(path, Columns("url", "body"))] == [(1, "u", "One.")]


def test_a_document_without_an_id_is_named_by_its_place(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "One."}\n\n{"text": "Two."}\n')
    assert [document[:3] for document in read(path)] == [(1, f"{path}:1", "One."), (3, f"{path}:3", "Two.")]


@pytest.mark.parametrize(
    ("line", "columns", "problem"),
    [
        (b"{oops", Columns(), "not JSON: Expecting property name enclosed in double quotes at column 2"),
        (b"[" * 100_000, Columns(), "not JSON that can be read"),
        (b"[1]", Columns(), "not a JSON object but a list"),
        (b'"text"', Columns(), "not a JSON object but a string"),
        (b'{"id": "x"}', Columns(), "no field 'text'"),
        (b'{"text": "It."}', Columns("id"), "no field 'id'"),
        (b'{"id": "x", "text": null}', Columns(), "'text' is null, not a string"),
        (b'{"id": "x", "text": ["It."]}', Columns(), "'text' is a list, not a string"),
        (b'{"id": 1.5, "text": "It."}', Columns(), "'id' is a decimal number, not a string or a whole number"),
        (b'{"id": true, "text": "It."}', Columns(), "'id' is true or false, not a string or a whole number"),
        (b'{"id": "", "text": "It."}', Columns(), "'id' is empty"),
        (b'{"id": "%s", "text": "It."}' % (b"x" * 10_001), Columns(), "'id' has 10,001 characters; at most 10,000"),
        (b'{"id": "x", "text": "\\ud800"}', Columns(), "'text' has half of a surrogate pair"),
        (b'{"id": "\\udc00", "text": "It."}', Columns(), "'id' has half of a surrogate pair"),
        (b'{"id": "x", "text": "\xff"}', Columns(), "not UTF-8: byte 0xff at byte 22"),
        (b"\xff\xfe{", Columns(), "not UTF-8 but UTF-16"),
        (b"%PDF-1.7", Columns(), "not text but a PDF"),
    ],
)
def test_a_bad_line_has_a_problem_and_the_next_one_is_read(
    tmp_path: Path, line: bytes, columns: Columns, problem: str
) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(line + b'\n{"id": "y", "text": "Good."}\n')
    bad, good = read(path, columns)
    assert bad.problem is not None
    assert bad.problem.startswith(problem)
    assert good == RawDocument(2, "y", "Good.")


def test_a_document_with_a_bad_text_keeps_its_id(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"id": "x", "text": 5}])
    assert read(path)[0].id == "x"


def test_a_text_file_is_one_document_or_one_for_each_line_with_words(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfOne.\n\nTwo.\n")
    assert [document[:3] for document in read(path)] == [(0, str(path), "One.\n\nTwo.\n")]
    lines = [document[:3] for document in read(path, Columns(lines=True))]
    assert lines == [(1, f"{path}:1", "One."), (3, f"{path}:3", "Two.")]


def test_a_text_that_is_not_utf8_is_a_problem(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"caf\xe9\n")
    assert problems(path) == ["not UTF-8: byte 0xe9 at byte 4"]


def test_too_large_lines_and_texts_are_problems(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packed_files, "LARGEST", 30)
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "' + "a" * 100 + '"}\n{"text": "short"}\n')
    assert problems(path) == ["the line has more than 64 MB", None]
    path = tmp_path / "a.txt"
    path.write_text("a" * 31)
    assert problems(path) == ["the text has more than 64 MB"]


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_reading_can_begin_and_end_at_any_document(tmp_path: Path, name: str) -> None:
    path, count = tmp_path / name, 20
    content = b"".join(b'{"id": "%d", "text": "%s"}\n\n' % (n, b"t" * n) for n in range(count))
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    file = input_file(path)
    outlines = list(open_reader(file, Columns()).outline())
    assert [outline.id for outline in outlines] == [str(n) for n in range(count)]
    reader = open_reader(file, Columns())
    for begin, end in ((0, 5), (5, 12), (3, 4), (12, 20)):  # going back once
        last = outlines[end].record if end < count else None
        found = list(reader.documents(outlines[begin].record, outlines[begin].offset, last))
        assert [document.id for document in found] == [str(n) for n in range(begin, end)]
    reader.close()


def test_the_next_shard_of_a_packed_file_is_read_without_unpacking_from_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"".join(b'{"text": "%d"}\n' % n for n in range(10))))
    file = input_file(path)
    outlines = list(open_reader(file, Columns()).outline())
    opened: list[str] = []
    original = packed_files._open

    def count(file: InputFile) -> BinaryIO:
        opened.append(file.path)
        return original(file)

    monkeypatch.setattr(packed_files, "_open", count)
    reader = open_reader(file, Columns())
    for begin in range(0, 10, 2):
        end = outlines[begin + 2].record if begin < 8 else None
        assert len(list(reader.documents(outlines[begin].record, outlines[begin].offset, end))) == 2
    assert opened == [str(path)]
    reader.close()


def test_several_members_and_padding_of_a_gzip_file_are_read(tmp_path: Path) -> None:
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"One. ") + gzip.compress(b"Two.") + b"\0" * 512)
    assert read(path)[0].text == "One. Two."


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (lambda packed: packed[:-200], "damaged gz file: it is cut short"),
        (lambda packed: b"no gzip", "damaged gz file: Error -3 while decompressing data: incorrect header check"),
        (lambda packed: packed[:-8] + b"\0" * 8, "damaged gz file: Error -3 while decompressing data: incorrect data"),
    ],
)
def test_damage_is_one_problem_after_the_lines_that_can_be_read(
    tmp_path: Path, damage: Callable[[bytes], bytes], problem: str
) -> None:
    path = tmp_path / "a.jsonl.gz"
    lines = [json.dumps({"text": f"{number**7}"}) for number in range(40_000)]
    path.write_bytes(damage(gzip.compress("\n".join(lines).encode())))
    found = read(path)
    assert found[-1].problem is not None
    assert found[-1].problem.startswith(problem)
    assert [document.problem for document in found[:-1]] == [None] * (len(found) - 1)
    assert [document.record for document in found] == list(range(1, len(found) + 1))
    assert len(list(open_reader(input_file(path), Columns()).outline())) == len(found)


def test_a_file_that_is_gone_is_an_error(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "It."}])
    file = input_file(path)
    path.unlink()
    with pytest.raises(InputError, match="No such file"):
        read_documents(file)
    with pytest.raises(InputError, match="No such file"):
        file.require_unchanged()


def test_a_file_that_changes_is_noticed(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "a.jsonl", [{"text": "It."}])
    file = input_file(path)
    file.require_unchanged()
    path.write_text("{}\n")
    with pytest.raises(InputError, match="changed while it was read"):
        file.require_unchanged()


def test_files_are_found_in_order_each_once_and_by_their_names(tmp_path: Path) -> None:
    names = ("b.txt", "a.jsonl", "c.jsonl.gz", "d.txt.zst", "e.parquet", "README.md", "f.parquet.gz", "out/part.jsonl")
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "link.txt").symlink_to(tmp_path / "b.txt")
    paths = [str(tmp_path / "b.txt"), str(tmp_path), f"{tmp_path}/*.jsonl"]
    files, passed_over = find_inputs(paths, tmp_path / "out")
    found = [(Path(file.path).name, file.kind, file.packing) for file in files]
    assert found == [
        ("b.txt", "txt", None),
        ("a.jsonl", "jsonl", None),
        ("c.jsonl.gz", "jsonl", "gz"),
        ("d.txt.zst", "txt", "zst"),
        ("e.parquet", "parquet", None),
    ]
    assert passed_over == 2


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("-", "can't be read from standard input"),
        ("a.csv", "can't tell the format of"),
        ("out/part-00000.jsonl", "is in the output folder"),
        ("/dev/null", "can't tell the format of"),
        ("pipe.txt", "isn't a file"),
        ("empty", "no file to read in"),
    ],
)
def test_inputs_that_make_no_sense_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out").mkdir()
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "notes.md").touch()
    (tmp_path / "out" / "part-00000.jsonl").touch()
    (tmp_path / "a.csv").touch()
    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(UsageError, match=message):
        find_inputs([name], tmp_path / "out")


def test_a_missing_input_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FencepostError, match="no such file or folder"):
        find_inputs([str(tmp_path / "none.jsonl")], tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems allow no such names")
def test_a_file_whose_name_is_not_utf8_is_refused_with_its_name(tmp_path: Path) -> None:
    (tmp_path / os.fsdecode(b"caf\xe9.txt")).write_text("Dogs bark.")
    with pytest.raises(UsageError, match=r"the name of .*caf\\udce9\.txt isn't UTF-8"):
        find_inputs([str(tmp_path)], tmp_path / "out")
