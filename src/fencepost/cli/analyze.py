"""``fencepost analyze``: a report about a model's errors and attention."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from fencepost.cli.shared import require_from_one
from fencepost.errors import MissingExtraError, UsageError

EXAMPLES = """examples:
  fencepost analyze model dev.txt --out report
  fencepost analyze model dev.txt --out report --sentence 17 --heads 1.3,8.2 --png
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "analyze",
        help="look at a model's errors and attention",
        description="Writes DIR/report.html: errors by label and length, content against position, which heads look "
        "at the start token, how far heads look, and every head on one sentence. The figures are in DIR/report.json.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="a model folder with weights for torch")
    parser.add_argument("trees", nargs="+", metavar="TREES", help="gold trees: files, folders, globs")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for the report")
    parser.add_argument(
        "--sentence", type=int, metavar="N", help="draw the attention on this one (default: a short one)"
    )
    parser.add_argument("--heads", default="", metavar="L.H,…", help="also write pictures of these as SVG: layer.head")
    parser.add_argument("--png", action="store_true", help="also write all pictures as PNG files")
    parser.add_argument(
        "--sentences", type=int, default=200, metavar="N", help="averages over the first N (default: 200)"
    )
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.storage.folders import new_folder
    from fencepost.storage.model_folder import ModelFolder, require_weights
    from fencepost.trees.treebank import Treebank

    heads = _heads(arguments.heads)
    require_from_one(arguments, "sentences")
    with new_folder(arguments.out):
        require_weights(ModelFolder.open(arguments.model))
        try:
            from fencepost.analysis.run import analyze
        except ModuleNotFoundError as error:
            raise MissingExtraError(error.name or "torch", "train", "looking into a model") from error
        path = analyze(
            arguments.model,
            Treebank.load(*arguments.trees),
            Path(arguments.out),
            source=" ".join(arguments.trees),
            sentence=arguments.sentence,
            heads=heads,
            most=arguments.sentences,
            device=arguments.device,
            png=arguments.png,
        )
    sys.stderr.write(f"the report is {path}\n")
    return 0


def _heads(text: str) -> list[tuple[int, int]]:
    try:
        pairs = [tuple(map(int, part.split("."))) for part in text.split(",") if part]
        return [(layer, head) for layer, head in pairs]
    except ValueError:
        raise UsageError(f"--heads {text}: a head is LAYER.HEAD", hint="--heads 1.3,8.2") from None
