"""Measures how well a model parses English, and prints the table of its model card in Markdown.

    python models/english/evaluate.py --model MODEL --treebanks DIR [--first N] [--device cpu] [--scores SCORES.json]

F1 is labelled F1 with COLLINS parameters over gold words, with gold tags on both sides: against the trees of the
treebank, and against the same trees in the notation that the model is trained on (harmonize.py). Tags are the model's
own, compared with the harmonised ones over all words. "From text" is F1 in characters (see
fencepost.evaluation.characters): the model gets running text made from the gold words (raw_text.py), and finds
sentences and words itself. The speed is in CPU seconds of this process, without loading the model. --scores also writes
the figures of the whole test sets to a file for release.py.
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
from fencepost.storage.model_files import format_scores
from fencepost.training import tagging
from fencepost.trees.tree import Tree

COLUMNS = ("test set", "sentences", "F1", "F1, harmonised", "tags", "F1 from text")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", required=True)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--first", type=int, help="only the first N sentences of each set, for a quick look")
    options.add_argument("--device", default="cpu")
    options.add_argument("--scores", type=Path, help="also write the figures of each test set to this file, as JSON")
    arguments = options.parse_args()
    parser = fencepost.load(arguments.model, device=arguments.device)
    print(row(COLUMNS) + "\n" + row(["---"] * len(COLUMNS)), flush=True)
    sentences = seconds = 0.0
    scores: dict[str, dict[str, float | None]] = {}
    for corpus, splits in TESTS.items():
        items = load(arguments.treebanks, corpus, splits)[: arguments.first]
        predicted, spent = parse(parser, items)
        figures = measured(parser, items, predicted)
        scores[corpus] = figures
        print(shown(corpus, figures), flush=True)
        for genre in sorted({item.genre for item in items} - {""}):
            indices = [index for index, item in enumerate(items) if item.genre == genre]
            part, trees = [items[index] for index in indices], [predicted[index] for index in indices]
            print(shown(f"{corpus}: {genre}", measured(parser, part, trees)), flush=True)
        sentences, seconds = sentences + len(items), seconds + spent
    print(f"\n{sentences / seconds:.1f} sentences per CPU-second over all test sets, from gold words.")
    if arguments.scores is not None:
        arguments.scores.write_bytes(format_scores(scores))


def parse(parser: Parser, items: Sequence[Item]) -> tuple[list[Tree], float]:
    """Parses the words as the treebank writes them; gives the trees and the CPU seconds."""
    words = [item.tree.words() for item in items]
    began = time.process_time()
    trees = parser.parse(words)
    return trees, time.process_time() - began


def measured(parser: Parser, items: Sequence[Item], predicted: Sequence[Tree]) -> dict[str, float | None]:
    """``f1`` is F1 in the notation that the model is trained on."""
    gold = [item.tree for item in items]
    harmonised = [harmonize(tree) for tree in gold]
    in_text = score_raw_text(parser, [item._replace(tree=tree) for item, tree in zip(items, harmonised, strict=True)])
    return {
        "sentences": len(items),
        "f1_as_is": f1(gold, predicted),
        "f1": f1(harmonised, predicted),
        "tags": tag_accuracy(parser, harmonised, predicted),
        "f1_from_text": in_text.f1,
    }


def shown(title: str, figures: dict[str, float | None]) -> str:
    sentences, *others = figures.values()
    return row([title, f"{sentences:,}", *("–" if figure is None else f"{figure:.2f}" for figure in others)])


def f1(gold: Sequence[Tree], predicted: Sequence[Tree]) -> float:
    """F1 with the gold words and tags under the predicted phrases."""
    return score(gold, [with_leaves(tree, right.leaves()) for tree, right in zip(predicted, gold, strict=True)]).f1


def tag_accuracy(parser: Parser, gold: Sequence[Tree], predicted: Sequence[Tree]) -> float | None:
    return tagging.tag_accuracy(gold, predicted) if parser.config.scorer.predict_tags else None


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
