"""Parquet in and out, and files packed with zstandard."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from fencepost.cli.main import main
from fencepost.corpus import records as records_module
from fencepost.corpus.readers import Columns, open_reader
from fencepost.corpus.records import parquet_schema, tree_of
from fencepost.errors import UsageError
from tests.corpus.corpus_samples import contents, documents, errors, input_file, read_documents, records, write_jsonl


def corpus(*arguments: object) -> int:
    return main(["corpus", *map(str, arguments)])


def table(folder: Path) -> list[dict[str, Any]]:
    return [row for path in sorted(folder.glob("part-*")) for row in pq.read_table(path).to_pylist()]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """20 documents in row groups of six."""
    pq.write_table(pa.Table.from_pylist(documents(20)), tmp_path / "in.parquet", row_group_size=6)
    return tmp_path / "in.parquet"


def test_parquet_and_json_lines_say_the_same(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(10))
    for format_ in ("jsonl", "parquet"):
        settings = ("--format", format_, "--part-bytes", 200, "--workers", 1)
        assert corpus(path, "--out", tmp_path / format_, *settings) == 0
    rows = table(tmp_path / "parquet")
    for row in rows:
        assert str(tree_of(row)) == row["tree"]
        assert all(token["form"] is None or token["form"] != token["text"] for token in row["tokens"])
        del row["constituents"]
        row["tokens"] = [{name: each for name, each in token.items() if each is not None} for token in row["tokens"]]
    assert rows == records(tmp_path / "jsonl")


def test_parts_have_the_documented_schema_and_row_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(records_module, "ROWS", 5)
    monkeypatch.setattr("fencepost.corpus.part_maker.SENTENCES", 3)
    path = write_jsonl(tmp_path / "in.jsonl", documents(10))
    for name, options in (("plain", []), ("probable", ["--probabilities"])):
        assert corpus(path, "--out", tmp_path / name, "--format", "parquet", "--workers", 1, *options) == 0
        part = pq.ParquetFile(tmp_path / name / "part-00000.parquet")
        assert part.schema_arrow.equals(parquet_schema(bool(options)))
        assert [part.metadata.row_group(number).num_rows for number in range(part.num_row_groups)] == [6] * 5
    rows = table(tmp_path / "probable")
    assert all(0 < part["probability"] <= 1 for row in rows for part in row["constituents"])
    assert [str(tree_of(row)) for row in rows] == [row["tree"] for row in table(tmp_path / "plain")]


def test_a_part_without_sentences_has_the_schema_too(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": "x", "text": ""}, {"id": "y", "text": "It works."}])
    assert corpus(path, "--out", tmp_path / "out", "--format", "parquet", "--part-bytes", 1, "--workers", 1) == 0
    tables = [pq.read_table(part) for part in sorted((tmp_path / "out").glob("part-*"))]
    assert [one.num_rows for one in tables] == [0, 1]
    assert tables[0].schema == tables[1].schema
    assert [each["id"] for each in errors(tmp_path / "out")] == ["x"]


def test_documents_of_one_word_have_no_constituents(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", [{"id": "x", "text": "Hm"}])
    assert corpus(path, "--out", tmp_path / "out", "--format", "parquet", "--workers", 1) == 0
    (row,) = table(tmp_path / "out")
    assert str(tree_of(row)) == row["tree"]


def test_rows_are_documents(source: Path) -> None:
    given = [(number, document["id"], document["text"]) for number, document in enumerate(documents(20), 1)]
    assert [document[:3] for document in read_documents(input_file(source))] == given
    for record, end in ((1, 7), (5, 9), (7, None), (20, None), (3, 4)):
        found = read_documents(input_file(source), record, 0, end)
        assert [document[:3] for document in found] == given[record - 1 : None if end is None else end - 1]


def test_rows_without_ids_are_named_by_their_places(tmp_path: Path) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"text": ["One.", "Two."]}), path)
    assert [document.id for document in read_documents(input_file(path))] == [f"{path}:1", f"{path}:2"]
    outlines = list(open_reader(input_file(path), Columns()).outline())
    assert [outline.id for outline in outlines] == [f"{path}:1", f"{path}:2"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["One.", None], pa.large_string()),
        pa.array(["One.", None], pa.string_view()),
        pa.array(["One.", None]).dictionary_encode(),
    ],
    ids=["large", "view", "dictionary"],
)
def test_all_kinds_of_strings_are_read_and_nulls_are_problems(tmp_path: Path, column: Any) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": [1, None], "text": column}), path)
    one, two = read_documents(input_file(path))
    assert (one.id, one.text, one.problem) == ("1", "One.", None)
    assert (two.id, two.problem) == (None, "'id' is null, not a string or a whole number")
    assert [outline.id for outline in open_reader(input_file(path), Columns()).outline()] == ["1", None]


@pytest.mark.parametrize(
    ("columns", "message", "hint"),
    [
        (Columns(text="body"), "has no column 'body'", "--text-column takes one of id, text, n"),
        (Columns("url"), "has no column 'url'", "--id-column takes one of id, text, n"),
        (Columns(text="n"), "the column 'n' has the type int64", "--text-column takes a column of strings"),
    ],
)
def test_missing_and_strange_columns_are_refused(tmp_path: Path, columns: Columns, message: str, hint: str) -> None:
    path = tmp_path / "in.parquet"
    pq.write_table(pa.table({"id": ["x"], "text": ["One."], "n": [1]}), path)
    with pytest.raises(UsageError, match=message) as caught:
        list(open_reader(input_file(path), columns).outline())
    assert caught.value.hint == hint


@pytest.mark.parametrize("dictionary", [False, True])
def test_a_string_that_is_not_utf8_is_an_error_and_the_others_are_read(tmp_path: Path, dictionary: bool) -> None:
    texts = pa.array([b"Dogs bark.", b"caf\xe9", b"Cats sleep."], pa.binary()).view(pa.string())
    ids = pa.array([b"a", b"b", b"\xff"], pa.binary()).view(pa.string())
    pq.write_table(pa.table({"id": ids, "text": texts}), tmp_path / "in.parquet", use_dictionary=dictionary)
    assert corpus(tmp_path / "in.parquet", "--out", tmp_path / "out", "--workers", 1) == 0
    assert [record["id"] for record in records(tmp_path / "out")] == ["a"]
    found = [(error["id"], error["line"], error["reason"]) for error in errors(tmp_path / "out")]
    assert found == [("b", 2, "'text' isn't UTF-8"), (None, 3, "'id' isn't UTF-8")]


def test_a_damaged_file_is_an_error_and_the_others_are_read(source: Path, tmp_path: Path) -> None:
    content = source.read_bytes()
    (tmp_path / "a.parquet").write_bytes(content[:-20])
    middle = bytearray(content)
    middle[40:400] = b"\0" * 360
    (tmp_path / "b.parquet").write_bytes(middle)
    assert corpus(tmp_path, "--out", tmp_path / "out", "--workers", 1) == 0
    found = errors(tmp_path / "out")
    reasons = {Path(each["file"]).name: each["reason"] for each in found}
    assert set(reasons) == {"a.parquet", "b.parquet"}
    assert all(reason.startswith("damaged Parquet file: ") for reason in reasons.values())
    good = {record["id"] for record in records(tmp_path / "out")}
    assert good == {document["id"] for document in documents(20)}


def test_a_parquet_file_becomes_parts_of_whole_documents(source: Path, tmp_path: Path) -> None:
    assert corpus(source, "--out", tmp_path / "out", "--part-bytes", 200, "--workers", 1) == 0
    assert len(list((tmp_path / "out").glob("part-*"))) > 3
    firsts = [record["id"] for record in records(tmp_path / "out") if record["sentence"] == 0]
    assert firsts == [document["id"] for document in documents(20)]


def test_zstandard_files_are_read_from_any_place_and_in_several_frames(tmp_path: Path) -> None:
    lines = [json.dumps(document).encode() + b"\n" for document in documents(20)]
    packed = b"".join(zstandard.compress(b"".join(lines[low : low + 7])) for low in range(0, 20, 7))
    (tmp_path / "in.jsonl.zst").write_bytes(packed)
    write_jsonl(tmp_path / "in.jsonl", documents(20))
    for name in ("in.jsonl", "in.jsonl.zst"):
        assert corpus(tmp_path / name, "--out", tmp_path / f"{name}.out", "--part-bytes", 300, "--workers", 1) == 0
    plain, unpacked = contents(tmp_path / "in.jsonl.out"), contents(tmp_path / "in.jsonl.zst.out")
    del plain["manifest.json"], unpacked["manifest.json"]
    assert plain == unpacked


@pytest.mark.parametrize("damage", ["cut short", "damaged"])
def test_damage_of_a_zstandard_file_is_one_problem(tmp_path: Path, damage: str) -> None:
    packed = zstandard.compress(b'{"text": "One."}\n' * 1000)
    path = tmp_path / "in.jsonl.zst"
    path.write_bytes(packed[:-10] if damage == "cut short" else packed[:8] + b"\xff" * 8 + packed[16:])
    *_, last = read_documents(input_file(path))
    assert last.problem is not None
    assert last.problem.startswith("damaged zst file: ")


def test_missing_packages_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(1))
    (tmp_path / "in.txt.zst").write_bytes(zstandard.compress(b"One."))
    for package in ("pyarrow", "zstandard", "ray"):
        monkeypatch.setitem(sys.modules, package, None)
    for inputs, options, message in (
        (path, ("--format", "parquet"), "writing Parquet files needs pyarrow"),
        (tmp_path / "in.txt.zst", (), "reading .zst files needs zstandard"),
        (path, ("--ray",), "--ray needs ray"),
    ):
        assert corpus(inputs, "--out", tmp_path / "out", *options) == 2
        printed = capsys.readouterr().err
        assert message in printed
        assert "hint: pip install" in printed
        assert not (tmp_path / "out").exists()
