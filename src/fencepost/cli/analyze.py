"""``fencepost analyze``: a report on a model's errors and attention."""

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
        help="report a model's errors and what its attention does",
        description="Write a report on a model to DIR/report.html, and its figures to DIR/report.json. It shows\n"
        "errors by label and length, how much attention relies on content and on position, which heads\n"
        "attend to the start token, how far heads look, and every head on one sentence.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="a model folder, or the name of an installed model")
    parser.add_argument("trees", nargs="+", metavar="TREES", help="gold trees: files, folders or globs")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder to write the report to")
    parser.add_argument(
        "--sentence", type=int, metavar="N", help="draw attention on the Nth sentence (default: a short one)"
    )
    parser.add_argument("--heads", default="", metavar="L.H,…", help="also draw these heads (layer.head) as SVG files")
    parser.add_argument("--png", action="store_true", help="also write every picture as a PNG file")
    parser.add_argument(
        "--sentences", type=int, default=200, metavar="N", help="average over the first N sentences (default: 200)"
    )
    parser.add_argument("--device", default="cpu", help="run on cpu (default) or cuda")
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
            raise MissingExtraError(error.name or "torch", "train", "analyzing a model") from error
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
    sys.stderr.write(f"wrote the report to {path}\n")
    return 0


def _heads(text: str) -> list[tuple[int, int]]:
    try:
        pairs = [tuple(map(int, part.split("."))) for part in text.split(",") if part]
        return [(layer, head) for layer, head in pairs]
    except ValueError:
        raise UsageError(f"--heads {text}: a head is written LAYER.HEAD", hint="--heads 1.3,8.2") from None
