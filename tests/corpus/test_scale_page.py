"""What docs/scale.md promises is so."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pyarrow.parquet
import pytest

from fencepost.cli.main import build_parser, main
from fencepost.corpus.records import parquet_schema
from tests.corpus.corpus_samples import documents, write_jsonl

PAGE = (Path(__file__).parents[2] / "docs" / "scale.md").read_text("utf-8")


def test_every_command_on_the_page_is_understood() -> None:
    commands = re.findall(r"^(?:\$ )?(fencepost corpus .*)$", PAGE, re.MULTILINE)
    assert len(commands) > 4
    for command in commands:
        assert build_parser().parse_args(shlex.split(command, comments=True)[1:]).run


def test_the_table_of_columns_is_the_schema() -> None:
    names = re.findall(r"^\| (`[a-z`, ]+`) \| (?:string|int32|double|list of struct) \|", PAGE, re.MULTILINE)
    assert re.findall("[a-z]+", " ".join(names)) == parquet_schema().names
    for column in ("tokens", "constituents"):
        fields = re.search(rf"^\| `{column}` \| list of struct \| (.*) \|$", PAGE, re.MULTILINE)
        assert fields is not None
        expected = [field.name for field in parquet_schema(probabilities=True).field(column).type.value_type]
        assert re.findall("`([a-z]+)`", fields[1]) == expected


def test_the_example_prints_trees(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    write_jsonl(tmp_path / "in.jsonl", documents(4))
    assert main(["corpus", "in.jsonl", "--out", "parsed", "--format", "parquet", "--workers", "1"]) == 0
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(example, {})
    expected = pyarrow.parquet.read_table("parsed/part-00000.parquet")["tree"].to_pylist()
    assert capsys.readouterr().out.splitlines() == expected
