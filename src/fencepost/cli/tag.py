"""``fencepost tag``: replaces the part-of-speech tags of a treebank with predicted ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fencepost.cli.shared import warn_of_traces
from fencepost.errors import UsageError

if TYPE_CHECKING:
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Treebank

EXAMPLES = """examples:
  fencepost tag model dev.txt test.txt --output tagged.txt
  fencepost tag --jackknife 10 --config tagger train.txt --output train.tagged.txt --device cuda

Tag training data by jackknifing: each of K taggers is trained on all folds but one, and tags the fold that
it hasn't seen. A single tagger would do better on the sentences it was trained on than on new ones. To
continue after an interruption, repeat the command.
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "tag",
        help="replace the tags of a treebank with predicted ones",
        description="Write trees with predicted tags. The model must predict tags (scorer.predict_tags).",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="MODEL TREES…, or only TREES… with --jackknife; files, folders or globs",
    )
    parser.add_argument("--output", required=True, metavar="FILE", help="write the trees to this file")
    parser.add_argument("--jackknife", type=int, metavar="K", help="train K taggers, each on all but one of K folds")
    parser.add_argument("--config", help="configuration of the taggers (default: tagger)")
    parser.add_argument(
        "--set",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="override settings of the configuration",
    )
    parser.add_argument("--device", default="cpu", help="run on cpu (default) or cuda")
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
    sys.stderr.write(f"{len(trees):,} trees tagged; {tag_accuracy(trees, tagged):.2f}% of the tags are unchanged\n")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.jackknife is not None:
        return
    if arguments.config is not None or arguments.set:
        raise UsageError(
            "--config and --set need --jackknife: they configure the training of taggers",
            hint="leave them out, or train taggers with --jackknife K",
        )
    if len(arguments.paths) == 1:
        raise UsageError("no trees to tag", hint="fencepost tag MODEL TREES… --output FILE")


def _predict(arguments: argparse.Namespace, trees: Treebank) -> Iterable[Tree]:
    from fencepost.parsing.load import load
    from fencepost.training.tagging import iter_predict_tags

    return iter_predict_tags(load(arguments.paths[0], device=arguments.device), trees)


def _jackknife(arguments: argparse.Namespace, trees: Treebank) -> Iterable[Tree]:
    from fencepost.config.toml import load_config
    from fencepost.training.tagging import jackknife

    config = load_config(arguments.config or "tagger", arguments.set)
    work = Path(f"{arguments.output}.folds")
    tagged = jackknife(config, trees, arguments.jackknife, work, arguments.device)
    sys.stderr.write(f"the taggers are in {work}, which can be deleted\n")
    return tagged
