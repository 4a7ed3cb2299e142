"""Small corpora for tests, and how to look at what a run wrote."""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

from fencepost.corpus.inputs import InputFile, find_inputs
from fencepost.corpus.readers import Columns, RawDocument, open_reader

SENTENCES = ("The cat sat on the mat.", "It slept.", "Dogs bark at night, don't they?", 'Ada said "no" (twice).')


def write_jsonl(path: Path, documents: Iterable[object]) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents), "utf-8")
    return path


def documents(count: int) -> list[dict[str, str]]:
    """Documents of one to five sentences, each with another text."""
    return [
        {"id": f"d{number}", "text": f"This is document {number}. " + " ".join(SENTENCES[: number % 5])}
        for number in range(count)
    ]


def input_file(path: Path) -> InputFile:
    """The file as a run finds it."""
    files, _ = find_inputs([str(path)], path.parent / "no such folder")
    return files[0]


def read_documents(
    file: InputFile, record: int = 1, offset: int = 0, end: int | None = None, columns: Columns | None = None
) -> list[RawDocument]:
    with closing(open_reader(file, columns or Columns())) as reader:
        return list(reader.documents(record, offset, end))


def contents(folder: Path) -> dict[str, bytes]:
    """All files of an output folder, hidden ones included."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def records(folder: Path) -> list[dict[str, Any]]:
    """The records of all parts in order."""
    parts = [path.read_text("utf-8") for path in sorted(folder.glob("part-*.jsonl"))]
    return [json.loads(line) for line in "".join(parts).split("\n")[:-1]]


def errors(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "errors.jsonl").read_text("utf-8").splitlines()]
