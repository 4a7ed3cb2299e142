"""A server to measure: ``fencepost serve`` as a process, with its CPU time and memory."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import resources


def sentences() -> list[str]:
    """The built-in sentences of ``fencepost bench``: 57 of them, 20 words on average."""
    text = resources.files("fencepost.parsing").joinpath("bench_sentences.txt").read_text("utf-8")
    return text.splitlines()


class Server:
    def __init__(self, *options: str) -> None:
        command = [sys.executable, "-m", "fencepost", "serve", "--port", "0", "--no-access-log", *options]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.url = self.process.stderr.readline().split()[-1]
        self.log: list[str] = []
        threading.Thread(target=self.log.extend, args=(self.process.stderr,), daemon=True).start()
        self.parse("It works.")  # loaded and warm

    def parse(self, text: str) -> object:
        asked = urllib.request.Request(f"{self.url}/v1/parse", json.dumps({"text": text}).encode())
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)

    def figures(self) -> dict[str, float]:
        """What the server has done so far, and the memory that it takes."""
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60) as answer:
            page = answer.read().decode()

        def metric(name: str) -> float:
            return float(re.findall(rf"^{name} (\S+)$", page, flags=re.M)[0])

        return {
            "sentences": metric("fencepost_sentences_total"),
            "batches": metric("fencepost_batches_total"),
            "cpu_seconds": metric("process_cpu_seconds_total"),
            "megabytes": metric("process_resident_memory_bytes") / 1e6,
        }

    @property
    def megabytes(self) -> float:
        return self.figures()["megabytes"]


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    server = Server(*options)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(60)
