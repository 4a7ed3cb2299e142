"""Measures how well a model parses English, and writes the figures of its model card.

    python models/english/evaluate.py --model MODEL --treebanks DIR --train DATA/train.txt --scores SCORES.json
        [--first N] [--device cpu]

MODEL is the export as it ships. SCORES.json gets all figures: card.py makes the tables of the card from it, and
release.py puts it into the model's folder. A table of the scores is printed on the way.

- F1 is labelled F1 with COLLINS parameters over gold words, with gold tags on both sides, in the notation that the
  model is trained on (harmonize.py), words included. "As is" compares the same trees with those of the treebank.
- Tags are the model's own, compared with the harmonised ones over all words.
- "From text" is F1 in characters (see fencepost.evaluation.characters): the model gets running text made from the gold
  words (raw_text.py), and finds sentences and words itself.
- Probabilities: the expected calibration error over the constituents of the best trees; and of the constituents with a
  probability of 0.99 or more, their share of all and how many of them are right.
- Functions, if the model predicts them: F1 of the functions of correctly found constituents, and the share of all these
  constituents, with and without a function, that get the right one. The baseline gives each constituent the function
  that is most frequent in --train for its label and its parent's label.
- The speed is in CPU seconds of this process, for the best trees from gold words, without loading the model.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from corpora import TESTS, Item, load
from harmonize import harmonize
from nodes import with_leaves
from raw_text import score_raw_text

import fencepost
from fencepost.evaluation.calibration import Calibration, calibration, scores_of
from fencepost.evaluation.functions import FunctionBaseline, FunctionCounts, marked_phrases, score_functions
from fencepost.evaluation.score import Score, score
from fencepost.parsing.parser import Parser
from fencepost.storage.model_files import format_scores
from fencepost.training import tagging
from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank

COLUMNS: Final = {  # of the table, and of SCORES.json
    "sentences": "sentences",
    "f1": "F1",
    "f1_as_is": "F1 as is",
    "complete_match": "complete match",
    "tags": "tags",
    "f1_from_text": "F1 from text",
}
SURE: Final = 0.99
AT_ONCE: Final = 200  # sentences whose scores of all spans are in memory

Figures = dict[str, Any]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", required=True)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--train", type=Path, help="training trees with functions, for the baseline")
    options.add_argument("--first", type=int, help="only the first N sentences of each set, for a quick look")
    options.add_argument("--device", default="cpu")
    options.add_argument("--scores", type=Path, help="write all figures to this file, as JSON")
    arguments = options.parse_args()
    parser = fencepost.load(arguments.model, device=arguments.device)
    baseline = None
    if arguments.train is not None and parser.config.scorer.functions:
        baseline = FunctionBaseline(Treebank.load(arguments.train))
    print(row(["test set", *COLUMNS.values()]) + "\n" + row(["---"] * (1 + len(COLUMNS))), flush=True)
    scores: dict[str, Figures] = {}
    for corpus, splits in TESTS.items():
        items = load(arguments.treebanks, corpus, splits, functions=parser.config.scorer.functions)[: arguments.first]
        scores[corpus] = figures_of(parser, items, baseline)
        print(shown(corpus, scores[corpus]), flush=True)
        for genre, figures in scores[corpus]["genres"].items():
            print(shown(f"{corpus}: {genre}", figures), flush=True)
        if arguments.scores is not None:
            arguments.scores.write_bytes(format_scores(scores))


def figures_of(parser: Parser, items: Sequence[Item], baseline: FunctionBaseline | None = None) -> Figures:
    """All figures of one test set, and the scores of each of its genres."""
    marked = [harmonize(item.tree) for item in items]
    items = [item._replace(tree=without_functions(item.tree)) for item in items]
    gold = [without_functions(tree) for tree in marked]
    predicted, seconds = parse(parser, gold)
    figures = measured(parser, items, gold, predicted)
    figures |= {"sentences_per_cpu_second": len(items) / seconds, **probabilities(parser, gold)}
    if parser.config.scorer.functions:
        figures |= functions(parser, marked, baseline)
    figures["genres"] = {}
    for genre in sorted({item.genre for item in items} - {""}):
        own = [each for each in zip(items, gold, predicted, strict=True) if each[0].genre == genre]
        part, right, found = zip(*own, strict=True)
        figures["genres"][genre] = measured(parser, part, right, found)
    return figures


def parse(parser: Parser, gold: Sequence[Tree]) -> tuple[list[Tree], float]:
    """The trees that the model finds, and the CPU seconds that it takes."""
    words = [tree.words() for tree in gold]
    began = time.process_time()
    trees = parser.parse(words)
    return trees, time.process_time() - began


def measured(parser: Parser, items: Sequence[Item], gold: Sequence[Tree], predicted: Sequence[Tree]) -> Figures:
    """The scores of trees. The items have the treebank's own trees, and ``gold`` has the harmonised ones."""
    found = compared(gold, predicted)
    in_text = score_raw_text(parser, [item._replace(tree=tree) for item, tree in zip(items, gold, strict=True)])
    return {
        "sentences": len(items),
        "f1": found.f1,
        "f1_as_is": f1([item.tree for item in items], predicted),
        "precision": found.precision,
        "recall": found.recall,
        "complete_match": found.complete_match,
        "tags": tag_accuracy(parser, gold, predicted),
        "f1_from_text": in_text.f1,
    }


def probabilities(parser: Parser, gold: Sequence[Tree]) -> Figures:
    """How far the probabilities of constituents can be trusted, at the model's temperature."""
    parts = [calibrated(parser, gold[first : first + AT_ONCE]) for first in range(0, len(gold), AT_ONCE)]
    whole = Calibration(np.concatenate([p.confidence for p in parts]), np.concatenate([p.correct for p in parts]))
    sure = whole.confidence >= SURE
    return {
        "calibration_error": whole.expected_error(),
        "sure": float(sure.mean()),
        "right_if_sure": float(whole.correct[sure].mean()) if sure.any() else None,
    }


def calibrated(parser: Parser, gold: Sequence[Tree]) -> Calibration:
    config = parser.config
    scored = scores_of(parser, gold)
    return calibration(scored, parser.vocabularies.labels, config.eval.temperature, config.scorer.force_root)


def functions(parser: Parser, gold: Sequence[Tree], baseline: FunctionBaseline | None) -> Figures:
    """F1 of the functions of correctly found constituents, in all and by function, beside the baseline's."""
    predicted = parser.parse([tree.words() for tree in gold], functions=True)
    figures: Figures = {"functions": score_functions(gold, predicted).to_json()}
    if baseline is not None:
        counts = FunctionCounts()
        for right, found in zip(gold, predicted, strict=True):
            counts.add(marked_phrases(right), baseline.functions(without_functions(found)))
        figures["function_baseline"] = counts.to_json()
    return figures


def compared(gold: Sequence[Tree], predicted: Sequence[Tree]) -> Score:
    """The score with the gold words and tags under the predicted phrases."""
    return score(gold, [with_leaves(tree, right.leaves()) for tree, right in zip(predicted, gold, strict=True)])


def f1(gold: Sequence[Tree], predicted: Sequence[Tree]) -> float:
    return compared(gold, predicted).f1


def tag_accuracy(parser: Parser, gold: Sequence[Tree], predicted: Sequence[Tree]) -> float | None:
    return tagging.tag_accuracy(gold, predicted) if parser.config.scorer.predict_tags else None


def shown(title: str, figures: Figures) -> str:
    sentences, *others = (figures[name] for name in COLUMNS)
    return row([title, f"{sentences:,}", *("–" if figure is None else f"{figure:.2f}" for figure in others)])


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
