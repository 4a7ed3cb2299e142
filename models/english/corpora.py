"""The four English treebanks, and which parts of each are used for training, development and testing."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from functions import harmonize_functions

from fencepost.trees.functions import without_functions
from fencepost.trees.normalize import Normalization, normalize
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank, iter_trees

TRAINED_ON: Final = ("gum", "masc", "craft")
TESTS: Final = {"wsj": ("train", "dev", "test"), "masc": ("test",), "gum": ("test",), "craft": ("test",)}
FOLDERS: Final = {"wsj": "wsj-sample", "masc": "masc", "gum": "gum", "craft": "craft"}
ALL_FREE: Final = ("masc",)  # states no licences but is free; elsewhere, a sentence without a licence is not free

NORMALIZED: Final = {  # how the trees without functions were made from the raw files, but for the functions
    "wsj": Normalization(keep_functions=True),
    "masc": Normalization(keep_functions=True, drop=("CODE", "-DFL-", "SU")),
    "gum": Normalization(keep_functions=True),
    "craft": Normalization(keep_functions=True, unwrap=("TITLE", "HEADING", "CAPTION")),
}


class Item(NamedTuple):
    """A tree, and what the treebank says about its text."""

    tree: Tree
    document: str
    genre: str  # in GUM and MASC; otherwise empty
    free: bool  # for commercial use


def load(treebanks: Path, corpus: str, splits: Iterable[str], *, functions: bool = False) -> list[Item]:
    """With ``functions``, labels have them: ``NP-SBJ``. They come from the treebank's own files, in ``raw``."""
    free = "yes" if corpus in ALL_FREE else "no"
    folder = treebanks / "en" / FOLDERS[corpus]
    items = [item for split in splits for item in _load(folder, split, free)]
    if not functions:
        return items
    trees = [tree for split in splits for tree in _raw_trees(folder, split, corpus)]
    return [_with_functions(item, tree, corpus) for item, tree in zip(items, trees, strict=True)]


def _raw_trees(folder: Path, split: str, corpus: str) -> Iterator[Tree]:
    (path,) = (folder / "raw").glob(f"{split}.*.gz")
    for raw in iter_trees(path, unlabelled="TOP"):
        if (tree := normalize(raw, NORMALIZED[corpus])) is not None:
            yield tree


def _with_functions(item: Item, tree: Tree, corpus: str) -> Item:
    marked = harmonize_functions(tree, corpus)
    if without_functions(marked) != item.tree:
        raise ValueError(f"the raw tree of {item.document} is not the tree in the treebank: {item.tree}")
    return item._replace(tree=marked)


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
