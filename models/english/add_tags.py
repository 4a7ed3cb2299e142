"""Gives a model the table of the tags that signs and words can have, from the trees that it was trained on.

    python models/english/add_tags.py MODEL --trees DATA/train.txt

Training writes this table. A model that was trained before fencepost had it, or a student of such a teacher, gets it
here. MODEL is a folder that training or `fencepost export` wrote; only its vocab.json changes.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fencepost.features.possible_tags import PossibleTags
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import change_possible_tags
from fencepost.trees.treebank import Treebank


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("model", type=Path)
    options.add_argument("--trees", type=Path, nargs="+", required=True)
    arguments = options.parse_args()
    possible = add_tags(arguments.model, arguments.trees)
    for sign, tags in possible.signs.items():
        print(sign, *tags)
    print(f"other signs: {' '.join(possible.rare_signs)}")
    print(f"words: {' '.join(possible.words)}")


def add_tags(model: Path, files: list[Path]) -> PossibleTags:
    """Raises SystemExit if the model can't predict one of the tags, and so was trained on other trees."""
    leaves = [leaf for file in files for tree in Treebank.load(file) for leaf in tree.leaves()]
    known = ModelFolder.open(model).vocabularies.tags.ids
    unknown = sorted({leaf.tag for leaf in leaves} - set(known))
    if unknown:
        raise SystemExit(f"{model} doesn't know the tags {' '.join(unknown)}: give the trees that it was trained on")
    possible = PossibleTags.of(leaves)
    change_possible_tags(model, possible)
    return possible


if __name__ == "__main__":
    main()
