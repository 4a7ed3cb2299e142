"""Runs an attack case by case in a process of its own, and watches that process.

A case is made from the seed and its number alone, so that any case can be repeated. A case fails if it raises anything
but what it expects, if it takes longer than ``LIMIT`` seconds, or if the process grows beyond ``MOST_MB`` or dies.
"""

from __future__ import annotations

import json
import os
import random
import re
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import date
from functools import partial
from itertools import pairwise
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, NoReturn, Protocol

from benchmarks.attacks.watch import Watch

ROOT: Final = Path(__file__).resolve().parents[2]
RESULTS: Final = ROOT / "docs" / "results" / "reliability.jsonl"
CORPUS: Final = Path(__file__).resolve().parent / "corpus"
LIMIT, MOST_MB = 10, 2048
_NOT_SHOWN: Final = ("--state", "--results", "--seconds")  # they don't change the cases
_ENDS: Final = (signal.SIGINT, signal.SIGTERM)


class LateError(Exception):
    """Not a TimeoutError: that is an OSError, which programs expect."""


class Generator(random.Random):
    """Random numbers that depend on the seed of an attack and the number of a case alone."""

    def __new__(cls, seed: int, number: int) -> Generator:
        return super().__new__(cls)  # before Python 3.11 it takes only one argument

    def __init__(self, seed: int, number: int) -> None:
        super().__init__(f"{seed} {number}")
        self.number = number


class Attack(Protocol):
    """One kind of attack."""

    name: str

    def prepare(self, folder: Path) -> None:
        """Makes what all cases need, in an empty folder."""
        ...

    def case(self, generator: Generator) -> str:
        """One case. Returns what came of it; raises anything if the program failed."""
        ...

    def replay(self, content: bytes) -> str:
        """A case from the corpus."""
        ...

    @property
    def last_input(self) -> bytes | None:
        """The input of the last case, for the corpus."""
        ...


@dataclass
class Outcome:
    """What an attack came to: a line of the table."""

    attack: str
    command: str
    seed: int
    date: str
    cases: int = 0
    failures: int = 0
    outcomes: dict[str, int] = field(default_factory=dict)
    minutes: float = 0.0
    slowest_seconds: float = 0.0
    peak_mb: int = 0
    written_outside: int = 0
    note: str = ""

    def save(self, path: Path = RESULTS) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(asdict(self), ensure_ascii=False) + "\n")
        sys.stderr.write(f"{json.dumps(asdict(self), ensure_ascii=False)}\n")


def new_outcome(attack: str, seed: int, note: str = "") -> Outcome:
    words = list(sys.argv[1:])
    for option in _NOT_SHOWN:
        if option in words:
            del words[words.index(option) : words.index(option) + 2]
    command = " ".join(["python -m benchmarks.attacks", *words])
    return Outcome(attack, command, seed, date.today().isoformat(), note=note)


@dataclass
class Part:
    """The cases of one process: from ``first`` to ``end``, of which ``next`` is the next to run."""

    first: int
    end: int
    next: int
    seconds: float = 0.0
    outcomes: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)
    slowest_seconds: float = 0.0
    peak_mb: int = 0
    written_outside: int = 0

    def failed(self, number: int, why: str) -> None:
        self.failures.append(f"case {number}: {why}")
        sys.stderr.write(f"case {number}: {why}\n")

    def add(self, report: Report) -> None:
        self.next = report.next
        for name, count in report.outcomes.items():
            self.outcomes[name] = self.outcomes.get(name, 0) + count
        for number, why in report.failures:
            self.failed(number, why)
        self.seconds += report.seconds
        self.slowest_seconds = max(self.slowest_seconds, report.slowest_seconds)
        self.peak_mb = max(self.peak_mb, report.peak_mb)
        self.written_outside += report.written_outside


@dataclass
class Report:
    """What a process says about the cases since its last report."""

    next: int
    outcomes: Counter[str] = field(default_factory=Counter)
    failures: list[tuple[int, str]] = field(default_factory=list)
    seconds: float = 0.0
    slowest_seconds: float = 0.0
    peak_mb: int = 0
    written_outside: int = 0


def fuzz(
    attack: Attack,
    cases: int,
    seed: int,
    *,
    processes: int = 1,
    seconds: float = float("inf"),
    state: Path | None = None,
) -> Outcome:
    """Runs the cases of the corpus and of the seed in processes that are started again if they die.

    It stops after ``seconds``, or at SIGTERM. With a folder ``state`` it goes on where the last run with that folder
    stopped; with no time at all, it only says what that run came to.
    """
    outcome = new_outcome(attack.name, seed)
    path = state / f"{attack.name.replace(', ', '-')}-{seed}-{cases}.json" if state else None
    parts = _parts(path, cases, processes)
    deadline = time.monotonic() + seconds
    with _stopped_by_signals() as stopped:
        left = [part for part in parts if part.next < part.end] if seconds > 0 else []
        workers = [_Worker(attack, part, seed) for part in left]
        saved = time.monotonic()
        while workers and time.monotonic() < deadline and not stopped:
            wait([worker.connection for worker in workers], timeout=0.5)
            for worker in workers:
                worker.follow()
                if worker.done:
                    worker.stop()
            workers = [worker for worker in workers if not worker.done]
            if time.monotonic() - saved > 10:
                saved = time.monotonic()
                sys.stderr.write(f"{attack.name}: {_cases_done(parts):,} cases\n")
                _save(path, parts)
        for worker in workers:
            worker.stop()
    _save(path, parts)
    counts: Counter[str] = Counter()
    for part in parts:
        counts.update(part.outcomes)
    outcome.cases, outcome.outcomes = _cases_done(parts), dict(counts.most_common())
    outcome.failures = sum(len(part.failures) for part in parts)
    outcome.minutes = round(sum(part.seconds for part in parts) / 60, 1)
    outcome.slowest_seconds = max(part.slowest_seconds for part in parts)
    outcome.peak_mb = max(part.peak_mb for part in parts)
    outcome.written_outside = sum(part.written_outside for part in parts)
    return outcome


def _cases_done(parts: list[Part]) -> int:
    return sum(part.next - part.first for part in parts)


def _parts(path: Path | None, cases: int, processes: int) -> list[Part]:
    if path is not None and path.exists():
        return [Part(**each) for each in json.loads(path.read_text("utf-8"))]
    bounds = [cases * number // processes for number in range(processes + 1)]
    return [Part(first, end, first) for first, end in pairwise(bounds)]


def _save(path: Path | None, parts: list[Part]) -> None:
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        new = path.with_suffix(".new")
        new.write_text(json.dumps([asdict(part) for part in parts]), "utf-8")
        new.replace(path)


@contextmanager
def _stopped_by_signals() -> Iterator[list[int]]:
    """A list that gets the number of a signal which asks this process to end."""
    stopped: list[int] = []
    before = {number: signal.signal(number, lambda number, _: stopped.append(number)) for number in _ENDS}
    try:
        yield stopped
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Worker:
    """A process that runs the cases of a part, seen from outside."""

    def __init__(self, attack: Attack, part: Part, seed: int) -> None:
        self._attack, self.part, self._seed = attack, part, seed
        self._patience = 12 * getattr(attack, "limit", LIMIT)
        self._start()

    def _start(self) -> None:
        context = get_context("spawn")
        self.connection, theirs = context.Pipe()
        self._running = context.RawValue("q", self.part.next)
        self._heard, self._first = time.monotonic(), self.part.next
        self._scratch = TemporaryDirectory(ignore_cleanup_errors=True)
        scratch, part = Path(self._scratch.name), self.part
        arguments = (theirs, scratch, self._running, self._attack, part.next, part.end, self._seed)
        self._process = context.Process(target=_work, args=arguments, daemon=True)
        self._process.start()
        theirs.close()

    @property
    def done(self) -> bool:
        return self.part.next >= self.part.end

    def follow(self) -> None:
        """Takes the reports, and starts the process again if it has died, hangs or has grown too large."""
        try:
            while self.connection.poll():
                self.part.add(self.connection.recv())
                self._heard = time.monotonic()
            size = _peak_mb_of(self._process.pid)
            if size > MOST_MB:
                self._restart(f"{size} MB")
            elif time.monotonic() - self._heard > self._patience:  # loading takes a while; a case is late much sooner
                self._restart("hangs, and can't be interrupted")
        except EOFError:
            self._process.join()
            if self.part.next == self._first == self._running.value:
                raise SystemExit(f"{self._attack.name}: the process died before its first case") from None
            if not self.done:
                self._restart(f"the process died: {self._process.exitcode}")

    def _restart(self, why: str) -> None:
        self.stop()
        number = self._running.value
        self.part.outcomes["not reported"] = self.part.outcomes.get("not reported", 0) + number - self.part.next
        self.part.failed(number, why)
        self.part.next = number + 1
        if not self.done:
            self._start()

    def stop(self) -> None:
        self._process.kill()
        self._process.join()
        self._scratch.cleanup()


def _work(connection: Connection, scratch: Path, running: Any, attack: Attack, first: int, end: int, seed: int) -> None:
    for end_signal in _ENDS:
        signal.signal(end_signal, signal.SIG_IGN)  # the process that started this one stops it
    with Path(os.devnull).open("w") as null:
        attack.prepare(scratch)
        watch = Watch(scratch)
        sys.addaudithook(watch.note)
        corpus = sorted(CORPUS.glob(f"{attack.name}-*")) if first == 0 else []
        sys.stdout = sys.stderr = null
        report, reported = Report(first), time.monotonic()
        for number in range(first - len(corpus), end):
            running.value = max(number, first)
            if number < first:
                case = partial(attack.replay, corpus[number - first].read_bytes())
            else:
                case = partial(lambda number: attack.case(Generator(seed, number)), number)
            try:
                with watch:
                    result, seconds = _in_time(case, getattr(attack, "limit", LIMIT))
            except BaseException:
                result, seconds = "failure", 0.0
                report.failures.append((number, traceback.format_exc()))
                if attack.last_input is not None and number >= first:
                    CORPUS.mkdir(exist_ok=True)
                    (CORPUS / f"{attack.name}-{seed}-{number}").write_bytes(attack.last_input)
            ended = time.monotonic()
            report.next = max(number + 1, first)
            report.outcomes[result] += number >= first
            report.slowest_seconds = max(report.slowest_seconds, round(seconds, 2))
            report.written_outside += watch.take()
            if ended - reported > 1 or number == end - 1 or result == "failure":
                report.seconds, report.peak_mb = ended - reported, peak_mb()
                connection.send(report)
                report, reported = Report(report.next), ended


def _in_time(case: Callable[[], str], limit: int) -> tuple[str, float]:
    """What comes of a case, and how long it takes. A late one is tried again: the machine may be busy."""

    def late(*_: object) -> NoReturn:
        raise LateError(f"not done after {limit} seconds, twice")

    signal.signal(signal.SIGALRM, late)
    for is_last in (False, True):
        began = time.monotonic()
        signal.alarm(limit)
        try:
            return case(), time.monotonic() - began
        except LateError:
            if is_last:
                raise
        finally:
            signal.alarm(0)
    raise AssertionError


def peak_mb() -> int:
    """The most memory that this process has had."""
    return _peak_mb_of("self")


def _peak_mb_of(process: int | str | None) -> int:
    try:
        found = re.search(r"VmHWM:\s+(\d+)", Path(f"/proc/{process}/status").read_text())
    except OSError:  # it has just ended
        return 0
    return int(found[1]) // 1024 if found else 0
