"""Trains a teacher: a large encoder, fine-tuned on the gold trees.

    python models/english/teacher.py --data DATA --encoder MPNET --out TEACHER --steps 9000 --device cuda

prepare.py writes DATA. Sentences are drawn from each treebank in proportion to its size. --share changes that: with
--share craft=7000, CRAFT is drawn from as if it had 7,000 sentences, and every sentence of CRAFT has its turn.
With --start-from, instead of --encoder, training starts from the weights of a model. Teachers that label text together
need the same labels and tags: --labels-of gives a fresh teacher those of a model, followed by new ones of DATA.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import Final

from corpus import Collator
from fit import Fit, Length
from gold import Gold, named_numbers
from mixture import Mixture

from fencepost.backends.torch import find_device
from fencepost.config.settings import Config
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.treebank import Treebank

CONFIG = Path(__file__).with_name("teacher.toml")
OF_ITS_START: Final = "of the model it starts from"  # the encoder that a configuration names if it came with a model


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    start = options.add_mutually_exclusive_group(required=True)
    start.add_argument("--encoder")
    start.add_argument("--start-from", type=Path, metavar="MODEL")
    options.add_argument("--labels-of", type=Path, metavar="MODEL")
    add_run_options(options)
    arguments = options.parse_args()
    config, vocabularies, gold = read(arguments)
    corpus, targets = gold.corpus(config, vocabularies)
    collator = Collator(corpus, vocabularies, plain_quotes=config.plain_quotes)
    sources = gold.sources(named_numbers(arguments.share))
    mixture = Mixture(collator, targets, sources, config.train.batch_size, config.train.seed)
    dev = list(Treebank.load(arguments.data / "dev.txt"))[: arguments.first]
    length = Length(arguments.steps, arguments.minutes)
    folder = None if arguments.start_from is None else ModelFolder.open(arguments.start_from)
    fit = Fit(config, vocabularies, mixture, dev, find_device(arguments.device), length, folder)
    fit.resume(arguments.out)
    fit.run(arguments.out, arguments.checks, arguments.checkpoint_minutes)


def read(arguments: argparse.Namespace) -> tuple[Config, Vocabularies, Gold]:
    encoder = arguments.encoder or OF_ITS_START
    config = Config.load(CONFIG, [f"pretrained.model={encoder}", *arguments.set])
    gold = Gold.load(arguments.data, arguments.first)
    base = arguments.start_from or arguments.labels_of
    if base is None:
        return config, Vocabularies.of(gold.all(), config), gold
    known = ModelFolder.open(base).vocabularies
    vocabularies = Vocabularies.of(gold.all(), config, known)
    files = known.pretrained if arguments.encoder is None else PretrainedFiles.of(arguments.encoder)
    return config, replace(vocabularies, pretrained=files), gold


def add_run_options(options: argparse.ArgumentParser) -> None:
    """Adds the options that teacher.py and student.py share."""
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--device", default="cpu")
    options.add_argument("--steps", type=int)
    options.add_argument("--minutes", type=float)
    options.add_argument("--checks", type=int, default=8, help="how often to parse the development set")
    options.add_argument("--checkpoint-minutes", type=float, help="minutes between two checkpoints")
    options.add_argument("--share", action="append", default=[], metavar="SOURCE=NUMBER")
    options.add_argument("--first", type=int, help="read only the first FIRST trees of each file, for a quick look")
    options.add_argument("--set", action="append", default=[], metavar="KEY=VALUE")


if __name__ == "__main__":
    main()
