"""The four English treebanks, and which parts of each are used for training, development and testing."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank

TRAINED_ON: Final = ("gum", "masc", "craft")
TESTS: Final = {"wsj": ("train", "dev", "test"), "masc": ("test",), "gum": ("test",), "craft": ("test",)}
FOLDERS: Final = {"wsj": "wsj-sample", "masc": "masc", "gum": "gum", "craft": "craft"}
ALL_FREE: Final = ("masc",)  # states no licences but is free; elsewhere, a sentence without a licence is not free


class Item(NamedTuple):
    """A tree, and what the treebank says about its text."""

    tree: Tree
    document: str
    genre: str  # in GUM and MASC; otherwise empty
    free: bool  # for commercial use


def load(treebanks: Path, corpus: str, splits: Iterable[str]) -> list[Item]:
    free = "yes" if corpus in ALL_FREE else "no"
    return [item for split in splits for item in _load(treebanks / "en" / FOLDERS[corpus], split, free)]


def _load(folder: Path, split: str, free: str) -> list[Item]:
    """``free`` applies if the treebank doesn't say for each sentence whether it is free for commercial use."""
    trees = Treebank.load(folder / f"{split}.txt")
    with (folder / f"{split}.meta.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        Item(tree, row["doc"], row.get("genre", ""), row.get("commercial", free) == "yes")
        for tree, row in zip(trees, rows, strict=True)
    ]


def letters(tree: Tree) -> str:
    """The letters and digits of a sentence, to compare it with others whatever its tokens, capitals and punctuation."""
    return "".join(filter(str.isalnum, "".join(tree.words()).lower()))
