"""Counters in Prometheus' text format, summed over the processes of a server.

Each process counts in a file of its own, which is mapped into memory; whichever process is asked reads all of them. A
process that dies leaves its file, so that counters never go back.
"""

from __future__ import annotations

import mmap
import os
import struct
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ENDPOINTS: Final = (
    "parse",
    "corenlp",
    "tregex",
    "search",
    "page",
    "models",
    "labels",
    "health",
    "metrics",
    "docs",
    "other",
)
STATUSES: Final = (200, 206, 304, 307, 400, 401, 404, 405, 408, 413, 415, 416, 422, 429, 499, 500, 501, 503)
SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)  # the buckets of durations
TIMED: Final = ("parse", "corenlp")
_NUMBER: Final = struct.Struct("<d")


def _columns() -> Iterator[tuple[str, str]]:
    """Every number that is counted: the name of its metric, and its labels."""
    for endpoint in ENDPOINTS:
        for status in STATUSES:
            yield "fencepost_requests_total", f'endpoint="{endpoint}",status="{status}"'
    for endpoint in TIMED:
        for bound in (*map(repr, SECONDS), "+Inf"):
            yield "fencepost_request_seconds_bucket", f'endpoint="{endpoint}",le="{bound}"'
        yield "fencepost_request_seconds_sum", f'endpoint="{endpoint}"'
        yield "fencepost_request_seconds_count", f'endpoint="{endpoint}"'
    for name in (*MODEL_COUNTERS, *MODEL_GAUGES, *PROCESS_COUNTERS, *PROCESS_GAUGES):
        yield name, ""


MODEL_COUNTERS: Final = (
    "fencepost_sentences_total",
    "fencepost_words_total",
    "fencepost_batches_total",
    "fencepost_parsing_seconds_total",
)
MODEL_GAUGES: Final = ("fencepost_waiting_requests",)
PROCESS_COUNTERS: Final = ("process_cpu_seconds_total",)
PROCESS_GAUGES: Final = ("process_resident_memory_bytes", "fencepost_processes")
HELP: Final = {
    "fencepost_requests_total": ("counter", "Requests answered, by endpoint and status."),
    "fencepost_request_seconds": ("histogram", "Seconds from a request to the end of its answer."),
    "fencepost_sentences_total": ("counter", "Sentences parsed."),
    "fencepost_words_total": ("counter", "Words parsed."),
    "fencepost_batches_total": ("counter", "Batches of sentences parsed."),
    "fencepost_parsing_seconds_total": ("counter", "Seconds spent parsing."),
    "fencepost_waiting_requests": ("gauge", "Requests that wait for a model now."),
    "process_cpu_seconds_total": ("counter", "CPU seconds of all processes."),
    "process_resident_memory_bytes": ("gauge", "Resident memory of all processes."),
    "fencepost_processes": ("gauge", "Processes that are running."),
}
COLUMNS: Final = tuple(_columns())
_INDEX: Final = {column: index for index, column in enumerate(COLUMNS)}
_SIZE: Final = _NUMBER.size * len(COLUMNS)


class Metrics:
    """The counters of this process. All methods are called from the event loop's thread."""

    def __init__(self, folder: str | Path) -> None:
        self._folder = Path(folder)
        path = self._folder / str(os.getpid())
        path.write_bytes(bytes(_SIZE))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), _SIZE)
        self._numbers = [0.0] * len(COLUMNS)

    def count(self, endpoint: str, status: int, seconds: float) -> None:
        """Counts an answer."""
        known = status if status in STATUSES else 500
        self._add("fencepost_requests_total", f'endpoint="{endpoint}",status="{known}"')
        if endpoint in TIMED:
            label = f'endpoint="{endpoint}"'
            for bound in SECONDS:
                if seconds <= bound:
                    self._add("fencepost_request_seconds_bucket", f'{label},le="{bound!r}"')
            self._add("fencepost_request_seconds_bucket", f'{label},le="+Inf"')
            self._add("fencepost_request_seconds_sum", label, seconds)
            self._add("fencepost_request_seconds_count", label)

    def set(self, name: str, value: float) -> None:
        self._write(_INDEX[name, ""], value)

    def note_process(self) -> None:
        """Updates the figures of this process."""
        self.set("process_cpu_seconds_total", time.process_time())
        self.set("process_resident_memory_bytes", _resident_bytes())
        self.set("fencepost_processes", 1)

    def page(self) -> str:
        """All metrics of all processes."""
        totals = [0.0] * len(COLUMNS)
        for path in sorted(self._folder.iterdir()):
            runs = _is_running(path.name)
            content = path.read_bytes()
            if len(content) != _SIZE:
                continue  # a process that is just starting
            for index, (value,) in enumerate(_NUMBER.iter_unpack(content)):
                if runs or COLUMNS[index][0] not in (*MODEL_GAUGES, *PROCESS_GAUGES):
                    totals[index] += value
        return "".join(_lines(totals))

    def _add(self, name: str, labels: str, amount: float = 1.0) -> None:
        index = _INDEX[name, labels]
        self._write(index, self._numbers[index] + amount)

    def _write(self, index: int, value: float) -> None:
        self._numbers[index] = value
        _NUMBER.pack_into(self._memory, index * _NUMBER.size, value)


def _lines(totals: list[float]) -> Iterator[str]:
    described = ""
    for (name, labels), value in zip(COLUMNS, totals, strict=True):
        family = next(known for known in HELP if name == known or name.startswith(f"{known}_"))
        if family != described:
            described = family
            kind, text = HELP[family]
            yield f"# HELP {family} {text}\n# TYPE {family} {kind}\n"
        if value or family != "fencepost_requests_total":  # most pairs of endpoint and status never occur
            number = str(int(value)) if value.is_integer() else repr(value)
            yield f"{name}{{{labels}}} {number}\n" if labels else f"{name} {number}\n"


def _is_running(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


def _resident_bytes() -> int:
    """Resident memory; 0 where the system doesn't say."""
    try:
        return int(Path("/proc/self/statm").read_text("ascii").split()[1]) * mmap.PAGESIZE
    except OSError:
        return 0
