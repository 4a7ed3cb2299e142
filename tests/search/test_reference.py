"""All answers of Tregex's program in the shared reference, as `fencepost search` prints them."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from fencepost.cli.main import main

Output = pytest.CaptureFixture[str]


@pytest.mark.parametrize("with_index", [False, True], ids=["files", "index"])
def test_all_golden_patterns(shared: Path, tmp_path: Path, capsys: Output, with_index: bool) -> None:
    trees = str(shared / "treebanks" / "en" / "masc" / "test.txt")
    options = ["--index", str(tmp_path / "index")] if with_index else []
    golden = gzip.decompress((shared / "reference" / "tregex" / "golden.jsonl.gz").read_bytes()).decode()
    answers = [json.loads(line) for line in golden.splitlines()]
    assert len(answers) == 105
    wrong = [answer["pattern"] for answer in answers if not agrees(answer, trees, options, capsys)]
    assert wrong == []


def agrees(answer: dict[str, Any], trees: str, options: list[str], capsys: Output) -> bool:
    status = main(["search", answer["pattern"], trees, *options])
    printed = capsys.readouterr().out.removesuffix("\n")
    if answer.get("error"):
        return status == 2
    lines = printed.split("\n") if printed else []
    same = hashlib.sha1(printed.encode()).hexdigest() == answer["sha1"] and len(lines) == answer["matches"]
    main(["search", answer["pattern"], trees, *options, "--count"])
    return same and capsys.readouterr().out == f"{answer['matches']}\n"
