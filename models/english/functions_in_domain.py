"""How well the function scorer does on a test set if half of that test set is in its training data.

    python models/english/functions_in_domain.py --model MODEL --data DATA [--test wsj] [--vectors VECTORS]

Prints the F1 of functions over the gold constituents of the test set: first of the scorer as `fit_functions.py` trains
it, then of two scorers that also learn from one half of the test set and are measured on the other. The difference
shows what the test set's own conventions are worth. Nothing is written: the trees of the Wall Street
Journal must not go into a model that ships.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from fit_functions import FIRST, SHARES, STEPS, counted, fit, read_trees, training_examples
from prepare import PENN
from vectors import VectorReader

from fencepost.evaluation.brackets import Brackets
from fencepost.storage.model_folder import ModelFolder


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--test", default="wsj")
    options.add_argument("--steps", type=int, default=STEPS)
    options.add_argument("--first", type=int, default=FIRST, help="only the first N sentences of each treebank")
    options.add_argument("--vectors", type=Path, help="keep the model's vectors in this folder")
    arguments = options.parse_args()
    folder = ModelFolder.open(arguments.model)
    reader = VectorReader(folder, kept=arguments.vectors)
    data, steps, test = arguments.data, arguments.steps, arguments.test
    training = training_examples(reader, data, arguments.first)
    trees = read_trees(data, "test", test, arguments.first)
    scorer = fit(folder, training, SHARES, follow=PENN, steps=steps, seed=1)
    without = counted(scorer, folder, reader.examples(trees, f"test.{test}"), trees)
    print(f"{test}, none of its trees in training: F1 {without.total().f1:.2f}", flush=True)
    halves = trees[: len(trees) // 2], trees[len(trees) // 2 :]
    examples = [reader.examples(half, f"test.{test}.{number}") for number, half in enumerate(halves)]
    matched = gold = predicted = 0
    for number in (0, 1):
        shares = SHARES | {test: SHARES[PENN]}
        scorer = fit(folder, {**training, test: examples[1 - number]}, shares, follow=test, steps=steps, seed=1)
        found = counted(scorer, folder, examples[number], halves[number]).total()
        matched, gold, predicted = matched + found.matched, gold + found.gold, predicted + found.predicted
    f1 = Brackets(matched, gold, predicted).f1
    print(f"{test}, half of its trees in training: F1 {f1:.2f}", flush=True)


if __name__ == "__main__":
    main()
