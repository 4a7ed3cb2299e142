"""Labels a corpus with the teachers' probabilities of each labelled span and each tag.

    python models/english/label.py --teachers TEACHER … --corpus CORPUS --out LABELS --data DATA --device cuda \\
        [--process 0 --processes 4]

The temperature of each teacher is fitted to the development trees of DATA. LABELS has one folder for each part of the
corpus; a run that was interrupted continues with the parts that are missing. Several processes may share the work.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np
from corpus import Collator, Corpus, translation
from targets import Beliefs, Targets
from teaching import Teachers, fit_temperatures

from fencepost.features.batch import Batch
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.trees.treebank import Sentence, Treebank

PART: Final = 16_384  # sentences
TEMPERATURES: Final = "temperatures.json"
BATCH_TOKENS: Final = 24_000


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--teachers", type=Path, nargs="+", required=True)
    options.add_argument("--corpus", type=Path, required=True)
    options.add_argument("--encoder", required=True, help="its tokenizer cut the corpus into sub-tokens")
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--device", default="cpu")
    options.add_argument("--precision", default="bf16")
    options.add_argument("--process", type=int, default=0)
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--first", type=int, help="read only the first FIRST development trees, for a quick look")
    arguments = options.parse_args()
    teachers = Teachers.load(arguments.teachers, arguments.device, arguments.precision)
    temperatures = fit_temperatures(teachers, development(teachers, arguments.data, arguments.first))
    teachers = replace(teachers, temperatures=temperatures)
    arguments.out.mkdir(parents=True, exist_ok=True)
    if arguments.process == 0:
        (arguments.out / TEMPERATURES).write_text(json.dumps(temperatures) + "\n")
    corpus = Corpus.load(arguments.corpus)
    vocabularies = teachers.folder.vocabularies
    assert vocabularies.pretrained is not None
    numbers = translation(PretrainedFiles.of(arguments.encoder).tokenizer, vocabularies.pretrained.tokenizer)
    plain_quotes = teachers.folder.config.plain_quotes
    collator = Collator(corpus, vocabularies, plain_quotes=plain_quotes, numbers=numbers)
    parts = range(-(-len(corpus) // PART))
    begun, done = time.monotonic(), 0
    print(f"temperatures {temperatures}; {len(corpus):,} sentences in {len(parts)} parts", flush=True)
    for part in parts[arguments.process :: arguments.processes]:
        folder = arguments.out / f"{part:04}"
        if folder.exists():
            continue
        places = np.arange(part * PART, min((part + 1) * PART, len(corpus)))
        targets = label(teachers, collator, places, corpus.words.counts(places).tolist())
        unfinished = folder.with_name(f".{folder.name}")
        targets.save(unfinished)
        unfinished.rename(folder)
        done += len(places)
        print(f"part {part}: {done / (time.monotonic() - begun):,.0f} sentences/s", flush=True)


def label(teachers: Teachers, collator: Collator, places: np.ndarray, lengths: list[int]) -> Targets:
    found, order = [], []
    for group in pieces(lengths, BATCH_TOKENS):
        found.append(teachers.label(collator.batch(places[group])))
        order += group
    return Targets.joined(found).ordered(np.argsort(order))


def development(teachers: Teachers, data: Path, first: int | None) -> list[tuple[Batch, Beliefs]]:
    trees = list(Treebank.load(data / "dev.txt"))[:first]
    vocabularies = teachers.folder.vocabularies
    indexer = Indexer(teachers.folder.config, vocabularies)
    targets = Targets.of_trees(trees, vocabularies)
    batches = []
    for group in pieces([len(tree.leaves()) for tree in trees], BATCH_TOKENS):
        batch = indexer.batch([Sentence.of(trees[place]) for place in group])
        batches.append((batch, targets.batch(group, batch.lengths)))
    return batches


def load_labels(folder: Path) -> Targets:
    """All labelled parts. They must be the first parts of the corpus, without a gap."""
    parts = sorted(path for path in folder.iterdir() if path.name.isdigit())
    assert [int(path.name) for path in parts] == list(range(len(parts))), f"parts of {folder} are missing"
    return Targets.joined([Targets.load(path) for path in parts])


if __name__ == "__main__":
    main()
