"""``fencepost import-benepar``: turns a benepar model into a model folder."""

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
        help="convert a benepar model",
        description="Convert a benepar model to a model folder that gives the same trees. benepar doesn't have to be\n"
        "installed, and no code in the file is run.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("path", metavar="PATH", help="a benepar file, an exported folder, or a zip file of one")
    parser.add_argument("out", metavar="OUT", help="the model folder to write")
    parser.add_argument("--language", default="en", help="language of the model (default: en)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        from fencepost.integrations.benepar import import_benepar
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "pretrained", "importing a benepar model") from error
    import_benepar(arguments.path, arguments.out, arguments.language)
    sys.stderr.write(f"wrote the model to {arguments.out}\n")
    return 0
