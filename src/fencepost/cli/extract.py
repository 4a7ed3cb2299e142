"""``fencepost extract``: lists the phrases or clauses of texts or trees, with offsets and heads."""

from __future__ import annotations

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from fencepost.cli.parsed_files import add_input_options, file_names, read_parsed
from fencepost.cli.search_notes import explain_no_phrases
from fencepost.errors import UsageError
from fencepost.progress import Progress

if TYPE_CHECKING:
    from fencepost.trees.clauses import Clause
    from fencepost.trees.phrases import Phrase
    from fencepost.trees.tree import Tree

EXAMPLES: Final = """\
examples:
  fencepost extract essay.txt > phrases.csv
  fencepost extract essay.txt --label NP --kind base
  fencepost extract essay.txt --label NP,PP --kind maximal --json
  fencepost extract essay.txt --clauses
  fencepost extract --text "The cat that sat there sleeps." --clauses --json

start and end count tokens in the sentence, start_char and end_char characters in the file. All count from 0,
and the end is the first one after the phrase. For trees, start_char and end_char are empty.
"""
KINDS: Final = ("all", "maximal", "base")


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "extract",
        help="list phrases or clauses with offsets and heads",
        description="List the phrases or clauses of texts or trees, with their offsets and heads.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_input_options(parser)
    parser.add_argument("--label", metavar="LABEL,…", help="only phrases with these labels (default: all labels)")
    parser.add_argument(
        "--kind",
        choices=KINDS,
        default="all",
        help="maximal: not inside another phrase with the same label; base: no such phrase inside (default: all)",
    )
    parser.add_argument("--clauses", action="store_true", help="list finite clauses instead (English)")
    parser.add_argument(
        "--language",
        metavar="CODE",
        default="en",
        help="language of the head rules: de, en (default), es, fr, nl, pt or zh",
    )
    output = parser.add_mutually_exclusive_group()
    output.add_argument("--csv", action="store_true", help="print CSV (default)")
    output.add_argument("--json", action="store_true", help="print JSON Lines")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.trees.clauses import Clause
    from fencepost.trees.head_tables import rules_for
    from fencepost.trees.phrases import Phrase

    if arguments.clauses and (arguments.label or arguments.kind != "all" or arguments.language != "en"):
        raise UsageError("--clauses can't be combined with --label, --kind or --language", hint="give one or the other")
    rules_for(arguments.language)
    names = file_names(arguments)
    fields = [name for name in (Clause if arguments.clauses else Phrase)._fields if name != "tree"]
    columns = ["file", "sentence", *fields]
    writer = None if arguments.json else csv.DictWriter(sys.stdout, columns, extrasaction="ignore", lineterminator="\n")
    if writer is not None:
        writer.writeheader()
    wanted = _labels(arguments)
    labels: set[str] = set()  # of the phrases, until one of them is wanted
    is_found = not wanted
    with Progress("reading", None, "sentences", hidden=sys.stdout.isatty()) as bar:
        for sentence in read_parsed(arguments, names):
            rows = _rows(sentence.tree, arguments)
            is_found = is_found or bool(rows)
            if not is_found:
                labels.update(phrase.label for phrase in sentence.tree.subtrees())
            for found in rows:
                row = {"file": sentence.file, "sentence": sentence.number, **found._asdict()}
                if writer is not None:
                    writer.writerow(row)
                else:
                    print(json.dumps({name: row[name] for name in columns}, ensure_ascii=False))
            bar.advance(1)
    if not is_found:
        sys.stderr.write(f"{explain_no_phrases(wanted, labels)}\n")
    return 0


def _rows(tree: Tree, arguments: argparse.Namespace) -> Sequence[Phrase | Clause]:
    if arguments.clauses:
        return tree.clauses()
    return tree.phrases(*_labels(arguments), kind=arguments.kind, language=arguments.language)


def _labels(arguments: argparse.Namespace) -> list[str]:
    return [label.strip() for label in (arguments.label or "").split(",") if label.strip()]
