"""What several commands share."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, TextIO

from fencepost.errors import UsageError

if TYPE_CHECKING:
    from fencepost.trees.tree import Tree


def add_parsing_options(parser: Any) -> None:
    """Where and how a model parses."""
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: one a core for many sentences)")
    parser.add_argument("--batch-tokens", type=int, metavar="N", help="tokens in memory at once")


def require_from_one(arguments: argparse.Namespace, *names: str) -> None:
    """Refuses 0 and negative numbers for these options, where they are given."""
    for name in names:
        number = getattr(arguments, name)
        if number is not None and number < 1:
            raise UsageError(f"--{name.replace('_', '-')} takes a number from 1 up, got {number}")


def open_output(path: str | None) -> AbstractContextManager[TextIO]:
    """The file for ``--output``, or standard output."""
    from fencepost.storage.text_writer import write_atomically

    return nullcontext(sys.stdout) if path is None else write_atomically(path)


def warn_of_traces(trees: Iterable[Tree]) -> None:
    """Says so if trees are raw: to a parser, traces are words like others."""
    from fencepost.trees.normalize import TRACE

    count = sum(tree.tags().count(TRACE) for tree in trees)
    if count:
        words = "1 word is a trace" if count == 1 else f"{count:,} words are traces"
        sys.stderr.write(f"warning: {words} ({TRACE})\nhint: `fencepost treebank normalize` takes traces away\n")
