"""The lines in the guides that make tables of phrases, clauses, dependencies, measures and matches with pandas."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fencepost import Pattern, Tree
from fencepost.cli.main import main
from fencepost.measures.measure import measure

DOCS = Path(__file__).parents[1] / "docs"
TREE = Tree.from_string(
    "(TOP (S (NP (PRP She)) (VP (VBD left) (SBAR (IN because) (S (NP (PRP it)) (VP (VBD rained))))) (. .)))"
)


def frames(page: str) -> list[str]:
    return re.findall(r"pandas\.DataFrame\(.*?\)(?=`)", (DOCS / page).read_text("utf-8"))


def frame(line: str) -> Any:
    import pandas

    names = {"pandas": pandas, "tree": TREE, "trees": [TREE], "pattern": Pattern("NP=np < PRP"), "measure": measure}
    return eval(line, names)


@pytest.mark.extras
def test_phrases_clauses_and_dependencies() -> None:
    phrases, clauses, dependencies = map(frame, frames("trees.md"))
    assert list(phrases["label"]) == ["S", "NP", "VP", "SBAR", "S", "NP", "VP"]
    assert list(clauses["verb"]) == ["left", "rained"]
    assert list(dependencies["head_word"].fillna("-")) == ["left", "-", "left", "rained", "because", "left"]


@pytest.mark.extras
def test_measures() -> None:
    (line,) = frames("measures.md")
    assert frame(line)[["W", "C", "DC"]].values.tolist() == [[5, 2, 1]]


@pytest.mark.extras
def test_matches() -> None:
    (line,) = frames("search.md")
    assert frame(line).values.tolist() == [["NP", 0, 1, "She"], ["NP", 3, 4, "it"]]


@pytest.mark.extras
def test_the_commands_write_csv_that_pandas_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import pandas

    (tmp_path / "trees.txt").write_text(f"{TREE}\n")
    for command, rows in ((["search", "NP=np < PRP"], 2), (["extract"], 7), (["measure"], 1)):
        assert main([*command, str(tmp_path / "trees.txt"), "--csv"]) == 0
        (tmp_path / "table.csv").write_text(capsys.readouterr().out)
        assert len(pandas.read_csv(tmp_path / "table.csv")) == rows
