"""Measures the server under load with wrk, which must be installed. Each command prints a Markdown table.

    python benchmarks/serve/load.py load --seconds 300 --clients 64
    python benchmarks/serve/load.py overload --seconds 60
    python benchmarks/serve/load.py soak --seconds 1800

Clients send one sentence per request, as fast as they are answered; the sentences are those of ``fencepost bench``.
``load`` compares the CPU time with that of ``Parser.parse_text`` in one process. ``overload`` lets four times as many
clients send as may wait. ``soak`` watches memory.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import threading
import time
import urllib.error
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.serve.server import Server, sentences, serving

import fencepost

SCRIPT = """
local bodies = {%s}
local number = 0
local statuses = {}
local thread_list = {}
function setup(thread) table.insert(thread_list, thread) end
function init(args) counts = "" statuses = {} math.randomseed(7) end
function request()
  number = number %% #bodies + 1
  return wrk.format("POST", "/v1/parse", {["Content-Type"] = "application/json"}, bodies[number])
end
function response(status, headers, body)
  statuses[status] = (statuses[status] or 0) + 1
  counts = ""
  for key, value in pairs(statuses) do counts = counts .. key .. "=" .. value .. " " end
end
function done(summary, latency, requests)
  for _, thread in ipairs(thread_list) do io.write("statuses: " .. thread:get("counts") .. "\\n") end
  io.write(string.format("percentiles: %%.1f %%.1f %%.1f\\n",
    latency:percentile(50) / 1000, latency:percentile(99) / 1000, latency.max / 1000))
end
"""


class Run(NamedTuple):
    statuses: dict[str, int]
    p50: float  # milliseconds
    p99: float
    slowest: float
    failures: str  # what wrk says about sockets


def wrk(server: Server, clients: int, seconds: float) -> Run:
    bodies = ",".join(json.dumps(json.dumps({"text": sentence})) for sentence in sentences())
    with TemporaryDirectory() as folder:
        script = Path(folder, "requests.lua")
        script.write_text(SCRIPT % bodies, "utf-8")
        options = ["-t1", f"-c{clients}", f"-d{max(1, round(seconds))}s", "--timeout", "60s", "-s", str(script)]
        output = subprocess.run(["wrk", *options, server.url], capture_output=True, text=True, check=True).stdout
    statuses: dict[str, int] = {}
    for line in re.findall(r"statuses: (.*)", output):
        for pair in line.split():
            status, _, count = pair.partition("=")
            statuses[status] = statuses.get(status, 0) + int(count)
    p50, p99, slowest = map(float, re.findall(r"percentiles: (\S+) (\S+) (\S+)", output)[0])
    failures = re.findall(r"Socket errors: (.*)", output)
    return Run(statuses, p50, p99, slowest, failures[0] if failures else "none")


def in_process(rounds: int) -> float:
    """Sentences per CPU-second of ``Parser.parse_text``, one thread."""
    parser = fencepost.load()
    text = "\n".join(sentences())
    parser.parse_text(text, "line")
    before = time.process_time()
    for _ in range(rounds):
        parser.parse_text(text, "line")
    return rounds * len(sentences()) / (time.process_time() - before)


def table(rows: Iterable[tuple[str, object]]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def load(clients: int, seconds: float) -> str:
    alone = in_process(rounds=10)
    with serving() as server:
        wrk(server, clients, 2)
        cpu, parsed, batches, memory = server.cpu_seconds, server.sentences, server.batches, server.megabytes
        started = time.perf_counter()
        run = wrk(server, clients, seconds)
        wall = time.perf_counter() - started
        cpu, parsed, batches = server.cpu_seconds - cpu, server.sentences - parsed, server.batches - batches
        after = server.megabytes
    again = in_process(rounds=10)
    base = (alone + again) / 2
    return table(
        [
            ("clients, seconds", f"{clients}, {wall:.0f}"),
            ("requests by status", ", ".join(f"{status}: {count:,}" for status, count in run.statuses.items())),
            ("socket errors", run.failures),
            ("p50, p99, slowest (ms)", f"{run.p50:.0f}, {run.p99:.0f}, {run.slowest:.0f}"),
            ("sentences per second", f"{parsed / wall:.0f}"),
            ("sentences per batch", f"{parsed / batches:.1f}"),
            ("sentences per CPU-second, server", f"{parsed / cpu:.0f}"),
            ("sentences per CPU-second, in process (before, after)", f"{alone:.0f}, {again:.0f}"),
            ("ratio", f"{parsed / cpu / base:.0%}"),
            ("resident memory before and after (MB)", f"{memory:.0f}, {after:.0f}"),
        ]
    )


def overload(clients: int, seconds: float) -> str:
    with serving("--max-requests", str(clients)) as server:
        start = cost_of(server)
        normal = wrk(server, clients, min(seconds, 10))
        middle = cost_of(server)
        before = server.megabytes
        memory, watching = [before], threading.Event()
        watcher = threading.Thread(target=watch, args=(server, memory, watching, 1.0))
        watcher.start()
        flood = wrk(server, 4 * clients, seconds)
        watching.set()
        watcher.join()
        end = cost_of(server)
        first = until_answered(server)
        again = wrk(server, clients, min(seconds, 5))
        after = server.megabytes
    return table(
        [
            ("clients in overload, requests that may wait", f"{4 * clients}, {clients}"),
            ("by status, in overload", ", ".join(f"{status}: {count:,}" for status, count in flood.statuses.items())),
            ("socket errors in overload", flood.failures),
            ("p50 before, in the 5 s after (ms)", f"{normal.p50:.0f}, {again.p50:.0f}"),
            ("p99 before, in the 5 s after (ms)", f"{normal.p99:.0f}, {again.p99:.0f}"),
            ("sentences per CPU-second before, in overload", f"{per_second(start, middle)}, {per_second(middle, end)}"),
            ("seconds until requests are answered again", f"{first:.1f}"),
            ("failures after", ", ".join(f"{key}: {n}" for key, n in again.statuses.items() if key != "200") or "none"),
            ("resident memory before, most, after (MB)", f"{before:.0f}, {max(memory):.0f}, {after:.0f}"),
        ]
    )


def cost_of(server: Server) -> tuple[float, float]:
    return server.sentences, server.cpu_seconds


def per_second(before: tuple[float, float], after: tuple[float, float]) -> str:
    return f"{(after[0] - before[0]) / (after[1] - before[1]):.0f}"


def until_answered(server: Server) -> float:
    started = time.perf_counter()
    while True:
        try:
            server.parse("It works.")
        except urllib.error.HTTPError:
            time.sleep(0.05)
        else:
            return time.perf_counter() - started


def soak(clients: int, seconds: float) -> str:
    with serving() as server:
        wrk(server, clients, 5)
        memory, watching = [server.megabytes], threading.Event()
        watcher = threading.Thread(target=watch, args=(server, memory, watching, max(1.0, seconds / 60)))
        watcher.start()
        run = wrk(server, clients, seconds)
        watching.set()
        watcher.join()
    sixth = max(1, len(memory) // 6)
    parts = [memory[start : start + sixth] for start in range(0, len(memory), sixth)]
    return table(
        [
            ("clients, seconds", f"{clients}, {seconds:.0f}"),
            ("requests by status", ", ".join(f"{status}: {count:,}" for status, count in run.statuses.items())),
            ("socket errors", run.failures),
            ("resident memory: start, most, end (MB)", f"{memory[0]:.0f}, {max(memory):.0f}, {memory[-1]:.0f}"),
            ("means of six parts of the time (MB)", ", ".join(f"{sum(part) / len(part):.1f}" for part in parts[:6])),
        ]
    )


def watch(server: Server, memory: list[float], done: threading.Event, pause: float) -> None:
    while not done.wait(pause):
        memory.append(server.megabytes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=("load", "overload", "soak"))
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=60)
    arguments = parser.parse_args()
    commands = {"load": load, "overload": overload, "soak": soak}
    print(commands[arguments.command](arguments.clients, arguments.seconds))


if __name__ == "__main__":
    main()
