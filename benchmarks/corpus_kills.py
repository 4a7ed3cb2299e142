"""Kills ``fencepost corpus`` at random moments with kill -9, starts it again, and compares the output with a whole run.

    python benchmarks/corpus_kills.py --kills 60 --workers 2 --format parquet

Prints one line of JSON. A run that is complete before the last kill is checked, and another one begins.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from corpus_data import differences, lost_and_doubled, machine, parts, start, write_documents
from fencepost.export.random_model import write_random_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--format", choices=("jsonl", "parquet"), default="parquet")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(experiment(Path(folder), arguments)))


def experiment(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    write_random_model("small", folder / "model", exported=True)
    documents = write_documents(folder / "in.jsonl", arguments.sentences)
    command = [folder / "in.jsonl", "--model", folder / "model", "--format", arguments.format]
    command += ["--workers", arguments.workers, "--part-bytes", 20_000, "--out"]
    expected, out = folder / "expected", folder / "out"
    began = time.perf_counter()
    assert start([*command, expected]).wait() == 0
    seconds = time.perf_counter() - began
    moments, moment = random.Random(arguments.seed), 0.0
    kills, runs, during = 0, 0, {"before the first part": 0, "later": 0}
    while kills < arguments.kills or out.exists():
        process = start([*command, out])
        moment = moments.uniform(0.0, seconds / 3) if kills < arguments.kills else 600.0
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            kills += 1
            done = parts(out)
            during["before the first part" if not done else "later"] += 1
            continue
        assert process.returncode == 0
        runs += 1
        different, (lost, doubled) = differences(out, expected), lost_and_doubled(out, documents)
        assert (different, lost, doubled) == ([], 0, 0), (different, lost, doubled)
        shutil.rmtree(out)
    return {
        "kills": kills,
        "killed when": during,
        "complete runs": runs,
        "documents lost": 0,
        "documents doubled": 0,
        "files that differ": 0,
        "sentences": arguments.sentences,
        "documents": documents,
        "parts": parts(expected),
        "seconds of a whole run": round(seconds, 1),
        "workers": arguments.workers,
        "format": arguments.format,
        "machine": machine(),
    }


if __name__ == "__main__":
    main()
