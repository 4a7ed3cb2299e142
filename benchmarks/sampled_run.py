"""Runs a command and writes down, every second, how much memory its processes have and how far it is.

Samples are on the disk as soon as they are taken, so a run that is stopped, or whose machine goes away, keeps them.
Linux only: the figures come from /proc.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import Any, BinaryIO

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass
class Usage:
    """What a process uses."""

    cpu_seconds: float  # also of its children that have ended
    mb: float
    peak_mb: float


def run_and_sample(
    command: Sequence[object],
    results: Path,
    label: dict[str, Any],
    progress: Callable[[], int],
    *,
    every: float,
    most_seconds: float,
    stdout: int = subprocess.DEVNULL,
    read: Callable[[BinaryIO], None] | None = None,
) -> bool:
    """Appends samples to ``results``, each with ``label``. True if the command has ended; False after ``most_seconds``.

    The last line has what the whole run took. ``progress`` is the number of sentences so far. ``read`` reads the output
    of the command in a thread.
    """
    signal.signal(signal.SIGTERM, _exit)  # time limits send it
    began, before = time.monotonic(), _children_seconds()
    process = subprocess.Popen(list(map(str, command)), stdout=stdout)
    reader = Thread(target=read, args=(process.stdout,), daemon=True) if read is not None else None
    if reader is not None:
        reader.start()
    try:
        with results.open("a") as file:
            while process.poll() is None:
                seconds = time.monotonic() - began
                if seconds > most_seconds:
                    return False
                if sample := _sample(process.pid):
                    line = {"question": "sample", **label, "seconds": round(seconds, 2), "sentences": progress()}
                    file.write(json.dumps(line | sample) + "\n")
                    file.flush()
                _wait(process, every)
    finally:
        _stop(process)
        if reader is not None:
            reader.join()
        took = {"seconds": round(time.monotonic() - began, 2), "cpu_seconds": round(_children_seconds() - before, 2)}
        with results.open("a") as file:
            file.write(json.dumps({"question": "session", **label, **took}) + "\n")
    if process.returncode:
        raise SystemExit(f"{' '.join(map(str, command))} ended with status {process.returncode}")
    return True


def _children_seconds() -> float:
    """The CPU-seconds of all processes that were started here and have ended."""
    times = os.times()
    return times.children_user + times.children_system


def _exit(number: int, frame: object) -> None:
    raise SystemExit(128 + number)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def _stop(process: subprocess.Popen[bytes]) -> None:
    """As Ctrl-C does, and then by force."""
    for number in (signal.SIGINT, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            _wait(process, 20)


def _sample(pid: int) -> dict[str, Any] | None:
    parent = _usage(pid)
    if parent is None:
        return None
    workers = [usage for child in _children(pid) if (usage := _usage(child)) is not None]
    return {
        "cpu_seconds": round(parent.cpu_seconds + sum(worker.cpu_seconds for worker in workers), 2),
        "parent_mb": round(parent.mb, 1),
        "workers_mb": [round(worker.mb, 1) for worker in workers],
        "peak_mb": round(parent.peak_mb + sum(worker.peak_mb for worker in workers), 1),
    }


def _children(pid: int) -> list[int]:
    """The workers of a process, without the process that multiprocessing starts to tidy up."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == pid and b"resource_tracker" not in (folder / "cmdline").read_bytes():
                found.append(int(folder.name))
    return sorted(found)


def _usage(pid: int) -> Usage | None:
    """None if the process has ended."""
    try:
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    kilobytes = {line.split(":")[0]: int(line.split()[1]) for line in status if line.startswith(("VmRSS", "VmHWM"))}
    if len(kilobytes) < 2:
        return None
    cpu = sum(map(int, fields[11:15])) / _TICKS
    return Usage(cpu, kilobytes["VmRSS"] * 1024 / 1e6, kilobytes["VmHWM"] * 1024 / 1e6)
