"""``fencepost search PATTERN FILE…``: Tregex's patterns over trees."""

from __future__ import annotations

import argparse
import glob
import sys
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost.cli.search_notes import explain_no_matches
from fencepost.cli.search_output import FORMATS, Found
from fencepost.cli.shared import add_parsing_options
from fencepost.errors import ExtraTextError, UsageError
from fencepost.storage.folders import require_folder

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
    parsing = parser.add_argument_group("options for --text")
    parsing.add_argument("--model", help="a model folder, or the name of an installed model (default: en)")
    add_parsing_options(parsing)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.search.macros import read_macros
    from fencepost.search.pattern import Pattern

    if arguments.text and arguments.index:
        raise UsageError("--text and --index can't be combined", hint="parse the text to a file first: fencepost parse")
    if not arguments.text and (_given(arguments, "model", "workers", "batch_tokens") or arguments.device != "cpu"):
        problem = "--model, --device, --workers and --batch-tokens are for --text"
        raise UsageError(problem, hint="add --text, or leave them out")
    for file in arguments.files:
        if arguments.text and " " in file and not glob.has_magic(file) and not Path(file).exists():
            hint = "--text says that files are raw text; to search a sentence, pipe it: echo … | fencepost search …"
            raise UsageError(f"no such file or folder: {file}", hint=hint)
    pattern = Pattern(arguments.pattern, read_macros(arguments.macros) if arguments.macros else None)
    if not arguments.files and not arguments.index and sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write(f"type or paste {'text' if arguments.text else 'trees'}; Ctrl-D ends the input\n")
    search = _Search(pattern, arguments)
    try:
        _write(search, arguments)
    except ExtraTextError as error:
        error.hint = "is this a file of trees? --text parses files of raw text first"
        raise
    if not search.found and (note := explain_no_matches(pattern, search.labels)):
        sys.stderr.write(f"{note}\n")
    return 0


def _write(search: _Search, arguments: argparse.Namespace) -> None:
    if arguments.count:
        print(search.count())
        return
    chosen = next((name for name in ("json", "csv", "kwic", "whole") if getattr(arguments, name)), "brackets")
    write = FORMATS[chosen](search.pattern, sys.stdout)
    for found in search.matches():
        write(found)


def _given(arguments: argparse.Namespace, *names: str) -> bool:
    return any(getattr(arguments, name) is not None for name in names)


class _Search:
    """A search through files. Remembers the labels of the trees and whether anything matched."""

    def __init__(self, pattern: Pattern, arguments: argparse.Namespace) -> None:
        self.pattern = pattern
        self.arguments = arguments
        self.labels: Collection[str] = ()
        self.found = False

    def count(self) -> int:
        once = self.arguments.once
        if self.arguments.text:
            number = sum(1 for _ in self.matches())
        else:
            number = sum(index.count(self.pattern, once=once) for index in self._indexes())
        self.found = number > 0
        return number

    def matches(self) -> Iterator[Found]:
        for found in self._in_text() if self.arguments.text else self._in_trees():
            self.found = True
            yield found

    def _in_trees(self) -> Iterator[Found]:
        before = 0
        for index in self._indexes():
            for hit in index.search(self.pattern, once=self.arguments.once):
                file, _ = index.file_of(hit.tree)
                yield Found(before + hit.tree + 1, file, hit.nodes, hit.place)
            before += index.columns.trees

    def _indexes(self) -> Iterator[Index]:
        for index in _indexes(self.arguments):
            self.labels = index.columns.vocabulary  # of all trees so far
            yield index

    def _in_text(self) -> Iterator[Found]:
        from fencepost.cli.parsed_files import read_parsed
        from fencepost.search.nodes import Nodes
        from fencepost.storage.find_files import find_files

        options = argparse.Namespace(**{**vars(self.arguments), "text": None, "input": "text"})
        names = [str(path) for path in find_files(self.arguments.files or ["-"])]
        labels: set[str] = set()
        self.labels = labels
        for number, sentence in enumerate(read_parsed(options, names), 1):
            nodes = Nodes.of(sentence.tree)
            labels.update(nodes.labels)
            for place in self.pattern.places(nodes, once=self.arguments.once):
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
        require_folder(folder.parent)
        sys.stderr.write(f"building {folder}\n")
        Index.read(*arguments.files).save(folder)
    index = Index.open(folder)
    index.require_fresh(arguments.files, folder)
    yield index
