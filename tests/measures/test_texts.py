"""L2SCA's counts for ten texts: against a count by hand, and against neosca's on the same trees."""

from __future__ import annotations

import csv
import sys
from pathlib import Path
from typing import Any

import pytest

from fencepost.measures import l2sca
from fencepost.measures.measure import measure
from fencepost.trees.tree import Tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HERE = Path(__file__).parent
TEXTS: list[dict[str, Any]] = tomllib.loads((HERE / "texts.toml").read_text("utf-8"))["text"]
with (HERE.parent / "golden" / "measures" / "neosca.csv").open(encoding="utf-8") as file:
    NEOSCA = {row.pop("Filename"): row for row in csv.DictReader(file)}


def trees(text: dict[str, Any]) -> list[Tree]:
    return [Tree.from_string(tree) for tree in text["trees"]]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
def test_counts_are_those_made_by_hand(text: dict[str, Any]) -> None:
    row = measure(trees(text))
    assert {name: row[name] for name in l2sca.COUNTS} == text["counts"]


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
def test_counts_and_indices_are_those_of_neosca(text: dict[str, Any]) -> None:
    row = measure(trees(text))
    theirs = {name: float(value) for name, value in NEOSCA[text["name"]].items()}
    assert {name: round(row[name], 4) for name in theirs} == theirs


def test_there_are_ten_texts_with_reasons_and_every_count_occurs() -> None:
    assert len(TEXTS) == len(NEOSCA) == 10
    assert all(any(text["counts"][name] for text in TEXTS) for name in l2sca.COUNTS)
    assert all(text["why"] for text in TEXTS)


@pytest.mark.parametrize("text", TEXTS, ids=lambda text: text["name"])
def test_the_trees_are_trees_of_the_texts(text: dict[str, Any]) -> None:
    words = "".join(word for tree in trees(text) for word in tree.words())
    assert words.replace("``", '"').replace("''", '"') == text["text"].replace(" ", "")
