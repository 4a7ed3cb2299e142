"""Options, checks and warnings shared by several commands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from fencepost.errors import UsageError

if TYPE_CHECKING:
    from fencepost.trees.tree import Tree


def add_device_options(parser: Any) -> None:
    """Adds the options for what a model runs on."""
    parser.add_argument("--device", default="cpu", help="run on cpu (default) or cuda")
    parser.add_argument(
        "--precision",
        choices=("fp32", "bf16"),
        default="fp32",
        help="bf16 is faster on a GPU, but a few trees may differ (default: fp32)",
    )


def add_parsing_options(parser: Any) -> None:
    """Adds the options for where and how a model parses."""
    add_device_options(parser)
    parser.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="parse in N processes (default: one per core if there are many sentences)",
    )
    parser.add_argument("--batch-tokens", type=int, metavar="N", help="tokens per batch; fewer need less memory")


def require_from_one(arguments: argparse.Namespace, *names: str) -> None:
    """Raises UsageError if one of these options is less than 1."""
    for name in names:
        number = getattr(arguments, name)
        if number is not None and number < 1:
            raise UsageError(f"--{name.replace('_', '-')} must be at least 1, got {number}")


def open_output(path: str | None) -> AbstractContextManager[TextIO]:
    """The file for ``--output``, or standard output."""
    from fencepost.storage.text_writer import write_atomically

    return nullcontext(sys.stdout) if path is None else write_atomically(path)


def warn_of_traces(trees: Iterable[Tree]) -> None:
    """Warns about traces in raw trees: a parser would treat them as words."""
    from fencepost.trees.normalize import TRACE

    count = sum(tree.tags().count(TRACE) for tree in trees)
    if count:
        words = "1 word is a trace" if count == 1 else f"{count:,} words are traces"
        sys.stderr.write(f"warning: {words} ({TRACE})\nhint: `fencepost treebank normalize` removes traces\n")
