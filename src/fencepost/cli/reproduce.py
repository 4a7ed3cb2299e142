"""``fencepost reproduce``: the tables of the paper, on any treebank."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path
from typing import Any, Final

from fencepost.errors import MissingExtraError, UsageError
from fencepost.storage.fingerprint import fingerprint

EXAMPLES = """examples:
  fencepost reproduce table4 --treebank wsj --out results --device cuda --set train.precision=bf16
  fencepost reproduce table4 --treebank wsj --out try --smoke
  fencepost reproduce table3 --treebank wsj --out results --seeds 1,2,3 --tags jackknife
  fencepost reproduce table7 --treebank he=spmrl/he --treebank sv=spmrl/sv --out results
  fencepost reproduce table7 --treebanks spmrl --out results
  fencepost reproduce table7 --treebanks spmrl --only he,sv --out results --device cuda
  fencepost reproduce all --treebank wsj --out results

A treebank is a folder with train, dev and test (.txt or .txt.gz): docs/data.md. Tables that are not about languages
use the first one given. Every row done is in OUT/results.jsonl and not done again; interrupted, the same command goes
on where it was. Models are in OUT/models, by what they were trained on: rows of one model train it once.
"""

LONGEST_NAME: Final = 100


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "reproduce",
        help="run a table of the paper",
        description="Runs the rows of a table and writes OUT/TABLE.md and OUT/TABLE.json, with the published numbers.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("table", metavar="TABLE", help="table1 … table7, speed; several with commas; or all")
    parser.add_argument(
        "--treebank", action="append", default=[], metavar="[NAME=]DIR", help="a folder; may be given again"
    )
    parser.add_argument("--treebanks", metavar="DIR", help="all of DIR/LANGUAGE and DIR/LANGUAGE/NAME")
    parser.add_argument("--only", metavar="NAME,…", help="of these; several processes with one OUT can share the work")
    parser.add_argument("--collect", action="store_true", help="train nothing: the table of what is done already")
    parser.add_argument("--out", required=True, metavar="DIR", help="where results and models go")
    parser.add_argument("--device", default="cpu", help="cpu (default) or cuda")
    parser.add_argument(
        "--jobs", type=int, default=1, metavar="N", help="models trained at a time, each in a process (default: 1)"
    )
    parser.add_argument("--seeds", default="1", metavar="N,…", help="one run for each; mean and deviation (default: 1)")
    parser.add_argument("--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="for all rows")
    parser.add_argument(
        "--tags",
        choices=("gold", "jackknife"),
        default="gold",
        help="what rows with tags read: the treebank's (default), or tags predicted as in the paper (11 taggers)",
    )
    parser.add_argument("--smoke", action="store_true", help="tiny models and few sentences: does it run at all?")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.experiments.tables import load_table, table_names
    from fencepost.storage.folders import require_folder

    if arguments.jobs < 1:
        raise UsageError(f"--jobs {arguments.jobs}: there must be one at least")
    names = table_names() if arguments.table == "all" else list(dict.fromkeys(arguments.table.split(",")))
    tables = [load_table(name) for name in names]
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
        find_device(arguments.device)  # rather than an error a row
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
        sys.stderr.write(f"the table is in {runner.path}.md\n")
    return 1 if failed(outcomes) else 0


def _treebanks(arguments: argparse.Namespace) -> list[tuple[str, Path]]:
    from fencepost.experiments.data import find_treebanks

    found = [_treebank(text) for text in arguments.treebank]
    if arguments.treebanks is not None:
        found += find_treebanks(Path(arguments.treebanks))
    if not found:
        raise UsageError("there is no treebank", hint="--treebank DIR, or --treebanks DIR with DIR/LANGUAGE/train.txt")
    names = [name for name, _ in found]
    if len(set(names)) < len(names):
        twice = max(names, key=names.count)
        raise UsageError(f"two treebanks are called {twice}", hint=f"--treebank {twice}/NAME=DIR tells them apart")
    only = arguments.only.split(",") if arguments.only is not None else names
    for name in only:
        if name not in names:
            raise UsageError(f"there is no treebank called {name}", hint=f"one of {', '.join(names)}")
    return [(name, folder) for name, folder in found if name in only]


def _treebank(text: str) -> tuple[str, Path]:
    name, equals, folder = text.partition("=")
    path = Path(folder if equals else text)
    if not path.is_dir():
        raise UsageError(f"no folder {path}", hint="--treebank DIR, or --treebank LANGUAGE=DIR")
    return (name if equals else "en"), path


def _part(only: str) -> str:
    """Some treebanks in the name of a file, which may have so many letters and no more."""
    names = only.replace("/", "-")
    if len(names) <= LONGEST_NAME:
        return names
    return f"{names[: LONGEST_NAME // 2]}-{fingerprint([only])}"


def _seeds(text: str) -> tuple[int, ...]:
    try:
        return tuple(dict.fromkeys(int(number) for number in text.split(",")))
    except ValueError:
        raise UsageError(f"--seeds {text} are no whole numbers", hint="--seeds 1,2,3") from None


def _command(arguments: argparse.Namespace) -> str:
    words = ["fencepost", "reproduce", arguments.table]
    for treebank in arguments.treebank:
        words += ["--treebank", treebank]
    if arguments.treebanks is not None:
        words += ["--treebanks", arguments.treebanks]
    if arguments.only is not None:
        words += ["--only", arguments.only]
    words += ["--out", str(arguments.out), "--seeds", arguments.seeds, "--tags", arguments.tags]
    if not arguments.collect:  # where nothing runs, a device has no meaning
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
