"""Makes the training, development and test files of all languages, and those of the joint model.

    python models/languages/prepare_languages.py --treebanks DIR --out DATA [--first N]

DIR has a folder for each treebank of languages.py, with train, dev and test (.txt or .txt.gz), one tree per line, and
for Japanese also *.meta.tsv. DATA gets NAME.train.txt, NAME.dev.txt and NAME.test.txt for each language, and
multi.train.txt and multi.dev.txt, where every label and tag is followed by the name of its language: (NP:fo (PRO-N:fo
Eg)). In multi.train.txt, a smaller treebank comes several times, at most COPIES times, until it has as many sentences
as the share of the largest; multi.dev.txt has at most DEV sentences of each. --first takes only the first trees of each
file, for a quick look.

A training tree is left out if its words are those of a development or test sentence with six words or more.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from languages import LANGUAGES, Language

from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Treebank

COPIES: Final = 4
SHARE: Final = 0.25  # of the largest treebank
DEV: Final = 400
LONG: Final = 6  # words; shorter sentences may be the same by chance
PARTS: Final = ("train", "dev", "test")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--first", type=int)
    arguments = options.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    data: dict[str, dict[str, list[Tree]]] = {}
    for name, language in LANGUAGES.items():
        folder = arguments.treebanks / language.treebank
        trees = {part: read(folder, part, language)[: arguments.first] for part in PARTS}
        all_of_them = len(trees["train"])
        trees["train"] = without_repeats(trees["train"], [*trees["dev"], *trees["test"]])
        for part in PARTS:
            Treebank(trees[part]).save(arguments.out / f"{name}.{part}.txt")
        counts = " / ".join(f"{len(trees[part]):,}" for part in PARTS)
        print(f"{name}: {counts} trees; {all_of_them - len(trees['train'])} left out", flush=True)
        data[name] = trees
    largest = max(len(trees["train"]) for trees in data.values())
    train, dev = [], []
    for name, trees in data.items():
        copies = min(COPIES, max(1, round(SHARE * largest / len(trees["train"]))))
        train += copies * [marked(tree, name) for tree in trees["train"]]
        dev += [marked(tree, name) for tree in trees["dev"][:DEV]]
        print(f"multi: {name} {copies} times")
    Treebank(train).save(arguments.out / "multi.train.txt")
    Treebank(dev).save(arguments.out / "multi.dev.txt")


def read(folder: Path, part: str, language: Language) -> list[Tree]:
    """The trees of a part that are free for any use."""
    path = folder / f"{part}.txt"
    trees = list(Treebank.load(path if path.exists() else folder / f"{part}.txt.gz"))
    if not language.only_free:
        return trees
    with open(folder / f"{part}.meta.tsv", encoding="utf-8", newline="") as file:
        free = [row["commercial"] == "yes" for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)]
    return [tree for tree, is_free in zip(trees, free, strict=True) if is_free]


def without_repeats(trees: Sequence[Tree], held_out: Sequence[Tree]) -> list[Tree]:
    seen = {tuple(tree.words()) for tree in held_out}
    return [tree for tree in trees if len(words := tuple(tree.words())) < LONG or words not in seen]


def marked(tree: Tree, name: str) -> Tree:
    """The tree with the name of its language after every label and tag below the root."""
    return Tree(tree.label, [_marked(child, name) for child in tree.children])


def _marked(node: Tree | Leaf, name: str) -> Tree | Leaf:
    if isinstance(node, Leaf):
        return Leaf(f"{node.tag}:{name}", node.word)
    return Tree(f"{node.label}:{name}", [_marked(child, name) for child in node.children])


if __name__ == "__main__":
    main()
