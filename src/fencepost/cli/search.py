"""``fencepost search PATTERN FILE…``: Tregex's patterns over trees."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost.cli.search_output import FORMATS, Found
from fencepost.errors import UsageError

if TYPE_CHECKING:
    from fencepost.search.index import Index
    from fencepost.search.pattern import Pattern

EXAMPLES: Final = """\
examples:
  fencepost search 'NP < (PP < IN)' trees.txt
  fencepost search 'NP=np < (PP=pp < (IN < of))' corpus/ --json
  fencepost search 'S < NP=subject < VP=predicate' trees.txt --csv
  fencepost search 'VP <# VBD' trees.txt --count --once
  fencepost search 'SBAR < (IN < that)' trees.txt --kwic
  fencepost search 'NP < CC' essay.txt --text
  fencepost search 'NP < CC' 'corpus/*.mrg.gz' --index corpus.index
  fencepost search 'NP $++ VP' --index corpus.index

Each line has the number of a tree, counted from 1 through all files, and the part that matches. A node is
printed once for each way in which it matches, or only once with --once. With --index, a missing index is
built first; an index of files that have changed is refused. docs/search.md explains the patterns.
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "search",
        help="find patterns in trees, as Tregex does",
        description="Find patterns in trees, in the language of Stanford's Tregex.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pattern", metavar="PATTERN", help="a pattern, such as 'NP < PP'")
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files of trees (.gz too), folders or globs (default: standard input)"
    )
    parser.add_argument("--once", action="store_true", help="report each node once, however many ways it matches")
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--count", action="store_true", help="print only the number of matches")
    output.add_argument("--json", action="store_true", help="JSON Lines with names, spans and file")
    output.add_argument("--csv", action="store_true", help="CSV with spans, and columns for each name")
    output.add_argument("--kwic", action="store_true", help="the words that match, with those before and after them")
    output.add_argument("--whole", action="store_true", help="print whole trees, with the match highlighted")
    parser.add_argument("--index", metavar="DIR", help="search this index of the files; build it if it is missing")
    parser.add_argument(
        "--macros", metavar="PATH", help="file of macros; each line is a name, a tab and its replacement"
    )
    parser.add_argument("--text", action="store_true", help="the files are raw text: parse them first")
    parser.add_argument("--model", help="with --text, a model folder or the name of an installed model (default: en)")
    parser.add_argument("--device", default="cpu", help="with --text, parse on cpu (default) or cuda")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.search.macros import read_macros
    from fencepost.search.pattern import Pattern

    if arguments.text and arguments.index:
        raise UsageError("--text and --index can't be combined", hint="parse the text to a file first: fencepost parse")
    if (arguments.model or arguments.device != "cpu") and not arguments.text:
        raise UsageError("--model and --device are for --text", hint="add --text, or leave them out")
    pattern = Pattern(arguments.pattern, read_macros(arguments.macros) if arguments.macros else None)
    if arguments.count:
        print(_count(arguments, pattern))
        return 0
    chosen = next((name for name in ("json", "csv", "kwic", "whole") if getattr(arguments, name)), "brackets")
    write = FORMATS[chosen](pattern, sys.stdout)
    for found in _found(arguments, pattern):
        write(found)
    return 0


def _count(arguments: argparse.Namespace, pattern: Pattern) -> int:
    if arguments.text:
        return sum(1 for _ in _found(arguments, pattern))
    return sum(index.count(pattern, once=arguments.once) for index in _indexes(arguments))


def _found(arguments: argparse.Namespace, pattern: Pattern) -> Iterator[Found]:
    if arguments.text:
        yield from _found_in_text(arguments, pattern)
        return
    before = 0
    for index in _indexes(arguments):
        for hit in index.search(pattern, once=arguments.once):
            file, _ = index.file_of(hit.tree)
            yield Found(before + hit.tree + 1, file, hit.nodes, hit.place)
        before += index.columns.trees


def _found_in_text(arguments: argparse.Namespace, pattern: Pattern) -> Iterator[Found]:
    from fencepost.cli.parsed_files import read_parsed
    from fencepost.search.nodes import Nodes
    from fencepost.storage.find_files import find_files

    options = argparse.Namespace(text=None, input="text", model=arguments.model, device=arguments.device)
    names = [str(path) for path in find_files(arguments.files or ["-"])]
    for number, sentence in enumerate(read_parsed(options, names), 1):
        nodes = Nodes.of(sentence.tree)
        for place in pattern.places(nodes, once=arguments.once):
            yield Found(number, sentence.file, nodes, place, sentence.tree.leaves())


def _indexes(arguments: argparse.Namespace) -> Iterator[Index]:
    """The trees to search: a saved index, or the files some megabytes at a time."""
    from fencepost.search.index import Index

    if not arguments.index:
        yield from Index.stream(*(arguments.files or ["-"]))
        return
    folder = Path(arguments.index)
    if not folder.exists():
        if not arguments.files:
            raise UsageError(f"{folder} doesn't exist", hint="give the files to build it from")
        sys.stderr.write(f"building {folder}\n")
        Index.read(*arguments.files).save(folder)
    index = Index.open(folder)
    index.require_fresh(arguments.files, folder)
    yield index
