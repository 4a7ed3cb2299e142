"""Trains a teacher: a large encoder, fine-tuned on the gold trees.

    python models/english/teacher.py --data DATA --encoder MPNET --out TEACHER --steps 9000 --device cuda

prepare.py writes DATA. Sentences are drawn from each treebank in proportion to its size. --share changes that: with
--share craft=7000, CRAFT is drawn from as if it had 7,000 sentences, and every sentence of CRAFT has its turn.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from corpus import Collator
from fit import Fit, Length
from gold import Gold, named_numbers
from mixture import Mixture

from fencepost.backends.torch import find_device
from fencepost.config.settings import Config
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.treebank import Treebank

CONFIG = Path(__file__).with_name("teacher.toml")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--data", type=Path, required=True)
    options.add_argument("--encoder", required=True)
    add_run_options(options)
    arguments = options.parse_args()
    config = Config.load(CONFIG, [f"pretrained.model={arguments.encoder}", *arguments.set])
    gold = Gold.load(arguments.data, arguments.first)
    vocabularies = Vocabularies.of(gold.all(), config)
    corpus, targets = gold.corpus(config, vocabularies)
    collator = Collator(corpus, vocabularies, plain_quotes=config.plain_quotes)
    sources = gold.sources(named_numbers(arguments.share))
    mixture = Mixture(collator, targets, sources, config.train.batch_size, config.train.seed)
    dev = list(Treebank.load(arguments.data / "dev.txt"))[: arguments.first]
    length = Length(arguments.steps, arguments.minutes)
    fit = Fit(config, vocabularies, mixture, dev, find_device(arguments.device), length)
    fit.resume(arguments.out)
    fit.run(arguments.out, arguments.checks, arguments.checkpoint_minutes)


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
