"""The programs in examples/ run, and print what they promise."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import duckdb  # noqa: F401
import pandas  # noqa: F401
import polars  # noqa: F401
import pyarrow.parquet
import pytest

from fencepost.cli.main import main
from tests.corpus.corpus_samples import write_jsonl

EXAMPLES = Path(__file__).parents[1] / "examples"
TEXTS = ("The cat on the old mat slept.", 'Dogs bark. "Cats" sleep.')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A corpus of two documents, parsed into two parts."""
    root = tmp_path_factory.mktemp("examples")
    path = write_jsonl(root / "in.jsonl", [{"id": f"d{number}", "text": text} for number, text in enumerate(TEXTS)])
    assert main(["corpus", str(path), "--out", str(root / "out"), "--format", "parquet", "--part-bytes", "1"]) == 0
    assert len(list((root / "out").glob("part-*.parquet"))) == 2
    return root / "out"


def run(name: str, folder: Path) -> list[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    result = subprocess.run(
        [sys.executable, EXAMPLES / name, folder], capture_output=True, text=True, check=True, env=environment
    )
    return result.stdout.splitlines()


def test_pyarrow_builds_a_tree_without_brackets(folder: Path) -> None:
    (first, *_) = pyarrow.parquet.read_table(folder / "part-00000.parquet")["tree"].to_pylist()
    assert run("parquet_pyarrow.py", folder) == ["3 sentences", f"d0 {first}"]


def test_pandas_counts_tags(folder: Path) -> None:
    counts = dict(line.split() for line in run("parquet_pandas.py", folder)[1:])
    assert (counts["NNS"], counts["."], counts["JJ"]) == ("2", "3", "1")


def test_duckdb_finds_the_longest_noun_phrases(folder: Path) -> None:
    assert run("parquet_duckdb.py", folder)[0] == "d0 0 The cat on the old mat"


def test_polars_counts_labels(folder: Path) -> None:
    counts = dict(line.split() for line in run("parquet_polars.py", folder))
    assert (counts["S"], counts["NP"], counts["PP"]) == ("3", "5", "1")


def test_every_example_is_listed_and_tested() -> None:
    page, tests = (EXAMPLES / "README.md").read_text("utf-8"), Path(__file__).read_text("utf-8")
    for path in EXAMPLES.glob("*.py"):
        assert f"`{path.name} " in page
        assert f'run("{path.name}"' in tests
