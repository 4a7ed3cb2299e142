"""Measures how well a model parses English, and prints the table of its model card in Markdown.

    python models/english/evaluate.py --model MODEL --treebanks DIR [--first N] [--device cpu]

F1 is labelled F1 with COLLINS parameters over gold words, with gold tags on both sides: against the trees of the
treebank, and against the same trees in the notation that the model is trained on (harmonize.py). Tags are the model's
own, compared with the harmonised ones over all words. "From text" is F1 in characters (see
fencepost.evaluation.characters): the model gets running text made from the gold words (raw_text.py), and finds
sentences and words itself. The speed is in CPU seconds of this process, without loading the model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path

from corpora import TESTS, Item, load
from harmonize import harmonize
from nodes import with_leaves
from raw_text import score_raw_text

import fencepost
from fencepost.evaluation.score import score
from fencepost.parsing.parser import Parser
from fencepost.training import tagging
from fencepost.trees.tree import Tree

COLUMNS = ("test set", "sentences", "F1", "F1, harmonised", "tags", "F1 from text")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", required=True)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--first", type=int, help="only the first N sentences of each set, for a quick look")
    options.add_argument("--device", default="cpu")
    arguments = options.parse_args()
    parser = fencepost.load(arguments.model, device=arguments.device)
    print(row(COLUMNS) + "\n" + row(["---"] * len(COLUMNS)), flush=True)
    sentences = seconds = 0.0
    for corpus, splits in TESTS.items():
        items = load(arguments.treebanks, corpus, splits)[: arguments.first]
        predicted, spent = parse(parser, items)
        print(measured(parser, corpus, items, predicted), flush=True)
        for genre in sorted({item.genre for item in items} - {""}):
            indices = [index for index, item in enumerate(items) if item.genre == genre]
            part, trees = [items[index] for index in indices], [predicted[index] for index in indices]
            print(measured(parser, f"{corpus}: {genre}", part, trees), flush=True)
        sentences, seconds = sentences + len(items), seconds + spent
    print(f"\n{sentences / seconds:.1f} sentences per CPU-second over all test sets, from gold words.")


def parse(parser: Parser, items: Sequence[Item]) -> tuple[list[Tree], float]:
    """Parses the words as the treebank writes them; gives the trees and the CPU seconds."""
    words = [item.tree.words() for item in items]
    began = time.process_time()
    trees = parser.parse(words)
    return trees, time.process_time() - began


def measured(parser: Parser, title: str, items: Sequence[Item], predicted: Sequence[Tree]) -> str:
    gold = [item.tree for item in items]
    harmonised = [harmonize(tree) for tree in gold]
    as_is = f1(gold, predicted)
    in_text = score_raw_text(parser, [item._replace(tree=tree) for item, tree in zip(items, harmonised, strict=True)])
    figures = (as_is, f1(harmonised, predicted), tag_accuracy(parser, harmonised, predicted), in_text.f1)
    return row([title, f"{len(items):,}", *("–" if figure is None else f"{figure:.2f}" for figure in figures)])


def f1(gold: Sequence[Tree], predicted: Sequence[Tree]) -> float:
    """F1 with the gold words and tags under the predicted phrases."""
    return score(gold, [with_leaves(tree, right.leaves()) for tree, right in zip(predicted, gold, strict=True)]).f1


def tag_accuracy(parser: Parser, gold: Sequence[Tree], predicted: Sequence[Tree]) -> float | None:
    return tagging.tag_accuracy(gold, predicted) if parser.config.scorer.predict_tags else None


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
