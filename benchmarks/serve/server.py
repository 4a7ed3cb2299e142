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

    def metric(self, name: str) -> float:
        with urllib.request.urlopen(f"{self.url}/metrics", timeout=60) as answer:
            page = answer.read().decode()
        return sum(float(value) for value in re.findall(rf"^{re.escape(name)}(?:{{[^}}]*}})? (\S+)$", page, flags=re.M))

    @property
    def cpu_seconds(self) -> float:
        return self.metric("process_cpu_seconds_total")

    @property
    def megabytes(self) -> float:
        return self.metric("process_resident_memory_bytes") / 1e6

    @property
    def sentences(self) -> float:
        return self.metric("fencepost_sentences_total")

    @property
    def batches(self) -> float:
        return self.metric("fencepost_batches_total")


@contextmanager
def serving(*options: str) -> Iterator[Server]:
    server = Server(*options)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.wait(60)
