"""``fencepost reproduce``: runs the tables of the paper on any treebank."""

from __future__ import annotations

import argparse
import shlex
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost.errors import MissingExtraError, UsageError
from fencepost.storage.fingerprint import fingerprint

if TYPE_CHECKING:
    from fencepost.experiments.tables import Table

EXAMPLES = """examples:
  fencepost reproduce table4 --treebank wsj --out results --device cuda --set train.precision=bf16
  fencepost reproduce table4 --treebank wsj --out try --smoke
  fencepost reproduce table3 --treebank wsj --out results --seeds 1,2,3 --tags jackknife
  fencepost reproduce table5 --treebank wsj --out results --seeds 1,2,3 --row LSTM --row "+ factored"
  fencepost reproduce table7 --treebank he=spmrl/he --treebank sv=spmrl/sv --out results
  fencepost reproduce table7 --treebanks spmrl --out results
  fencepost reproduce table7 --treebanks spmrl --only he,sv --out results --device cuda
  fencepost reproduce all --treebank wsj --out results

A treebank is a folder with the files train, dev and test (.txt or .txt.gz); docs/data.md explains how to
make one. Only table7 uses more than the first treebank. Finished rows are kept in OUT/results.jsonl and
never run again: to continue after an interruption, repeat the command. Models are kept in OUT/models; rows that
share a model train it once.
"""

LONGEST_NAME: Final = 100


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "reproduce",
        help="run the experiments in a table of the paper",
        description="Run the rows of a table, and write the results beside the published ones: OUT/TABLE.md and .json.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", metavar="TABLE", help="table1 … table7 or speed, several separated by commas, or all")
    parser.add_argument(
        "--treebank", action="append", default=[], metavar="[NAME=]DIR", help="a treebank; may be repeated"
    )
    parser.add_argument("--treebanks", metavar="DIR", help="use every treebank in DIR/LANGUAGE and DIR/LANGUAGE/NAME")
    parser.add_argument(
        "--only",
        metavar="NAME,…",
        help="run only these treebanks; several processes can share one OUT",
    )
    parser.add_argument(
        "--row", action="append", default=[], metavar="NAME", help="run only this row of the tables; may be repeated"
    )
    parser.add_argument("--collect", action="store_true", help="train nothing; write the table of finished rows")
    parser.add_argument("--out", required=True, metavar="DIR", help="folder for results and models")
    parser.add_argument("--device", default="cpu", help="run on cpu (default) or cuda")
    parser.add_argument(
        "--jobs",
        type=int,
        default=1,
        metavar="N",
        help="train N models at a time, each in its own process (default: 1)",
    )
    parser.add_argument(
        "--seeds", default="1", metavar="N,…", help="run once per seed; give mean and deviation (default: 1)"
    )
    parser.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="change settings of all rows"
    )
    parser.add_argument(
        "--tags",
        choices=("gold", "jackknife"),
        default="gold",
        help="tags for rows that read tags: from the treebank (default), or predicted by 11 taggers as in the paper",
    )
    parser.add_argument(
        "--smoke", action="store_true", help="quick check that everything runs: tiny models, few sentences"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.experiments.tables import load_table, table_names
    from fencepost.storage.folders import require_folder

    if arguments.jobs < 1:
        raise UsageError(f"--jobs must be at least 1, got {arguments.jobs}")
    names = table_names() if arguments.table == "all" else list(dict.fromkeys(arguments.table.split(",")))
    tables = _with_rows([load_table(name) for name in names], arguments.row)
    treebanks = _treebanks(arguments)
    try:
        from fencepost.backends.torch import find_device
        from fencepost.experiments.options import Options
        from fencepost.experiments.runner import Runner, failed
        from fencepost.experiments.side_by_side import run_ahead
        from fencepost.experiments.treebanks import TreebankCache
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", "reproducing tables") from error
    if not arguments.collect:
        find_device(arguments.device)  # one error now rather than one per row
    options = Options(
        out=Path(arguments.out),
        device=arguments.device,
        seeds=_seeds(arguments.seeds),
        settings=tuple(arguments.set),
        tags=arguments.tags,
        smoke=arguments.smoke,
        command=_command(arguments),
        part=_part(arguments.only or ""),
        collect=arguments.collect,
    )
    require_folder(options.out)
    cache = TreebankCache(options)
    runners = [Runner(table, treebanks, options, cache) for table in tables]  # all checked before the first one runs
    if arguments.jobs > 1 and not arguments.collect:
        run_ahead(runners, arguments.jobs)
    outcomes = []
    for runner in runners:
        outcomes += runner.run()
        sys.stderr.write(f"wrote the table to {runner.path}.md\n")
    return 1 if failed(outcomes) else 0


def _treebanks(arguments: argparse.Namespace) -> list[tuple[str, Path]]:
    from fencepost.experiments.data import find_treebanks

    treebanks = [_treebank(text) for text in arguments.treebank]
    if arguments.treebanks is not None:
        treebanks += find_treebanks(Path(arguments.treebanks))
    if not treebanks:
        raise UsageError("no treebank found", hint="--treebank DIR, or --treebanks DIR with DIR/LANGUAGE/train.txt")
    names = [name for name, _ in treebanks]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise UsageError(f"two treebanks are called {twice}", hint=f"--treebank {twice}/NAME=DIR tells them apart")
    only = arguments.only.split(",") if arguments.only is not None else names
    for name in only:
        if name not in names:
            raise UsageError(f"no treebank is called {name}", hint=f"one of {', '.join(names)}")
    return [(name, folder) for name, folder in treebanks if name in only]


def _with_rows(tables: list[Table], names: list[str]) -> list[Table]:
    """The tables with these rows alone; without names, all rows."""
    rows = [row for table in tables for row in table.rows]
    for name in names:
        if all(row.name != name for row in rows):
            known = ", ".join(dict.fromkeys(f'"{row.name}"' for row in rows))
            raise UsageError(f'no row is called "{name}"', hint=f"one of {known}")
    if not names:
        return tables
    wanted = {*names, *(each for row in rows if row.name in names for each in row.best_of)}
    kept = [replace(table, rows=tuple(row for row in table.rows if row.name in wanted)) for table in tables]
    return [table for table in kept if table.rows]


def _treebank(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    path = Path(folder if equals else text)
    if not path.is_dir():
        raise UsageError(f"no folder {path}", hint="--treebank DIR, or --treebank LANGUAGE=DIR")
    return (name if equals else "en"), path


def _part(only: str) -> str:
    """The part of a table's file name that names the treebanks of ``--only``, shortened if it is too long."""
    names = only.replace("/", "-")
    if len(names) <= LONGEST_NAME:
        return names
    return f"{names[: LONGEST_NAME // 2]}-{fingerprint([only])}"


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(number) for number in text.split(",")))
    except ValueError:
        raise UsageError(f"--seeds takes whole numbers, got {text}", hint="--seeds 1,2,3") from None


def _command(arguments: argparse.Namespace) -> str:
    words = ["fencepost", "reproduce", arguments.table]
    for treebank in arguments.treebank:
        words += ["--treebank", treebank]
    if arguments.treebanks is not None:
        words += ["--treebanks", arguments.treebanks]
    if arguments.only is not None:
        words += ["--only", arguments.only]
    for row in arguments.row:
        words += ["--row", row]
    words += ["--out", str(arguments.out), "--seeds", arguments.seeds, "--tags", arguments.tags]
    if not arguments.collect:  # the device doesn't matter if nothing runs
        words += ["--device", arguments.device]
    if arguments.set:
        words += ["--set", *arguments.set]
    if arguments.jobs > 1:
        words += ["--jobs", str(arguments.jobs)]
    if arguments.smoke:
        words.append("--smoke")
    if arguments.collect:
        words.append("--collect")
    return shlex.join(words)
