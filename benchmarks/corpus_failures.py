"""Breaks ``fencepost corpus`` on purpose, starts it again, and compares the output with that of a run left in peace.

    python benchmarks/corpus_failures.py kills --kills 60 --sentences 20000 --part-bytes 20000
    python benchmarks/corpus_failures.py ray --sentences 100000 --part-bytes 100000

Prints one line of JSON. Ray's nodes are processes on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fencepost.parsing.timing import bench_sentences


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--kills", type=int, default=60)
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--part-bytes", type=int, default=20_000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--format", choices=("jsonl", "parquet"), default="parquet")
    parser.add_argument("--model", help="default: random weights of the small configuration")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(EXPERIMENTS[arguments.experiment](Path(folder), arguments)))


def settings(folder: Path, arguments: argparse.Namespace) -> list[object]:
    """The options of the command that all runs of an experiment share."""
    model = arguments.model
    if model is None:
        from fencepost.export.random_model import write_random_model

        model = str(folder / "model")
        write_random_model("small", Path(model), exported=True)
    return ["--model", model, "--format", arguments.format, "--part-bytes", arguments.part_bytes]


def kills(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """Kills a run at random moments, again and again. A complete run is checked, and another one begins."""
    documents = write_documents(folder / "in.jsonl", arguments.sentences)
    command = [folder / "in.jsonl", *settings(folder, arguments), "--workers", arguments.workers, "--out"]
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


def ray(folder: Path, arguments: argparse.Namespace) -> dict[str, Any]:
    """A cluster of two worker nodes: one node is killed, then the driver, and the same command starts again."""
    from ray.cluster_utils import Cluster

    documents = write_documents(folder / "in.jsonl", arguments.sentences)
    command = [folder / "in.jsonl", *settings(folder, arguments), "--out"]
    expected, out, log = folder / "expected", folder / "out", folder / "log"
    seconds = {"without Ray": _finish(start([*command, expected]), log)}
    total = parts(expected)
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        nodes = [cluster.add_node(num_cpus=1) for _ in range(2)]
        cluster.wait_for_nodes()
        on_ray = [*command, out, "--ray", cluster.address]
        driver = start(on_ray, log)
        wait_for_parts(out, total // 4, driver)
        cluster.remove_node(nodes[0], allow_graceful=False)
        at_node_kill = parts(out)
        wait_for_parts(out, total // 2, driver)
        assert driver.poll() is None, log.read_text()
        os.killpg(driver.pid, signal.SIGKILL)
        driver.wait()
        at_driver_kill = parts(out)
        seconds["on Ray, after the driver was killed"] = _finish(start(on_ray, log), log)
    finally:
        cluster.shutdown()
    lost, doubled = lost_and_doubled(out, documents)
    return {
        "sentences": arguments.sentences,
        "documents": documents,
        "parts": total,
        "parts when a node was killed": at_node_kill,
        "parts when the driver was killed": at_driver_kill,
        "documents lost": lost,
        "documents doubled": doubled,
        "files that differ": differences(out, expected),
        "seconds": {name: round(value, 1) for name, value in seconds.items()},
        "machine": machine(),
    }


def _finish(process: Any, log: Path) -> float:
    began = time.perf_counter()
    assert process.wait() == 0, log.read_text() if log.exists() else process.returncode
    return time.perf_counter() - began


def write_documents(path: Path, sentences: int, *, longest: int = 20) -> int:
    """Writes documents of 1 to ``longest`` sentences as JSON Lines, and returns how many there are."""
    choose, texts = random.Random(0), [" ".join(words) for words in bench_sentences()]
    documents = 0
    with path.open("w", encoding="utf-8") as file:
        while sentences > 0:
            size = min(choose.randint(1, longest), sentences)
            text = " ".join(choose.choice(texts) for _ in range(size))
            file.write(json.dumps({"id": f"document {documents}", "text": text}) + "\n")
            sentences -= size
            documents += 1
    return documents


def start(arguments: list[object], log: Path | None = None) -> subprocess.Popen[bytes]:
    """``fencepost corpus`` with these arguments, in a process group of its own."""
    errors = subprocess.DEVNULL if log is None else log.open("ab")
    command = [sys.executable, "-m", "fencepost", "corpus", *map(str, arguments)]
    return subprocess.Popen(command, stdout=errors, stderr=errors, start_new_session=True)


def parts(folder: Path) -> int:
    return len(list(folder.glob("part-*")))


def wait_for_parts(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Waits until there are this many parts, or the process ends."""
    while parts(folder) < count and process.poll() is None:
        time.sleep(0.02)


def differences(folder: Path, expected: Path) -> list[str]:
    """The files that aren't the same in two folders."""
    names = {str(path.relative_to(root)) for root in (folder, expected) for path in root.rglob("*") if path.is_file()}
    return sorted(name for name in names if _content(folder / name) != _content(expected / name))


def lost_and_doubled(folder: Path, documents: int) -> tuple[int, int]:
    """How many documents aren't in the output, and how many are in it more than once."""
    seen = Counter(_first_sentences(folder))
    expected = {f"document {number}" for number in range(documents)}
    return len(expected - set(seen)), sum(1 for count in seen.values() if count > 1)


def _first_sentences(folder: Path) -> Iterator[str]:
    """The ids of the documents whose first sentence is in the output."""
    for path in sorted(folder.glob("part-*")):
        if path.suffix == ".parquet":
            import pyarrow.parquet

            rows = pyarrow.parquet.read_table(path, columns=["id", "sentence"]).to_pylist()
        else:
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        yield from (row["id"] for row in rows if row["sentence"] == 0)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def machine() -> str:
    return f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {sys.platform}"


EXPERIMENTS = {"kills": kills, "ray": ray}

if __name__ == "__main__":
    main()
