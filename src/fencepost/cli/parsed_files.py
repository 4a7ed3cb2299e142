"""Trees for commands that work on trees: read from files of trees, or parsed from files of text."""

from __future__ import annotations

import argparse
import re
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from itertools import chain, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost.cli.shared import add_parsing_options, require_from_one
from fencepost.errors import UsageError

if TYPE_CHECKING:
    from fencepost.parsing.workers import Workers
    from fencepost.storage.text_reader import SourceLine
    from fencepost.text.stream import TextSentence
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Sentence

TEXT_OPTION: Final = "--text"
_TREES: Final = re.compile(r"\s*\(\s*[^\s()]*\s*\(")  # "(TOP (", "( (S", "(S\n  (NP"
_LOOKED_AT: Final = 5  # lines


class ParsedSentence(NamedTuple):
    """A tree and where it comes from. If it was parsed from text, its words know their places in the file."""

    file: str
    number: int  # of the sentence in its file, from 1
    tree: Tree
    probabilities: tuple[float, ...] | None  # of the phrases below the root symbol, if wanted


class _File(NamedTuple):
    name: str
    lines: Iterator[SourceLine]
    is_trees: bool


def add_input_options(parser: Any) -> None:
    """Adds the options for files of text or trees."""
    parser.add_argument(
        "files", nargs="*", metavar="FILE", help="files of text or trees, folders or globs (default: standard input)"
    )
    parser.add_argument(TEXT_OPTION, help="parse this text instead of files")
    parser.add_argument(
        "--input",
        choices=("text", "trees"),
        help="what the files contain (default: trees if a file begins with two opening brackets, else text)",
    )
    parser.add_argument("--model", help="a model folder, or the name of an installed model (default: en)")
    add_parsing_options(parser)


def file_names(arguments: argparse.Namespace) -> list[str]:
    """The names of the files, in the order in which they are read."""
    from fencepost.storage.find_files import find_files

    if arguments.text is not None:
        if arguments.files:
            raise UsageError("--text and files can't be combined", hint="give one or the other")
        return [TEXT_OPTION]
    return [str(path) for path in find_files(arguments.files or ["-"])]


def read_parsed(
    arguments: argparse.Namespace, names: Iterable[str], *, probabilities: bool = False
) -> Iterator[ParsedSentence]:
    """The trees of all files in order. The model is loaded when the first file of text comes."""
    from fencepost.parsing.load import load
    from fencepost.parsing.workers import Workers

    require_from_one(arguments, "workers", "batch_tokens")
    workers: Workers | None = None
    with ExitStack() as stack:
        for is_trees, group in groupby((_open(name, arguments) for name in names), key=lambda file: file.is_trees):
            if is_trees:
                yield from _read(group)
                continue
            if workers is None:
                parser = load(arguments.model, device=arguments.device)
                workers = stack.enter_context(Workers(parser, arguments.workers))
            yield from _parse(group, workers, parser.text_language, arguments.batch_tokens, probabilities)


def _open(name: str, arguments: argparse.Namespace) -> _File:
    from fencepost.storage.text_reader import SourceLine, read_lines

    if name == TEXT_OPTION:
        return _File(name, iter([SourceLine(arguments.text, 1)]), arguments.input == "trees")
    lines = read_lines(Path(name))
    if arguments.input is not None:
        return _File(name, lines, arguments.input == "trees")
    looked_at: list[SourceLine] = []
    for line in lines:
        looked_at.append(line)
        if len(looked_at) >= _LOOKED_AT and "".join(each.text for each in looked_at).strip():
            break
    start = "".join(line.text for line in looked_at)
    return _File(name, chain(looked_at, lines), _TREES.match(start) is not None)


def _read(files: Iterable[_File]) -> Iterator[ParsedSentence]:
    from fencepost.trees.brackets import read_trees

    for file in files:
        for number, tree in enumerate(read_trees(file.lines, file.name), 1):
            yield ParsedSentence(file.name, number, tree, None)


def _parse(
    files: Iterable[_File], workers: Workers, language: str, batch_tokens: int | None, probabilities: bool
) -> Iterator[ParsedSentence]:
    """Parses all files in one stream, so that batches are full even if files are short."""
    from fencepost.text.stream import read_stream

    waiting: deque[tuple[str, int, TextSentence]] = deque()

    def sentences() -> Iterator[Sentence]:
        for file in files:
            for number, text in enumerate(read_stream((line.text for line in file.lines), language=language), 1):
                waiting.append((file.name, number, text))
                yield text.sentence()

    for tree, known in _trees(workers, sentences(), batch_tokens, probabilities):
        name, number, text = waiting.popleft()
        yield ParsedSentence(name, number, tree.placed(text.text, text.tokens, text.offset), known)


def _trees(
    workers: Workers, sentences: Iterable[Sentence], batch_tokens: int | None, probabilities: bool
) -> Iterator[tuple[Tree, tuple[float, ...] | None]]:
    """Trees, with the probabilities of their phrases if these are wanted: they take longer than the trees."""
    if not probabilities:
        for tree, _ in workers.iter_scored(sentences, batch_tokens=batch_tokens):
            yield tree, None
        return
    for analysis in workers.iter_analyze(sentences, k=0, batch_tokens=batch_tokens):
        known = [part.probability for part in analysis.constituents if part.probability is not None]
        yield analysis.tree, None if analysis.too_long else tuple(known)
