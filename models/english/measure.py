"""Measures how well models parse the test sets, and how well their probabilities are calibrated. Writes JSON.

    python models/english/measure.py MODEL … --data DATA --out FIGURES.json [--device cuda] [--together]

For the development set and each test set of DATA, harmonised as prepare.py wrote them: labelled F1 (COLLINS, gold words
and gold tags on both sides), complete match and tag accuracy. Over the constituents of the best trees: the expected
calibration error, and the share of correct ones among those with a probability of 0.99 or more. --together measures
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
from teaching import Believed, Teachers, fit_temperature

from fencepost.backends.charts import decode
from fencepost.chart import cky, packing
from fencepost.chart.scores import LabelChart
from fencepost.evaluation.calibration import Calibration
from fencepost.evaluation.score import score
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import TOKEN_MARKS
from fencepost.model.cells import best_labels
from fencepost.parsing.confidence import ConstituentReader
from fencepost.training import tagging
from fencepost.trees.spans import nest, spans_below_root
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
        temperature = fit_temperature(teachers, development(teachers, arguments.data, arguments.first))
        figures[name] = {"temperature": temperature}
        for part in ("dev", *(f"test.{corpus}" for corpus in TESTS)):
            trees = list(Treebank.load(arguments.data / f"{part}.txt"))[: arguments.first]
            found = measured(teachers, trees)
            fitted = measured(replace(teachers, temperature=temperature), trees)
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
    predicted: dict[int, Tree] = {}
    confidence: list[float] = []
    correct: list[bool] = []
    vocabularies, force_root = teachers.folder.vocabularies, teachers.folder.config.scorer.force_root
    indexer, reader = Indexer(teachers.folder.config, vocabularies), ConstituentReader(vocabularies.labels.chains)
    for group in pieces([len(tree.leaves()) for tree in gold], BATCH_TOKENS):
        believed = teachers.believe(indexer.batch([Sentence.of(gold[place]) for place in group]))
        for place, (tree, known, tags) in zip(group, best_trees(believed, force_root), strict=True):
            words = gold[place].words()
            leaves = [Leaf(vocabularies.tags.symbols[tag - TOKEN_MARKS], w) for tag, w in zip(tags, words, strict=True)]
            chains = [vocabularies.labels.chains[label] for label in tree.labels.tolist()]
            predicted[place] = nest(leaves, tree.starts.tolist(), tree.ends.tolist(), chains, vocabularies.root)
            right = {(label, span.start, span.end) for span in spans_below_root(gold[place]) for label in span.label}
            for part in reader.read(tree, known):  # type: ignore[arg-type]
                assert part.probability is not None
                confidence.append(part.probability)
                correct.append((part.label, part.start, part.end) in right)
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
        "seconds": round(time.monotonic() - begun, 2),
    }


def best_trees(believed: Believed, force_root: bool) -> list[tuple[cky.Decoded, Known, Ints]]:
    """For each sentence: the tree with the greatest score, the probabilities of its spans' labels, and the tags."""
    lengths = believed.lengths.cpu().numpy()
    best, labels = best_labels(believed.scores, believed.lengths, force_root)
    scores, marked = decode(best, believed.lengths)
    chart = LabelChart(np.empty(0, np.float32), labels.cpu().numpy(), lengths)
    trees = cky.collect(chart, scores.cpu().numpy(), marked.cpu().numpy())
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
