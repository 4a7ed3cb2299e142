"""Measures a language's model on its development and test sets, and writes the figures for its card.

    python models/languages/evaluate_language.py --model EXPORT --name NAME --data DATA --scores SCORES.json

EXPORT is the model as it ships; for the joint model, its path followed by :NAME. F1 is labelled F1 over gold words,
punctuation included (spmrl). Tags are the model's own, compared over all words. F1 from text is that of running text
(running_text.py): the parser finds sentences and words itself, and brackets are compared in characters.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from languages import LANGUAGES
from running_text import paragraphs, text_of

import fencepost
from fencepost.evaluation.characters import score_in_text
from fencepost.evaluation.params import load_params
from fencepost.evaluation.score import score
from fencepost.parsing.parser import Parser
from fencepost.storage.model_files import format_scores
from fencepost.text import read_stream
from fencepost.trees.treebank import Treebank


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", required=True)
    options.add_argument("--name", required=True, choices=[*LANGUAGES])
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--scores", type=Path, required=True, help="figures of other languages in it are kept")
    arguments = options.parse_args()
    parser = fencepost.load(arguments.model)
    scores = json.loads(arguments.scores.read_text("utf-8")) if arguments.scores.exists() else {}
    for part in ("dev", "test"):
        trees = Treebank.load(arguments.data / f"{arguments.name}.{part}.txt")
        scores[f"{arguments.name}.{part}"] = figures = figures_of(parser, trees)
        figures["f1_text"] = f1_from_text(parser, trees, arguments.name)
        line = f"{arguments.name}.{part}: F1 {figures['f1']:.2f}, from text {figures['f1_text']:.2f}"
        print(f"{line}, tags {figures['tags']:.2f}", flush=True)
    arguments.scores.write_bytes(format_scores(scores))


def figures_of(parser: Parser, gold: Treebank) -> dict[str, Any]:
    words = [tree.words() for tree in gold]
    began = time.process_time()
    predicted = parser.parse(words)
    seconds = time.process_time() - began
    found = score(gold, predicted, params=load_params("spmrl"))
    pairs = [
        pair for trees in zip(gold, predicted, strict=True) for pair in zip(*(t.tags() for t in trees), strict=True)
    ]
    return {
        "sentences": len(gold),
        "f1": found.f1,
        "precision": found.precision,
        "recall": found.recall,
        "complete_match": found.complete_match,
        "tags": 100 * sum(ours == theirs for ours, theirs in pairs) / len(pairs),
        "sentences_per_cpu_second": len(gold) / seconds,
    }


def f1_from_text(parser: Parser, gold: Treebank, name: str) -> float:
    """F1 where the parser finds sentences and words itself, in text rebuilt from the treebank."""
    expected, sentences = [], []
    trees = iter(gold)
    for paragraph in paragraphs(list(gold), name):
        expected += [(next(trees), [word.text for word in words]) for words in paragraph]
        sentences += list(read_stream([text_of(paragraph, name)], language=parser.text_language))
    predicted = parser.parse(sentence.sentence() for sentence in sentences)
    tokens = [[token.text for token in sentence.tokens] for sentence in sentences]
    return score_in_text(expected, zip(predicted, tokens, strict=True), "spmrl").f1


if __name__ == "__main__":
    main()
