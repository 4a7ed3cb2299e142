"""``fencepost parse``: turns text into trees, in order, while the text is still being read."""

from __future__ import annotations

import argparse
import glob
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final, TextIO

from fencepost.cli.shared import add_parsing_options, open_output, require_from_one
from fencepost.errors import InputError, UsageError
from fencepost.progress import Progress

if TYPE_CHECKING:
    from fencepost.cli.parse_input import Item, Reading, Source
    from fencepost.cli.parse_output import Writer
    from fencepost.cli.parse_warnings import Watcher
    from fencepost.parsing.confidence import Analysis

EXAMPLES: Final = """\
examples:
  fencepost parse --text "The time for action is now."
  fencepost parse book.txt --format json --probabilities > book.jsonl
  fencepost parse --functions --text "She lives in Rome now."
  fencepost parse book.txt --format html --output book.html
  fencepost parse --tokenized sentences.txt --output trees.txt
  fencepost parse --lines --kbest 5 --format json questions.txt
  zcat corpus.gz | fencepost parse --model my-model --device cuda > trees.txt

Plain text is split into sentences and tokens; an empty line always ends a sentence.
With --lines, --tokenized and --tagged, every input line gives one output line, which is empty if there
is nothing to parse. A line that can't be parsed is reported with its number, and the others are still
parsed (exit status 0) unless --strict is given.
"""
FORMATS: Final = ("brackets", "json", "pretty", "svg", "html")
_PROBLEMS_SHOWN: Final = 10


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "parse",
        help="turn text into trees",
        description="Turn text into trees: one tree per line, JSON Lines, or drawings.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="text files, folders or globs (default: standard input)"
    )
    parser.add_argument("--text", action="append", help="parse this text instead of files")
    reading = parser.add_mutually_exclusive_group()
    reading.add_argument(
        "--tokenized", action="store_true", help="read one sentence per line, tokens separated by spaces"
    )
    reading.add_argument(
        "--tagged",
        action="store_true",
        help="like --tokenized, with tags: The_DT cat_NN sat_VBD ._.; a model that doesn't read tags copies them",
    )
    reading.add_argument("--lines", action="store_true", help="read one sentence per line, not yet tokenized")
    reading.add_argument(
        "--paragraphs", action="store_true", help="read one paragraph per line; no sentence crosses a line end"
    )
    parser.add_argument("--model", help="a model folder, or the name of an installed model (default: en)")
    parser.add_argument(
        "--format", choices=FORMATS, default="brackets", help="output format (default: brackets, one tree per line)"
    )
    parser.add_argument("--kbest", type=int, metavar="K", help="give the K best trees of each sentence (1 to 10,000)")
    parser.add_argument("--probabilities", action="store_true", help="give the probability of each constituent")
    parser.add_argument(
        "--functions", action="store_true", help="give the function of each constituent: NP-SBJ, PP-LOC, …"
    )
    parser.add_argument(
        "--decoding",
        choices=("best", "risk"),
        default="best",
        help="best: the highest score (default); risk: the fewest expected errors",
    )
    parser.add_argument("--output", metavar="PATH", help="write to this file (default: standard output)")
    parser.add_argument("--strict", action="store_true", help="stop at a line that can't be parsed")
    add_parsing_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    _check(arguments)
    from fencepost.cli.parse_analyses import analyze_items
    from fencepost.cli.parse_input import Source, items_of_text
    from fencepost.cli.parse_output import WRITERS
    from fencepost.cli.parse_warnings import Watcher
    from fencepost.features.lexical_kinds import reads
    from fencepost.parsing.load import load
    from fencepost.parsing.workers import Workers
    from fencepost.storage.find_files import find_files, require_other

    reading = _reading(arguments)
    source = Source([] if arguments.text is not None else find_files(arguments.files or ["-"]), reading)
    if arguments.output is not None:
        require_other([arguments.output], source.paths)
    between = "\n\n" if reading == "text" else "\n"
    parser = load(arguments.model, device=arguments.device, precision=arguments.precision)
    source.language = parser.text_language
    if arguments.text is None:
        items = source.items()
    else:
        items = items_of_text(between.join(arguments.text), reading, parser.text_language)
    if reads(parser.config, "tags") and not arguments.tagged:
        raise UsageError(
            f"the model {arguments.model or 'en'} reads tags, and plain text has none",
            hint="--tagged reads sentences with tags; or use a model that doesn't read tags",
        )
    if arguments.functions and parser.vocabularies.functions is None:
        raise UsageError(
            f"the model {arguments.model or 'en'} doesn't predict functions",
            hint="leave out --functions, or use a model that was trained with scorer.functions = true",
        )
    if not arguments.files and arguments.text is None and sys.stdin is not None and sys.stdin.isatty():
        sys.stderr.write("type or paste text; an empty line ends a sentence, Ctrl-D ends the input\n")
    with Workers(parser, arguments.workers) as workers, open_output(arguments.output) as file:
        writer = WRITERS[arguments.format](file)
        try:
            watcher = Watcher(
                parser.vocabularies,
                parser.config.language,
                looks_at_letters=not parser.language_notice.knows_language,
            )
            chunks = analyze_items(parser, workers, items, source.is_waiting, arguments)
            parsed, bad = _write(chunks, source, watcher, writer, file, arguments)
        finally:
            if not isinstance(sys.exc_info()[1], BrokenPipeError):
                writer.finish()
    if bad:
        sys.stderr.write(f"note: found {bad:,} bad line{'s' * (bad > 1)}\n")
    elif not parsed:
        sys.stderr.write("note: the input has nothing to parse\n")
    return 0


def _check(arguments: argparse.Namespace) -> None:
    if arguments.text is not None and arguments.files:
        raise UsageError("--text and files can't be combined", hint="give one or the other")
    for file in arguments.files:
        if " " in file and not glob.has_magic(file) and not os.path.exists(file):
            raise UsageError(f"no such file or folder: {file}", hint="--text parses text from the command line")
    require_from_one(arguments, "kbest", "batch_tokens")
    if arguments.kbest and arguments.decoding == "risk" and arguments.format != "json":
        raise UsageError(
            f"--format {arguments.format} can't show both the trees of --kbest and the tree of --decoding risk",
            hint="use --format json, or leave out one of the two",
        )
    if arguments.probabilities and arguments.format == "brackets":
        sys.stderr.write("warning: brackets can't show probabilities\nhint: use --format json, pretty, svg or html\n")


def _reading(arguments: argparse.Namespace) -> Reading:
    if arguments.tokenized:
        return "tokenized"
    if arguments.tagged:
        return "tagged"
    return "line" if arguments.lines else "paragraph" if arguments.paragraphs else "text"


def _write(
    chunks: Iterable[tuple[list[Item], Iterator[Analysis]]],
    source: Source,
    watcher: Watcher,
    writer: Writer,
    file: TextIO,
    arguments: argparse.Namespace,
) -> tuple[int, int]:
    """Writes a tree for each sentence. Returns the number of sentences with a tree, and that of bad lines."""
    parsed = 0
    total = source.size if source.paths else None
    unit = "sentences" if total is None else "kB"
    hidden = arguments.output is None and sys.stdout.isatty()
    with Progress("parsing", total and total // 1000, unit, hidden=hidden) as bar:
        bad = BadLines(bar, arguments.strict)
        for chunk, analyses in chunks:
            _warn(watcher.look(chunk), bar)
            for item in chunk:
                if item.problem is not None:
                    bad.report(item.problem)
                analysis = next(analyses) if item.parsable else None
                parsed += item.parsable
                if analysis is not None and analysis.too_long:
                    length = f"{len(item.text_sentence.tokens):,} words"
                    _warn([f"a sentence of {length} is too long for probabilities: only its best tree is given"], bar)
                writer.write(item, analysis)
            # Not those of all lines read so far: with --strict, the trees before a bad line are written first.
            bad.report_all(problem for item in chunk for problem in item.text_problems)
            file.flush()
            bar.advance(len(chunk) if total is None else source.bytes_read // 1000 - bar.count)
        bad.report_all(source.text_problems)
        _warn(watcher.finish(), bar)
    return parsed, bad.count


def _warn(warnings: Iterable[str], bar: Progress) -> None:
    for warning in warnings:
        bar.clear()
        sys.stderr.write(f"warning: {warning}\n")


class BadLines:
    """Counts bad lines, and shows the first ones."""

    def __init__(self, bar: Progress, strict: bool) -> None:
        self.bar, self.strict = bar, strict
        self.count = 0

    def report(self, problem: str) -> None:
        if self.strict:
            raise InputError(problem, hint="without --strict, the other lines would still be parsed")
        self.count += 1
        if self.count <= _PROBLEMS_SHOWN:
            _warn([problem], self.bar)
        elif self.count == _PROBLEMS_SHOWN + 1:
            _warn(["further bad lines are counted but not shown"], self.bar)

    def report_all(self, problems: Iterable[str]) -> None:
        for problem in problems:
            self.report(problem)
