"""``fencepost import-benepar``: a model of benepar in, a model folder out."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from fencepost.errors import MissingExtraError

EXAMPLES = """examples:
  fencepost import-benepar benepar_en3 model
  fencepost import-benepar benepar_en3.zip model
  fencepost import-benepar models/charlstm.pt model
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "import-benepar",
        help="turn a benepar model into ours",
        description="Turns a model of benepar into a model folder that gives the same trees. "
        "benepar need not be installed, and nothing in the file is run.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", metavar="PATH", help="a file, an exported folder, or a zip file with one")
    parser.add_argument("out", metavar="OUT", help="the model folder to write")
    parser.add_argument("--language", default="en", help="of the model (default: en)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        from fencepost.integrations.benepar import import_benepar
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", "importing a model of benepar") from error
    import_benepar(arguments.path, arguments.out, arguments.language)
    sys.stderr.write(f"the model is in {arguments.out}\n")
    return 0
