"""``fencepost export``: turns a trained model into a model folder that runs without torch."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from fencepost.errors import MissingExtraError

EXAMPLES = """examples:
  fencepost export model model-onnx
  fencepost export model model-int8 --precision int8
  fencepost evaluate model-int8 dev.txt
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "export",
        help="convert a model to run without torch",
        description="Write a model folder that runs on the CPU with ONNX Runtime, without torch. int8 is a third of\n"
        "the size and about twice as fast; run `fencepost evaluate` to see what it does to the scores.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="a model folder written by `fencepost train`")
    parser.add_argument("out", metavar="OUT", help="the model folder to write")
    parser.add_argument(
        "--format", choices=("onnx",), default="onnx", help="format of the exported model (default: onnx)"
    )
    parser.add_argument(
        "--precision", choices=("fp32", "int8"), default="fp32", help="precision of the weights (default: fp32)"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        from fencepost.export.onnx import export_onnx
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "onnx", "export", "exporting") from error
    export_onnx(arguments.model, arguments.out, arguments.precision)
    sys.stderr.write(f"wrote the model for ONNX Runtime, in {arguments.precision}, to {arguments.out}\n")
    return 0
