"""Measures how well models parse the test sets, and how well their probabilities are calibrated. Writes JSON.

    python models/english/measure.py MODEL … --data DATA --out FIGURES.json [--device cuda] [--together]

For the development set and each test set of DATA, harmonised as prepare.py wrote them: labelled F1 (COLLINS, gold words
and gold tags on both sides), complete match and tag accuracy. Over the constituents of the best trees: the expected
calibration error, and the share of correct ones among those with a probability of 0.99 or more. If the models predict
functions: F1 of the functions of correctly found constituents, in all and by function. --together measures
several teachers as one: the tree with the greatest mean score, and the mean of their probabilities.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from corpora import TESTS
from label import development
from nodes import with_leaves
from teaching import Believed, Teachers, best_trees, fit_temperatures

from fencepost.chart import cky, packing
from fencepost.evaluation.calibration import Calibration
from fencepost.evaluation.functions import FunctionCounts, marked_phrases
from fencepost.evaluation.score import score
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import TOKEN_MARKS
from fencepost.parsing.confidence import ConstituentReader
from fencepost.training import tagging
from fencepost.trees.functions import Mark, without_functions
from fencepost.trees.spans import Phrase, nest, phrases, spans_below_root
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Sentence, Treebank

BATCH_TOKENS: Final = 24_000
SURE: Final = 0.99


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("models", type=Path, nargs="+")
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--device", default="cpu")
    options.add_argument("--precision", default="bf16")
    options.add_argument("--together", action="store_true")
    options.add_argument("--first", type=int, help="read only the first FIRST trees of each set, for a quick look")
    arguments = options.parse_args()
    figures: dict[str, Any] = {}
    groups = [arguments.models] if arguments.together else [[model] for model in arguments.models]
    for group in groups:
        teachers = Teachers.load(group, arguments.device, arguments.precision)
        name = "+".join(model.name for model in group)
        temperatures = fit_temperatures(teachers, development(teachers, arguments.data, arguments.first))
        if arguments.together:  # their scores are of one size only at these temperatures
            teachers = replace(teachers, temperatures=temperatures)
        figures[name] = {"temperatures": temperatures}
        for part in ("dev", *(f"test.{corpus}" for corpus in TESTS)):
            trees = list(Treebank.load(arguments.data / f"{part}.txt"))[: arguments.first]
            found = measured(teachers, trees)
            fitted = measured(replace(teachers, temperatures=temperatures), trees)
            figures[name][part] = found | {f"fitted_{key}": fitted[key] for key in ("ece", "right_if_sure", "sure")}
            print(name, part, json.dumps(figures[name][part]), flush=True)
            arguments.out.write_text(json.dumps(figures, indent=1) + "\n")


@dataclass(frozen=True)
class Known:
    """Stands in for a ``Posterior``: the probabilities of the labels of one tree's spans, in order."""

    rows: np.ndarray[Any, np.dtype[np.float64]]

    def of_spans(self, sentence: int, starts: Ints, ends: Ints) -> np.ndarray[Any, np.dtype[np.float64]]:
        return self.rows


def measured(teachers: Teachers, gold: Sequence[Tree]) -> dict[str, float]:
    begun = time.monotonic()
    marked = [marked_phrases(tree) for tree in gold]
    gold = [without_functions(tree) for tree in gold]
    functions = FunctionCounts()
    predicted: dict[int, Tree] = {}
    confidence: list[float] = []
    correct: list[bool] = []
    vocabularies, force_root = teachers.folder.vocabularies, teachers.folder.config.scorer.force_root
    indexer, reader = Indexer(teachers.folder.config, vocabularies), ConstituentReader(vocabularies.labels.chains)
    for group in pieces([len(tree.leaves()) for tree in gold], BATCH_TOKENS):
        believed = teachers.believe(indexer.batch([Sentence.of(gold[place]) for place in group]))
        for place, (tree, known, tags) in zip(group, known_trees(believed, force_root), strict=True):
            words = gold[place].words()
            leaves = [Leaf(vocabularies.tags.symbols[tag - TOKEN_MARKS], w) for tag, w in zip(tags, words, strict=True)]
            chains = [vocabularies.labels.chains[label] for label in tree.labels.tolist()]
            predicted[place] = nest(leaves, tree.starts.tolist(), tree.ends.tolist(), chains, vocabularies.root)
            right = {(label, span.start, span.end) for span in spans_below_root(gold[place]) for label in span.label}
            for part in reader.read(tree, known):  # type: ignore[arg-type]
                assert part.probability is not None
                confidence.append(part.probability)
                correct.append((part.label, part.start, part.end) in right)
        count_functions(functions, teachers, believed, [marked[place] for place in group])
    trees = [predicted[place] for place in range(len(gold))]
    found = score(gold, [with_leaves(tree, right.leaves()) for tree, right in zip(trees, gold, strict=True)])
    calibration = Calibration(np.array(confidence), np.array(correct))
    sure = calibration.confidence >= SURE
    return {
        "sentences": len(gold),
        "f1": round(found.f1, 3),
        "precision": round(found.precision, 3),
        "recall": round(found.recall, 3),
        "complete_match": round(found.complete_match, 2),
        "tags": round(tagging.tag_accuracy(gold, trees), 3),
        "ece": round(calibration.expected_error(), 5),
        "log_loss": round(calibration.log_loss(), 5),
        "sure": round(float(sure.mean()), 4),
        "right_if_sure": round(float(calibration.correct[sure].mean()), 5) if sure.any() else 0.0,
        **{f"function_f1_{row.name}": round(row.f1, 2) for row in functions.rows()},
        **({"function_f1": round(functions.total().f1, 3)} if functions.rows() else {}),
        "seconds": round(time.monotonic() - begun, 2),
    }


def count_functions(
    counts: FunctionCounts, teachers: Teachers, believed: Believed, gold: Sequence[Sequence[tuple[Phrase, Mark]]]
) -> None:
    """Counts the functions of correctly found constituents, if the teachers predict functions."""
    known = teachers.folder.vocabularies.functions
    if known is None:
        return
    spans = teachers.best_spans(believed)
    _, probabilities = teachers.functions(believed, spans)
    names = (None, *known.symbols)
    best = iter(probabilities.argmax(axis=1).tolist())
    for own, right in zip(spans, gold, strict=True):
        counts.add(right, [(phrase, names[next(best)]) for phrase in phrases(own)])


def known_trees(believed: Believed, force_root: bool) -> list[tuple[cky.Decoded, Known, Ints]]:
    """For each sentence: the tree with the greatest score, the probabilities of its spans' labels, and the tags."""
    lengths = believed.lengths.cpu().numpy()
    trees = best_trees(believed, force_root)
    tags = np.split((believed.tags[:, TOKEN_MARKS:].argmax(dim=1) + TOKEN_MARKS).cpu().numpy(), np.cumsum(lengths)[:-1])
    offsets = packing.offsets(lengths)
    cells = [
        offset + packing.cell_index(n, t.starts, t.ends) for t, n, offset in zip(trees, lengths, offsets, strict=True)
    ]
    every = torch.from_numpy(np.concatenate(cells)).to(believed.labels.device)
    rows = np.split(believed.labels[every].double().cpu().numpy(), np.cumsum([len(part) for part in cells])[:-1])
    return [(tree, Known(row), tag) for tree, row, tag in zip(trees, rows, tags, strict=True)]


if __name__ == "__main__":
    main()
