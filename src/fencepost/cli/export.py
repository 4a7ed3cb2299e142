"""``fencepost export``: a trained model in, a model folder out that runs without torch."""

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
        help="make a model that runs without torch",
        description="Writes a model folder that runs on the CPU with ONNX Runtime, without torch. "
        "int8 is a third of the size and about twice as fast; measure what it does to the scores.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="a model folder that `fencepost train` wrote")
    parser.add_argument("out", metavar="OUT", help="the model folder to write")
    parser.add_argument("--format", choices=("onnx",), default="onnx", help="onnx (default)")
    parser.add_argument("--precision", choices=("fp32", "int8"), default="fp32", help="fp32 (default) or int8")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        from fencepost.export.onnx import export_onnx
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "onnx", "export", "exporting") from error
    export_onnx(arguments.model, arguments.out, arguments.precision)
    sys.stderr.write(f"the model for ONNX Runtime, in {arguments.precision}, is in {arguments.out}\n")
    return 0
