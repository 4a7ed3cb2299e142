"""``fencepost tag``: trees in, the same trees with predicted part-of-speech tags out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.cli.shared import warn_of_traces
from fencepost.errors import MissingExtraError, UsageError

if TYPE_CHECKING:
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Treebank

EXAMPLES = """examples:
  fencepost tag model dev.txt test.txt --output tagged.txt
  fencepost tag --jackknife 10 --config tagger train.txt --output train.tagged.txt --device cuda

Training data get their tags by jackknifing: as many taggers as folds, each trained on the other folds. A tagger that
has seen a sentence would tag it better than any sentence to come. Interrupted, the same command goes on.
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "tag",
        help="replace the tags of a treebank by predicted ones",
        description="Writes the trees with the tags that a model with a tag head predicts (scorer.predict_tags).",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="MODEL TREES…; only TREES… with --jackknife: files, folders, globs"
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="where the trees go")
    parser.add_argument("--jackknife", type=int, metavar="K", help="train K taggers, each on all folds but one")
    parser.add_argument("--config", help="configuration of the taggers (default: tagger)")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="override it")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.storage.find_files import require_other
    from fencepost.storage.text_writer import write_atomically
    from fencepost.training.tagging import tag_accuracy
    from fencepost.trees.treebank import Treebank

    _check(arguments)
    paths = arguments.paths if arguments.jackknife is not None else arguments.paths[1:]
    require_other([arguments.output], paths)
    trees = Treebank.load(*paths)
    warn_of_traces(trees)
    tagged = []
    with write_atomically(arguments.output) as file:
        for tree in _jackknife(arguments, trees) if arguments.jackknife is not None else _predict(arguments, trees):
            tagged.append(tree)
            file.write(f"{tree}\n")
    sys.stderr.write(f"{len(trees):,} trees; {tag_accuracy(trees, tagged):.2f}% of the tags are those they had\n")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.jackknife is not None:
        return
    if arguments.config is not None or arguments.set:
        raise UsageError(
            "--config and --set are for taggers to be trained, and the model is trained already",
            hint="--jackknife K trains taggers",
        )
    if len(arguments.paths) == 1:
        raise UsageError("there are no trees to tag", hint="fencepost tag MODEL TREES… --output FILE")


def _predict(arguments: argparse.Namespace, trees: Treebank) -> Iterable[Tree]:
    from fencepost.parsing.load import load
    from fencepost.training.tagging import iter_predict_tags

    return iter_predict_tags(load(arguments.paths[0], device=arguments.device), trees)


def _jackknife(arguments: argparse.Namespace, trees: Treebank) -> Iterable[Tree]:
    from fencepost.config.toml import load_config
    from fencepost.training.tagging import jackknife

    config = load_config(arguments.config or "tagger", arguments.set)
    work = Path(f"{arguments.output}.folds")
    try:
        tagged = jackknife(config, trees, arguments.jackknife, work, arguments.device)
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", "training taggers") from error
    sys.stderr.write(f"the taggers are in {work}, which can go\n")
    return tagged
