"""Measures what parsing costs outside the model: microseconds per sentence for each step on the host.

    PYTHONPATH=src python benchmarks/host.py
    PYTHONPATH=src python benchmarks/host.py --trees TREEBANKS/en/wsj-sample/*.txt --json

No model runs while a step is measured. Each step works on the trees of a treebank as if a model had found them; without
``--trees``, on those that the shipped model finds for the sentences of ``fencepost bench``. Each figure is the CPU time
of the fastest of several rounds.
"""

from __future__ import annotations

import argparse
import gc
import json
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fencepost
from fencepost.backends.base import Parsed
from fencepost.chart import cky, packing
from fencepost.chart.scores import LabelChart
from fencepost.config.settings import Config
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.checking import check_sentences
from fencepost.parsing.chunks import growing_chunks
from fencepost.parsing.columns import ParsedColumns
from fencepost.parsing.parsed_batch import Notation, ParsedBatch
from fencepost.parsing.timing import bench_sentences
from fencepost.text.tokens import tokenize
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence, Treebank


class Answer(NamedTuple):
    """What a device hands to the host for one batch."""

    chart: LabelChart
    scores: Any
    marked: Any
    tags: Any


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--trees", type=Path, nargs="+", help="files of trees")
    reader.add_argument("--sentences", type=int, default=3000)
    reader.add_argument("--batch-tokens", type=int, default=40_000, help="as on a GPU; on a CPU batches have 4,000")
    reader.add_argument("--rounds", type=int, default=5)
    reader.add_argument("--json", action="store_true")
    arguments = reader.parse_args()
    trees = _trees(arguments.trees, arguments.sentences)
    words = sum(len(tree.words()) for tree in trees) / len(trees)
    figures = measure(trees, arguments.batch_tokens, arguments.rounds)
    if arguments.json:
        print(json.dumps({"sentences": len(trees), "words": round(words, 1), "microseconds": figures}, indent=1))
        return
    print(
        f"µs per sentence; {len(trees):,} sentences of {words:.1f} words, batches of {arguments.batch_tokens:,} tokens"
    )
    for step, figure in figures.items():
        print(f"  {step:52} {figure:7.1f}")


def _trees(paths: list[Path] | None, count: int) -> list[Tree]:
    if paths:
        return list(Treebank.load(*paths))[:count]
    sentences = bench_sentences()
    found = fencepost.load().parse(sentences)
    return [found[number % len(found)] for number in range(count)]


def measure(trees: list[Tree], batch_tokens: int, rounds: int) -> dict[str, float]:
    """Microseconds per sentence of each step."""
    given = [tree.words() for tree in trees]
    lines = [" ".join(words) for words in given]
    figures: dict[str, float] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        figures[name], result = _timed(work, rounds)
        figures[name] *= 1e6 / len(trees)
        return result

    step("tokenize (only raw text needs it)", lambda: [tokenize(line) for line in lines])
    checked: list[Sentence] = step("check", lambda: list(check_sentences(given, needs_tags=False)))
    step("chunk (only streams need it)", lambda: list(growing_chunks(checked, len, batch_tokens)))
    groups = step("sort into batches", lambda: list(pieces([len(each) for each in checked], batch_tokens)))
    batches = [[checked[index] for index in group] for group in groups]
    english = fencepost.load()
    vocabularies = Vocabularies.of(trees, Config())
    indexers = {
        "index letters (the paper's model)": Indexer(Config(), vocabularies),
        "index letters and sub-tokens (en)": Indexer(english.config, english.vocabularies),
    }
    for name, indexer in indexers.items():
        step(name, partial(_index, indexer, batches))
    notation = Notation(vocabularies)
    answers = [_answer([trees[index] for index in group], vocabularies) for group in groups]
    decoded = step("collect spans", lambda: [cky.collect(*answer[:3]) for answer in answers])

    def parsed() -> list[ParsedBatch]:
        parts = zip(batches, decoded, answers, strict=True)
        return [ParsedBatch(batch, Parsed(found, answer.tags), notation) for batch, found, answer in parts]

    texts = step("write brackets", lambda: [batch.brackets for batch in parsed()])
    assert sorted(text for batch in texts for text in batch) == sorted(map(str, trees))
    step("write columns and brackets", lambda: ParsedColumns.of(list(zip(groups, parsed(), strict=True))))
    step("build trees (only if looked into)", lambda: [[tree.label for tree in each.lazy_trees()] for each in parsed()])
    for name, index in zip(("the paper's model", "en"), indexers, strict=True):
        steps = ("check", "sort into batches", index, "collect spans", "write brackets")
        figures[f"words to brackets, {name}"] = sum(figures[each] for each in steps)
    return {name: round(figure, 2) for name, figure in figures.items()}


def _index(indexer: Indexer, batches: list[list[Sentence]]) -> None:
    for batch in batches:
        indexer.batch(batch)


def _timed(work: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    seconds = []
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        began = time.process_time()
        result = work()
        seconds.append(time.process_time() - began)
        gc.enable()
    return min(seconds), result


def _answer(trees: list[Tree], vocabularies: Vocabularies) -> Answer:
    """The chart of a device that has found these trees."""
    lengths = np.array([len(tree.words()) for tree in trees], np.int64)
    labels = np.zeros(packing.span_count(lengths).sum(), np.int32)
    for tree, length, offset in zip(trees, lengths, packing.offsets(lengths), strict=True):
        for span in spans_below_root(tree):
            cell = packing.cell_index(length, np.int64(span.start), np.int64(span.end))
            labels[offset + cell] = vocabularies.labels.ids[span.label]
    chart = LabelChart(np.empty(0, np.float32), labels, lengths)
    tags = np.array([vocabularies.tags.id(tag) for tree in trees for tag in tree.tags()], np.int64)
    return Answer(chart, np.zeros(len(trees), np.float32), labels != 0, tags)


if __name__ == "__main__":
    main()
