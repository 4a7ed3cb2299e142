"""Measures the server under load with wrk, which must be installed. Each command prints a Markdown table.

    python benchmarks/serve/load.py load --seconds 300 --clients 64
    python benchmarks/serve/load.py overload --seconds 60
    python benchmarks/serve/load.py soak --seconds 1800
    python benchmarks/serve/load.py all --json serve.json --page docs/results/serve.md

``all`` does the three above one after the other (38 minutes), writes all figures as JSON after each, and replaces the
tables of the page. ``--seconds`` is then the time of ``load``; the others take a fifth of it and six times as long.

Clients send one sentence per request, as fast as they are answered; the sentences are those of ``fencepost bench``.
``load`` compares the CPU time with that of ``Parser.parse_text`` in one process. ``overload`` lets four times as many
clients send as may wait. ``soak`` watches memory.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import threading
import time
import urllib.error
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

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


Figures = dict[str, Any]
Rows = list[tuple[str, str]]


def table(rows: Iterable[tuple[str, str]]) -> str:
    return "\n".join(["| | |", "|---|---|", *(f"| {name} | {value} |" for name, value in rows)])


def statuses_of(run: dict[str, Any]) -> str:
    return ", ".join(f"{status}: {count:,}" for status, count in sorted(run["statuses"].items())) or "none"


def seconds_of(*milliseconds: float) -> str:
    return ", ".join(f"{each / 1000:.2f} s" for each in milliseconds)


def megabytes_of(*figures: float) -> str:
    return ", ".join(f"{each:.0f}" for each in figures) + " MB"


def load(clients: int, seconds: float) -> Figures:
    alone = in_process(rounds=10)
    with serving() as server:
        wrk(server, clients, 2)
        before = server.figures()
        started = time.perf_counter()
        run = wrk(server, clients, seconds)
        wall = time.perf_counter() - started
        after = server.figures()
    again = in_process(rounds=10)
    parsed, cpu = after["sentences"] - before["sentences"], after["cpu_seconds"] - before["cpu_seconds"]
    return {
        "clients": clients,
        "seconds": wall,
        "run": run._asdict(),
        "sentences_per_second": parsed / wall,
        "sentences_per_batch": parsed / (after["batches"] - before["batches"]),
        "sentences_per_cpu_second": parsed / cpu,
        "in_process": [alone, again],
        "ratio": parsed / cpu / ((alone + again) / 2),
        "megabytes": [before["megabytes"], after["megabytes"]],
    }


def load_rows(figures: Figures) -> Rows:
    run = figures["run"]
    return [
        ("clients, seconds", f"{figures['clients']}, {figures['seconds']:.0f}"),
        ("requests by status", statuses_of(run)),
        ("socket errors", run["failures"]),
        ("p50, p99, slowest", seconds_of(run["p50"], run["p99"], run["slowest"])),
        ("sentences per second", f"{figures['sentences_per_second']:.0f}"),
        ("sentences per batch", f"{figures['sentences_per_batch']:.0f}"),
        ("sentences per CPU-second, server", f"{figures['sentences_per_cpu_second']:.0f}"),
        (
            "sentences per CPU-second in one process, before and after",
            ", ".join(f"{each:.0f}" for each in figures["in_process"]),
        ),
        ("ratio", f"{figures['ratio']:.0%}"),
        ("resident memory before, after", megabytes_of(*figures["megabytes"])),
    ]


def overload(clients: int, seconds: float) -> Figures:
    with serving("--max-requests", str(clients)) as server:
        wrk(server, clients, 2)
        start = server.figures()
        normal = wrk(server, clients, min(seconds, 10))
        middle = server.figures()
        with watched(server, 1.0) as memory:
            flood = wrk(server, 4 * clients, seconds)
        end = server.figures()
        first = until_answered(server)
        again = wrk(server, clients, min(seconds, 5))
        after = server.megabytes
    return {
        "clients": 4 * clients,
        "may_wait": clients,
        "seconds": seconds,
        "before": normal._asdict(),
        "overload": flood._asdict(),
        "afterwards": again._asdict(),
        "sentences_per_cpu_second": [per_cpu_second(start, middle), per_cpu_second(middle, end)],
        "seconds_until_answered": first,
        "megabytes": [middle["megabytes"], max(memory), after],
    }


def overload_rows(figures: Figures) -> Rows:
    before, flood, again = figures["before"], figures["overload"], figures["afterwards"]
    refused = {status: count for status, count in again["statuses"].items() if status != "200"}
    return [
        (
            "clients, requests that may wait, seconds",
            f"{figures['clients']}, {figures['may_wait']}, {figures['seconds']:.0f}",
        ),
        ("requests by status, under overload", statuses_of(flood)),
        ("socket errors", flood["failures"]),
        (
            "sentences per CPU-second before, under overload",
            ", ".join(f"{each:.0f}" for each in figures["sentences_per_cpu_second"]),
        ),
        ("p50 before, in the 5 s afterwards", seconds_of(before["p50"], again["p50"])),
        ("p99 before, in the 5 s afterwards", seconds_of(before["p99"], again["p99"])),
        ("time until requests are answered again", f"{figures['seconds_until_answered']:.1f} s"),
        ("requests refused in the 5 s after that", statuses_of({"statuses": refused})),
        ("resident memory before, peak, after", megabytes_of(*figures["megabytes"])),
    ]


def per_cpu_second(before: dict[str, float], after: dict[str, float]) -> float:
    return (after["sentences"] - before["sentences"]) / (after["cpu_seconds"] - before["cpu_seconds"])


def until_answered(server: Server) -> float:
    started = time.perf_counter()
    while True:
        try:
            server.parse("It works.")
        except urllib.error.HTTPError:
            time.sleep(0.05)
        else:
            return time.perf_counter() - started


def soak(clients: int, seconds: float) -> Figures:
    with serving() as server:
        wrk(server, clients, 5)
        with watched(server, max(1.0, seconds / 60)) as memory:
            run = wrk(server, clients, seconds)
    sixth = max(1, len(memory) // 6)
    parts = [memory[start : start + sixth] for start in range(0, len(memory), sixth)][:6]
    return {
        "clients": clients,
        "seconds": seconds,
        "run": run._asdict(),
        "megabytes": [memory[0], max(memory), memory[-1]],
        "megabytes_in_sixths": [sum(part) / len(part) for part in parts],
    }


def soak_rows(figures: Figures) -> Rows:
    return [
        ("clients, seconds", f"{figures['clients']}, {figures['seconds']:.0f}"),
        ("requests by status", statuses_of(figures["run"])),
        ("socket errors", figures["run"]["failures"]),
        ("resident memory at the start, peak, at the end", megabytes_of(*figures["megabytes"])),
        ("its mean in each sixth of the time", megabytes_of(*figures["megabytes_in_sixths"])),
    ]


@contextmanager
def watched(server: Server, pause: float) -> Iterator[list[float]]:
    """The server's memory in megabytes: at once, and then every ``pause`` seconds."""
    memory, done = [server.megabytes], threading.Event()

    def watch() -> None:
        while not done.wait(pause):
            memory.append(server.megabytes)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield memory
    finally:
        done.set()
        watcher.join()


class Measurement(NamedTuple):
    measure: Callable[[int, float], Figures]
    rows: Callable[[Figures], Rows]
    section: str  # of the page
    share: float  # of the seconds of ``load``, if all are measured


MEASUREMENTS = {
    "load": Measurement(load, load_rows, "Load", 1),
    "overload": Measurement(overload, overload_rows, "Overload", 0.2),
    "soak": Measurement(soak, soak_rows, "Memory", 6),
}


def replace_table(page: str, section: str, table: str) -> str:
    """The page with another table in one of its sections."""
    head, title, rest = page.partition(f"\n## {section}\n")
    if not title or "\n| | |\n" not in rest:
        raise SystemExit(f"the page has no section {section} with a table")
    text, _, old = rest.partition("\n| | |\n")
    return f"{head}{title}{text}\n{table}\n{old[old.index(chr(10) * 2) + 1 :]}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", choices=(*MEASUREMENTS, "all"))
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--seconds", type=float, help="(default: 60, or 300 for all)")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    parser.add_argument("--page", type=Path, help="replace the tables of this page")
    arguments = parser.parse_args()
    every = arguments.command == "all"
    seconds = arguments.seconds or (300 if every else 60)
    found: dict[str, Figures] = {"machine": {"load": os.getloadavg(), "cores": os.cpu_count()}}
    for name in MEASUREMENTS if every else [arguments.command]:
        measurement = MEASUREMENTS[name]
        found[name] = measurement.measure(arguments.clients, seconds * (measurement.share if every else 1))
        text = table(measurement.rows(found[name]))
        print(f"## {measurement.section}\n\n{text}\n", flush=True)
        if arguments.json is not None:
            arguments.json.write_text(json.dumps(found, indent=1) + "\n", "utf-8")
        if arguments.page is not None:
            page = replace_table(arguments.page.read_text("utf-8"), measurement.section, text)
            arguments.page.write_text(page, "utf-8")


if __name__ == "__main__":
    main()
