"""``fencepost treebank``: inspects and prepares treebanks, raw Penn files included."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost.cli.shared import open_output
from fencepost.errors import InputError
from fencepost.progress import Progress

if TYPE_CHECKING:
    from fencepost.trees.stats import Stats
    from fencepost.trees.tree import Tree

EXAMPLES: Final = """\
examples:
  fencepost treebank stats train.txt dev.txt test.txt
  fencepost treebank stats --json 'corpus/**/*.mrg'
  fencepost treebank normalize wsj/ --output train.txt
  fencepost treebank normalize --unwrap TITLE,HEADING,CAPTION craft.tree.gz
  fencepost treebank normalize --drop CODE,-DFL-,SU masc/*.mrg
  fencepost treebank words dev.txt > sentences.txt
  fencepost treebank split all.txt --ratio 8:1:1 --seed 1 --out data/
  fencepost treebank split corpus/*.mrg --by file --out data/
"""
PATHS_HELP: Final = "files of trees (.gz too), folders or globs; - for standard input"


def add_command(commands: Any) -> None:
    treebank = commands.add_parser(
        "treebank",
        help="inspect and prepare treebanks",
        description="Inspect and prepare treebanks in Penn brackets; a tree may take one line or several.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    actions = treebank.add_subparsers(metavar="stats|normalize|split|words", required=True)

    stats = _add_action(actions, "stats", run_stats, "print sizes, labels, unary chains, depth and repeated trees")
    stats.add_argument("--json", action="store_true", help="print figures and label counts as one JSON object")

    normalize = _add_action(actions, "normalize", run_normalize, "turn raw trees into plain ones, one per line")
    normalize.add_argument("--output", metavar="PATH", help="write to this file; compressed if it ends in .gz")
    normalize.add_argument("--keep-traces", action="store_true", help="keep empty elements (-NONE-)")
    normalize.add_argument("--keep-functions", action="store_true", help="keep function tags (NP-SBJ)")
    normalize.add_argument("--keep-indices", action="store_true", help="keep indices and gapping marks (NP-1, NP=2)")
    normalize.add_argument(
        "--keep-repeats", action="store_true", help="keep a node whose only child has the same label"
    )
    normalize.add_argument(
        "--drop",
        type=_names,
        metavar="LABELS",
        help="remove these nodes and all below them (default: CODE,ID,META,-DFL-)",
    )
    normalize.add_argument(
        "--unwrap", type=_names, default=(), metavar="LABELS", help="remove these nodes and move their children up"
    )

    split = _add_action(actions, "split", run_split, "split trees into train.txt, dev.txt and test.txt")
    split.add_argument("--out", required=True, metavar="DIR", help="folder for the files")
    split.add_argument(
        "--ratio", type=_ratio, default=(8, 1, 1), metavar="A:B:C", help="sizes of the parts (default: 8:1:1)"
    )
    split.add_argument("--seed", type=int, default=1, help="random seed (default: 1)")
    split.add_argument(
        "--by", choices=("tree", "file"), default="tree", help="split by tree (default), or keep files whole"
    )

    words = _add_action(actions, "words", run_words, "print only the words, one sentence per line")
    words.add_argument("--output", metavar="PATH", help="write to this file; compressed if it ends in .gz")
    words.add_argument("--escaped", action="store_true", help="escape brackets as treebanks do: -LRB- for (")


def _add_action(actions: Any, name: str, run: Any, what: str) -> argparse.ArgumentParser:
    parser: argparse.ArgumentParser = actions.add_parser(
        name,
        help=what,
        description=what[0].upper() + what[1:] + ".",
        epilog="examples:\n" + "".join(line + "\n" for line in EXAMPLES.splitlines() if f"treebank {name}" in line),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("paths", nargs="+", metavar="FILE", help=PATHS_HELP)
    parser.set_defaults(run=run)
    return parser


def run_stats(arguments: argparse.Namespace) -> int:
    from fencepost.trees.stats import Stats

    rows = [(path, Stats.of(_trees([path], "reading"))) for path in arguments.paths]
    total = sum((stats for _, stats in rows), start=Stats())
    if arguments.json:
        sys.stdout.write(_stats_json(rows, total))
    else:
        sys.stdout.write(_stats_table([*rows, ("total", total)] if len(rows) > 1 else rows))
    return 0


def run_normalize(arguments: argparse.Namespace) -> int:
    from fencepost.trees.brackets import DEFAULT_ROOT
    from fencepost.trees.normalize import NOT_LANGUAGE, TRACE, Normalization, normalize

    choices = Normalization(
        keep_traces=arguments.keep_traces,
        keep_functions=arguments.keep_functions,
        keep_indices=arguments.keep_indices,
        keep_repeats=arguments.keep_repeats,
        drop=NOT_LANGUAGE if arguments.drop is None else arguments.drop,
        unwrap=arguments.unwrap,
    )
    empty = dropped = 0
    trees = _trees(arguments.paths, "normalizing", arguments.output, unlabelled=DEFAULT_ROOT)
    with open_output(arguments.output) as file:
        for raw in trees:
            tree = normalize(raw, choices)
            dropped += sum(tag != TRACE for tag in raw.tags())
            if tree is None:
                empty += 1
            else:
                dropped -= sum(tag != TRACE for tag in tree.tags())
                file.write(f"{tree}\n")
    if dropped:
        labels = ", ".join(choices.drop)
        sys.stderr.write(f"note: words dropped under {labels}: {dropped:,}; --drop changes these labels\n")
    if empty:
        sys.stderr.write(f"note: trees skipped because no words were left: {empty:,}\n")
    return 0


def run_words(arguments: argparse.Namespace) -> int:
    from fencepost.storage.find_files import require_other
    from fencepost.trees.normalize import TRACE
    from fencepost.trees.tree import escape

    if arguments.output:
        require_other([arguments.output], arguments.paths)
    trees = _trees(arguments.paths, "reading", arguments.output)
    with open_output(arguments.output) as file:
        for tree in trees:
            words = [leaf.word for leaf in tree.leaves() if leaf.tag != TRACE]
            file.write(" ".join(map(escape, words) if arguments.escaped else words) + "\n")
    return 0


def run_split(arguments: argparse.Namespace) -> int:
    from fencepost.storage.find_files import find_files, require_other
    from fencepost.trees.split import part_files, split, split_trees, write_parts
    from fencepost.trees.treebank import Treebank

    require_other(part_files(Path(arguments.out), arguments.ratio), arguments.paths)
    if arguments.by == "file":
        banks = split([Treebank.load(path) for path in find_files(arguments.paths)], arguments.ratio, arguments.seed)
    else:
        banks = split_trees(Treebank.load(*arguments.paths), arguments.ratio, arguments.seed)
    write_parts(banks, Path(arguments.out))
    sys.stderr.write(f"{', '.join(f'{len(bank):,}' for bank in banks)} trees in {arguments.out}\n")
    return 0


def _trees(paths: list[str], what: str, output: str | None = "", unlabelled: str | None = None) -> Iterator[Tree]:
    """Streams trees with a progress line, unless that would mix with output on the same terminal.

    The list of files is made right away: an output file in the same folder must not become an input.
    """
    from fencepost.storage.find_files import find_files

    files = find_files(paths)
    bar = Progress(what, unit="trees", hidden=output is None and sys.stdout.isatty())
    return _stream(files, bar, unlabelled, ", ".join(paths))


def _stream(files: list[Path], progress: Progress, unlabelled: str | None, source: str) -> Iterator[Tree]:
    from fencepost.trees.treebank import iter_trees

    with progress as bar:
        for tree in iter_trees(*files, unlabelled=unlabelled):
            yield tree
            bar.advance()
    if not bar.count:
        raise InputError("there are no trees", source=source)


def _stats_json(rows: list[tuple[str, Stats]], total: Stats) -> str:
    import json

    def everything(stats: Stats) -> dict[str, object]:
        counts = {"label_counts": dict(stats.labels.most_common()), "tag_counts": dict(stats.tags.most_common())}
        return {**stats.figures(), **counts}

    answer = {"files": {path: everything(stats) for path, stats in rows}, "total": everything(total)}
    return json.dumps(answer, ensure_ascii=False, indent=2) + "\n"


def _stats_table(rows: list[tuple[str, Stats]]) -> str:
    figures = [(name, stats.figures()) for name, stats in rows]
    columns = list(figures[0][1])
    cells = [["", *(column.replace("_", " ") for column in columns)]]
    cells += [[name, *(f"{row[column]:,}" for column in columns)] for name, row in figures]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        [line[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(line[1:], widths[1:], strict=True))]
        for line in cells
    )
    return "".join("  ".join(line) + "\n" for line in lines)


def _names(text: str) -> tuple[str, ...]:
    return tuple(name for name in text.split(",") if name)


def _ratio(text: str) -> tuple[float, ...]:
    try:
        return tuple(float(share) for share in text.split(":"))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a ratio such as 8:1:1") from None
