"""What several commands share."""

from __future__ import annotations

import argparse
import sys
from contextlib import AbstractContextManager, nullcontext
from typing import Any, TextIO

from fencepost.errors import UsageError


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
    from fencepost.trees.files import write_atomically

    return nullcontext(sys.stdout) if path is None else write_atomically(path)
