"""``fencepost corpus --ray`` on a cluster of two worker nodes: one node is killed, then the driver, which starts again.

    python benchmarks/corpus_ray.py --sentences 100000

Prints one line of JSON; the output must be the same bytes as without Ray. All nodes are processes on this machine.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from ray.cluster_utils import Cluster

from corpus_data import differences, lost_and_doubled, machine, parts, start, wait_for_parts, write_documents
from fencepost.export.random_model import write_random_model


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=100_000)
    parser.add_argument("--part-bytes", type=int, default=100_000)
    parser.add_argument("--model", help="default: random weights of the small configuration")
    arguments = parser.parse_args()
    with TemporaryDirectory() as folder:
        print(json.dumps(experiment(Path(folder), arguments.sentences, arguments.part_bytes, arguments.model)))


def experiment(folder: Path, sentences: int, part_bytes: int, model: str | None = None) -> dict[str, Any]:
    if model is None:
        model = str(folder / "model")
        write_random_model("small", Path(model), exported=True)
    documents = write_documents(folder / "in.jsonl", sentences)
    command = [folder / "in.jsonl", "--model", model, "--format", "parquet", "--part-bytes", part_bytes, "--out"]
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
        "sentences": sentences,
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


if __name__ == "__main__":
    main()
