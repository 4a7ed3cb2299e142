"""Where the CPU time of ``fencepost corpus`` goes, in one process: what parsing takes, and what is added to it.

    python -m benchmarks.corpus_stages --sentences 4000 --rounds 3

Each round is a process of its own that parses the same documents into Parquet, with default settings and one worker.
Documents have 20 of the built-in sentences, with one new word in fifty. Unlike ``corpus_rate``, this compares times
within one process, so that other work on the machine slows down both sides of the ratio.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from benchmarks.growth import built_in, write_documents

PARSING = ("numbers", "scores and trees", "columns")
ADDED = ("sentences and tokens", "checks", "Parquet", "files", "the rest")
START = ("imports", "the model")


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--sentences", type=int, default=4_000)
    reader.add_argument("--rounds", type=int, default=3)
    reader.add_argument("--input", type=Path, help=argparse.SUPPRESS)  # for the processes of the rounds
    arguments = reader.parse_args()
    if arguments.input:
        print(json.dumps(stages(arguments.input)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        texts = Path(scratch, "texts.jsonl")
        count = write_documents(texts, built_in(), arguments.sentences)
        command = [sys.executable, "-m", "benchmarks.corpus_stages", "--input", str(texts)]
        rounds = [
            json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
            for _ in range(arguments.rounds)
        ]
    print("| stage, microseconds of CPU time per sentence |", *(f"round {n} |" for n in range(1, len(rounds) + 1)))
    print("|---|" + "---|" * len(rounds))
    for name in (*PARSING, *ADDED):
        print(f"| {name} |", *(f"{1e6 * each[name] / count:.1f} |" for each in rounds))
    print("| parsing, of all this |", *(f"{share(each, (*PARSING, *ADDED)):.1%} |" for each in rounds))
    print("| start, CPU-seconds |", *(f"{sum(each[name] for name in START):.2f} |" for each in rounds))
    print("| parsing, of the whole process |", *(f"{share(each, each):.1%} |" for each in rounds))


def share(seconds: dict[str, float], names: Iterable[str]) -> float:
    """The share of parsing in the time of these stages."""
    return sum(seconds[name] for name in PARSING) / sum(seconds[name] for name in names)


def stages(texts: Path) -> dict[str, float]:
    """The CPU-seconds of each stage of a run in this process."""
    from fencepost.backends.onnx import OnnxBackend
    from fencepost.corpus import part_maker, run
    from fencepost.corpus.output_folder import OutputFolder
    from fencepost.corpus.part_maker import PartMaker
    from fencepost.corpus.records import Parquet
    from fencepost.features.indexer import Indexer
    from fencepost.parsing.columns import ParsedColumns

    seconds: dict[str, float] = defaultdict(float, imports=time.process_time())

    def timed(owner: Any, method: str, name: str) -> None:
        setattr(owner, method, _timed(getattr(owner, method), name, seconds))

    timed(OnnxBackend, "launch", "scores and trees")
    timed(Indexer, "batch", "numbers")
    timed(ParsedColumns, "of", "columns")
    timed(PartMaker, "_checked", "checks")
    timed(Parquet, "add", "Parquet")
    timed(Parquet, "finish", "Parquet")
    timed(OutputFolder, "write", "files")
    timed(OutputFolder, "finish", "files")
    timed(part_maker, "load", "the model")
    timed(run.Job, "of", "the model")
    splitting = PartMaker._sentences

    def split(*arguments: Any) -> Iterator[Any]:
        found = splitting(*arguments)
        following = _timed(found.__next__, "sentences and tokens", seconds)
        while True:
            try:
                yield following()
            except StopIteration:
                return

    setattr(PartMaker, "_sentences", split)  # noqa: B010
    with tempfile.TemporaryDirectory() as scratch:
        options = run.Options([str(texts)], Path(scratch, "out"), format="parquet", workers=1)
        run.run_corpus(options, run.Job.of(options))
    seconds["the rest"] = time.process_time() - sum(seconds.values())
    return dict(seconds)


def _timed(function: Callable[..., Any], name: str, seconds: dict[str, float]) -> Callable[..., Any]:
    def call(*arguments: Any, **named: Any) -> Any:
        began = time.process_time()
        try:
            return function(*arguments, **named)
        finally:
            seconds[name] += time.process_time() - began

    return call


if __name__ == "__main__":
    main()
