"""Writes the training, development and test files of the English model from the treebanks.

    python models/english/prepare.py --treebanks DIR --out DIR [--seed 1] [--craft 6000] [--functions]

DIR has the folders en/gum, en/masc, en/craft and en/wsj-sample, each with train, dev and test (.txt, one tree per line)
and a .meta.tsv beside each. The same seed gives the same files. train.txt is train.gum.txt, train.masc.txt and
train.craft.txt, shuffled. --craft is the greatest number of CRAFT's sentences, which are chosen at random. --functions
keeps grammatical functions in the labels (NP-SBJ), for models with scorer.functions = true; each treebank's folder then
also has its own files, raw/train.*.gz and so on. The sentences are the same with and without.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Final

from corpora import TESTS, TRAINED_ON, Item, letters, load
from edits import (
    CURLY,
    STRAIGHT,
    as_headline,
    in_capitals,
    in_small_letters,
    with_quotes,
    with_small_start,
    without_final_stop,
)
from harmonize import harmonize
from hyphens import join_hyphens
from rare import condition_sentences, two_object_sentences
from rates import rate_sentences
from repairs import repair
from speech import spoken

from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank

CRAFT_TRAIN: Final = 6000  # sentences, so that there is less biomedical prose than general English
CRAFT_DEV: Final = 400
MOST_REPEATS: Final = 2
SHORTEST_LEAK: Final = 6  # words; shorter test sentences ("Thank you .") may also be in the training data
JOINED: Final = 0.5  # share of sentences whose hyphenated words are joined
QUOTED: Final = ((0.1, STRAIGHT), (0.1, CURLY))
SPOKEN: Final = {".": 0.2, "?": 0.8, "!": 0.8}  # share of sentences, by their last word, that somebody also says
# Sentences of our own, and how many of each kind. They join those of the treebank that keeps to Penn's notation.
WRITTEN: Final = ((900, rate_sentences), (160, condition_sentences), (120, two_object_sentences))
PENN: Final = "masc"
# Extra copies: the share of sentences that get one, and how it is written.
COPIES: Final[tuple[tuple[float, Callable[[Tree], Tree | None]], ...]] = (
    (0.10, without_final_stop),
    (0.03, in_capitals),
    (0.03, in_small_letters),
    (0.02, as_headline),
    (0.02, with_small_start),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebanks", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--craft", type=int, default=CRAFT_TRAIN)
    parser.add_argument("--functions", action="store_true")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    read = partial(load, arguments.treebanks, functions=arguments.functions)
    tests = {corpus: read(corpus, splits) for corpus, splits in TESTS.items()}
    for corpus, items in tests.items():
        save_tests(arguments.out, corpus, items)
    tested = {letters(item.tree) for items in tests.values() for item in items if long_enough(item.tree)}
    train, dev = [], []
    for corpus in TRAINED_ON:
        # One generator per treebank, so that a change to one treebank doesn't affect the others.
        choice = random.Random(f"{arguments.seed} {corpus}")
        most = arguments.craft if corpus == "craft" else None
        found = training_trees(read(corpus, ["train"]), corpus, tested, choice, most)
        if corpus == PENN:
            found += written_trees(random.Random(f"{arguments.seed} written"))
        if not arguments.functions:
            found = [without_functions(tree) for tree in found]  # what we add has functions
        train += save(arguments.out / f"train.{corpus}.txt", found)
        dev_trees = development_trees(read(corpus, ["dev"]), corpus, choice)
        dev += save(arguments.out / f"dev.{corpus}.txt", dev_trees)
    random.Random(arguments.seed).shuffle(train)
    save(arguments.out / "train.txt", train)
    save(arguments.out / "dev.txt", dev)


def save_tests(out: Path, corpus: str, items: Sequence[Item]) -> None:
    """Saves a test set, and each of its genres."""
    save(out / f"test.{corpus}.txt", [harmonize(item.tree) for item in items])
    for genre in sorted({item.genre for item in items} - {""}):
        trees = [harmonize(item.tree) for item in items if item.genre == genre]
        save(out / f"test.{corpus}.{genre.replace(' ', '-')}.txt", trees)


def training_trees(
    items: Sequence[Item], corpus: str, tested: set[str], choice: random.Random, most: int | None = None
) -> list[Tree]:
    free = [item.tree for item in items if item.free]
    unseen = [tree for tree in free if letters(tree) not in tested]
    kept = list(without_repeats(unseen))
    print(f"{corpus}: {len(free):,} free, {len(free) - len(unseen)} tested on, {len(unseen) - len(kept)} repeated")
    if most is not None:
        kept = choice.sample(kept, min(most, len(kept)))
    return [copy for tree in kept for copy in versions(tree, choice)]


def written_trees(choice: random.Random) -> list[Tree]:
    return [copy for count, write in WRITTEN for tree in write(choice, count) for copy in versions(tree, choice)]


def development_trees(items: Sequence[Item], corpus: str, choice: random.Random) -> list[Tree]:
    free = [item.tree for item in items if item.free]
    if corpus == "craft":
        free = choice.sample(free, min(CRAFT_DEV, len(free)))
    return [base_version(tree, choice) for tree in free]


def long_enough(tree: Tree) -> bool:
    return len(tree.leaves()) >= SHORTEST_LEAK


def without_repeats(trees: Iterable[Tree]) -> Iterator[Tree]:
    """Drops a tree after its first ``MOST_REPEATS`` occurrences."""
    seen: Counter[str] = Counter()
    for tree in trees:
        text = str(without_functions(tree))
        seen[text] += 1
        if seen[text] <= MOST_REPEATS:
            yield tree


def versions(tree: Tree, choice: random.Random) -> Iterator[Tree]:
    """The sentence to train on and, for some sentences, copies in another spelling."""
    base = repair(base_version(tree, choice))
    yield quoted(base, choice.random())
    if choice.random() < SPOKEN.get(tree.words()[-1], 0) and (said := spoken(base, choice)) is not None:
        yield quoted(said, choice.random() / 2)
    for share, edit in COPIES:
        copy = edit(base) if choice.random() < share else None
        if copy is not None:
            yield copy


def base_version(tree: Tree, choice: random.Random) -> Tree:
    return harmonize(join_hyphens(tree) if choice.random() < JOINED else tree)


def quoted(tree: Tree, draw: float) -> Tree:
    for share, quotes in QUOTED:
        if draw < share:
            return with_quotes(tree, quotes)
        draw -= share
    return tree


def save(path: Path, trees: list[Tree]) -> list[Tree]:
    Treebank(trees).save(path)
    return report(path.name, trees)


def report(title: str, trees: list[Tree]) -> list[Tree]:
    print(f"{title}: {len(trees):,} sentences, {sum(len(tree.leaves()) for tree in trees):,} tokens")
    return trees


if __name__ == "__main__":
    main()
