"""``fencepost train``: trains a model on a treebank."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path
from typing import Any

from fencepost.cli.shared import warn_of_traces

CONFIGURATIONS = "paper, paper-he, paper-pl, paper-sv, pretrained, small, tagger"
EXAMPLES = """examples:
  fencepost train small --train train.txt --dev dev.txt --out model
  fencepost train paper --train wsj/02-21/*.mrg --dev wsj/22 --out model --device cuda --set train.precision=bf16
  fencepost train paper --train train.txt --dev dev.txt --out model --resume
  fencepost train model/config.toml --start-from model --train my-train.txt --dev my-dev.txt --out my-model
  torchrun --nproc-per-node 4 -m fencepost train paper --train train.txt --dev dev.txt --out model --device cuda
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "train",
        help="train a model on a treebank",
        description="Train a model, and keep the version that scores best on the development trees.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("config", metavar="CONFIG", help=f"a TOML file, or one of {CONFIGURATIONS}")
    parser.add_argument("--train", nargs="+", action="extend", required=True, metavar="PATH", help="training trees")
    parser.add_argument("--dev", nargs="+", action="extend", required=True, metavar="PATH", help="development trees")
    parser.add_argument("--out", required=True, metavar="DIR", help="the model folder to write")
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="override settings of CONFIG"
    )
    parser.add_argument(
        "--start-from", metavar="MODEL", help="start from the weights of MODEL; CONFIG should be MODEL/config.toml"
    )
    parser.add_argument("--resume", action="store_true", help="continue from the last checkpoint in DIR")
    parser.add_argument("--device", default="cpu", help="run on cpu (default) or cuda")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.config.settings import Config
    from fencepost.storage.folders import new_folder
    from fencepost.storage.model_files import CHECKPOINT
    from fencepost.training.train import train
    from fencepost.trees.treebank import Treebank

    config = Config.load(arguments.config, arguments.set)
    out = Path(arguments.out)
    writes_messages = os.environ.get("RANK", "0") == "0"  # only the first of the processes that torchrun starts
    with new_folder(out):  # checked before the trees are read, which takes a while
        trees, dev_trees = Treebank.load(*arguments.train), Treebank.load(*arguments.dev)
        if writes_messages:
            warn_of_traces([*trees, *dev_trees])
        try:
            train(
                config,
                trees,
                dev_trees,
                arguments.out,
                resume=arguments.resume,
                device=arguments.device,
                start_from=arguments.start_from,
            )
        except KeyboardInterrupt:
            if (out / CHECKPOINT).exists():
                sys.stderr.write("to continue, repeat the command with --resume\n")
            raise
    if writes_messages:
        sys.stderr.write(f"the best model is in {arguments.out}\n")
    return 0
