"""Trains a student on the teachers' labels of raw text, and on the gold trees.

    python models/english/student.py --teacher TEACHER --corpus CORPUS --labels LABELS --data DATA --encoder MINILM \\
        --out STUDENT --steps 12000 --device cuda

Each source has a share of every batch: the square root of its size, so that no source drowns the others, or what
--share gives. --gold is the part of each batch that comes from the treebanks. With --start-from, instead of --encoder,
training starts from the weights of a model, such as a pruned teacher.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
from corpus import Collator, Corpus, translation
from fit import Fit, Length
from gold import Gold, named_numbers
from index_text import SOURCES
from label import load_labels
from mixture import Mixture, Source
from targets import Targets
from teacher import OF_ITS_START, add_run_options

from fencepost.backends.torch import find_device
from fencepost.config.settings import Config
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.treebank import Treebank

CONFIG = Path(__file__).with_name("student.toml")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--teacher", type=Path, required=True, help="the model whose vocabularies LABELS uses")
    options.add_argument("--corpus", type=Path, required=True)
    options.add_argument("--cut-with", required=True, help="the encoder whose tokenizer the corpus was cut with")
    options.add_argument("--labels", type=Path, required=True)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--gold", type=float, default=0.2)
    options.add_argument(
        "--least-confidence", type=float, default=0.0, help="leave out sentences whose best tree is less probable"
    )
    start = options.add_mutually_exclusive_group(required=True)
    start.add_argument("--encoder")
    start.add_argument("--start-from", type=Path)
    add_run_options(options)
    arguments = options.parse_args()
    folder = None if arguments.start_from is None else ModelFolder.open(arguments.start_from)
    encoder = arguments.encoder or OF_ITS_START
    config = Config.load(CONFIG, [f"pretrained.model={encoder}", *arguments.set])
    files = PretrainedFiles.of(encoder) if folder is None else folder.vocabularies.pretrained
    vocabularies = replace(ModelFolder.open(arguments.teacher).vocabularies, pretrained=files)
    corpus, targets, sources = read_text(arguments.corpus, arguments.labels, arguments.least_confidence)
    silver = with_shares(sources, named_numbers(arguments.share), 1 - arguments.gold)
    gold = Gold.load(arguments.data, arguments.first)
    gold_sources = with_shares(gold.sources({}, len(corpus)), named_numbers(arguments.share), arguments.gold)
    corpus, targets = with_gold(corpus, targets, gold, config, vocabularies, arguments.cut_with)
    assert files is not None
    numbers = translation(PretrainedFiles.of(arguments.cut_with).tokenizer, files.tokenizer)
    collator = Collator(corpus, vocabularies, plain_quotes=config.plain_quotes, numbers=numbers)
    mixture = Mixture(collator, targets, [*silver, *gold_sources], config.train.batch_size, config.train.seed)
    print({source.name: (round(source.share, 4), len(source.places)) for source in mixture.sources}, flush=True)
    dev = list(Treebank.load(arguments.data / "dev.txt"))[: arguments.first]
    length = Length(arguments.steps, arguments.minutes)
    fit = Fit(config, vocabularies, mixture, dev, find_device(arguments.device), length, folder)
    fit.resume(arguments.out)
    fit.run(arguments.out, arguments.checks, arguments.checkpoint_minutes)


def read_text(folder: Path, labels: Path, least_confidence: float) -> tuple[Corpus, Targets, list[Source]]:
    """The corpus, its labels, and the labelled sentences of each source whose best tree is probable enough."""
    targets, corpus = load_labels(labels), Corpus.load(folder)
    sure = targets.confidence.values >= least_confidence
    sources, first = [], 0
    for name, count in json.loads((folder / SOURCES).read_text()).items():
        places = np.arange(first, min(first + count, len(targets)))
        first += count
        if sure[places].any():
            sources.append(Source(name, 1.0, places[sure[places]]))
    return corpus, targets, sources


def with_shares(sources: list[Source], shares: Mapping[str, float], total: float) -> list[Source]:
    """The sources with the given shares, or else the square roots of their sizes, scaled to sum to the total."""
    given = [shares.get(source.name, math.sqrt(len(source.places))) for source in sources]
    pairs = zip(sources, given, strict=True)
    return [replace(source, share=total * share / sum(given)) for source, share in pairs if share > 0]


def with_gold(
    corpus: Corpus, targets: Targets, gold: Gold, config: Config, vocabularies: Vocabularies, cut_with: str
) -> tuple[Corpus, Targets]:
    """The corpus followed by the treebanks, cut with the same tokenizer. The targets of unlabelled text aren't used."""
    same = replace(vocabularies, pretrained=PretrainedFiles.of(cut_with))
    sentences, beliefs = gold.corpus(config, same)
    missing = len(corpus) - len(targets)
    unlabelled = [targets.ordered(np.zeros(missing, np.int64))] if missing else []
    return Corpus.joined([corpus, sentences]), Targets.joined([targets, *unlabelled, beliefs])


if __name__ == "__main__":
    main()
