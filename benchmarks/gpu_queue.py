"""Runs commands of fencepost side by side on one GPU, in order of priority, until the time is up.

    PYTHONPATH=src python benchmarks/gpu_queue.py benchmarks/queues/languages.toml benchmarks/queues/tables.toml \
        --out runs --slots 10 --minutes 25 --set data=DATA treebanks=TREEBANKS device=cuda

A queue is a TOML file. Each of its [[commands]] has a ``name``; ``run``, a list of command lines for fencepost, one
after the other, in which {out}, the names of --set and those of ``parts`` are filled in; and maybe ``slots``, the
number of models that it trains at a time. ``export = [MODEL, FOLDER]`` exports a model at the end, in int8.
``environment`` is for all of them. A command starts when those before it have started and enough slots are free. With
``after``, it waits until the command of that name has ended, because they train the same models; others may pass it.

When the time is up, or after Ctrl-C, all commands are told to stop and save their work, and the models that they have
trained so far are exported. That takes PATIENCE seconds at most. Run again with the same --out: finished commands are
not repeated, and the others continue and export their models again. Their messages are in OUT/logs.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import IO, Final

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LOOK_AGAIN: Final = 0.2  # seconds
PATIENCE: Final = 120.0  # seconds for saving and exporting after the time is up


@dataclass(frozen=True)
class Command:
    name: str
    run: tuple[str, ...]
    slots: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)
    export: tuple[str, str] | None = None  # a model, and the folder to export it to
    after: str | None = None  # the command that must have ended


@dataclass
class Running:
    """A command that was started. ``process`` is its current command line, unless it is exporting its model."""

    command: Command
    began: float
    thread: Thread
    process: subprocess.Popen[bytes] | None = None
    exporter: subprocess.Popen[bytes] | None = None
    status: int | None = None


class Queue:
    def __init__(self, commands: Sequence[Command], out: Path, slots: int) -> None:
        self.out = out
        self.slots = slots
        self.waiting = [each for each in commands if not self._done(each).exists()]
        self.running: list[Running] = []
        self.stopping = False
        for folder in ("logs", "done"):
            (out / folder).mkdir(parents=True, exist_ok=True)

    def run(self, seconds: float) -> bool:
        """Returns True if every command was successful."""
        deadline = time.monotonic() + seconds
        failed = False
        while self.running or (self.waiting and not self.stopping):
            if not self.stopping:
                self._start_what_fits()
            for each in [each for each in self.running if not each.thread.is_alive()]:
                self.running.remove(each)
                failed |= each.status != 0
                self._report(each)
            if time.monotonic() > deadline and not self.stopping:
                self.stop()
            if self.stopping:
                deadline = min(deadline, time.monotonic())
            if time.monotonic() > deadline + PATIENCE:
                self._kill()
            time.sleep(LOOK_AGAIN)
        return not failed and not self.waiting

    def stop(self) -> None:
        """Tells all commands to save their work."""
        self.stopping = True
        for each in self.running:
            if each.process is not None:
                each.process.terminate()

    def _kill(self) -> None:
        for process in [process for each in self.running for process in (each.process, each.exporter)]:
            if process is not None:
                process.kill()

    def _start_what_fits(self) -> None:
        for command in list(self.waiting):
            not_ended = {each.name for each in (*self.waiting, *(each.command for each in self.running))}
            if command.after in not_ended:
                continue
            free = self.slots - sum(each.command.slots for each in self.running)
            if command.slots > free and self.running:
                return
            self._start(command)

    def _start(self, command: Command) -> None:
        self.waiting.remove(command)
        running = Running(command, time.monotonic(), Thread())
        running.thread = Thread(target=self._work, args=(running,))
        running.thread.start()
        self.running.append(running)

    def _work(self, running: Running) -> None:
        command = running.command
        with (self.out / "logs" / f"{command.name}.txt").open("ab") as log:
            running.status = self._train(running, log)
            if command.export is not None and Path(command.export[0]).is_dir():
                running.status = self._export(running, *command.export, log) or running.status
        if running.status == 0:
            self._done(command).touch()

    def _train(self, running: Running, log: IO[bytes]) -> int:
        for line in running.command.run:
            if self.stopping:
                return -signal.SIGTERM
            running.process = _start(shlex.split(line), running.command.environment, log)
            if self.stopping:
                running.process.terminate()
            if status := running.process.wait():
                return status
        return 0

    def _export(self, running: Running, model: str, folder: str, log: IO[bytes]) -> int:
        """Exports a model, also when the time is up: only the export may be small enough to be taken elsewhere."""
        beside = f"{folder}.new"
        shutil.rmtree(beside, ignore_errors=True)
        words = ["export", model, beside, "--precision", "int8"]
        running.exporter = _start(words, running.command.environment, log)
        if status := running.exporter.wait():
            return status
        shutil.rmtree(folder, ignore_errors=True)  # of a worse model, if the command was stopped before
        os.replace(beside, folder)
        return 0

    def _report(self, running: Running) -> None:
        how = "done" if running.status == 0 else f"ended with status {running.status}"
        seconds = time.monotonic() - running.began
        print(f"{running.command.name}: {how} after {seconds:.0f} s", file=sys.stderr, flush=True)

    def _done(self, command: Command) -> Path:
        return self.out / "done" / command.name


def _start(words: Sequence[str], environment: Mapping[str, str], log: IO[bytes]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-m", "fencepost", *words],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        env={"OMP_NUM_THREADS": "1", **os.environ, **environment},
        start_new_session=True,
    )


def read_queue(path: Path, settings: Mapping[str, str]) -> list[Command]:
    queue = tomllib.loads(path.read_text("utf-8"))
    parts = {**settings, **{name: text.format_map(settings) for name, text in queue.get("parts", {}).items()}}
    return [
        Command(
            each["name"],
            tuple(line.format_map(parts) for line in each["run"]),
            each.get("slots", 1),
            queue.get("environment", {}),
            tuple(path.format_map(parts) for path in each["export"]) if "export" in each else None,
            each.get("after"),
        )
        for each in queue["commands"]
    ]


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("queues", type=Path, nargs="+")
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--slots", type=int, default=10, help="models trained at a time")
    reader.add_argument("--minutes", type=float, required=True)
    reader.add_argument("--only", nargs="+", metavar="NAME")
    reader.add_argument("--set", nargs="+", default=[], metavar="NAME=VALUE")
    arguments = reader.parse_args()
    settings = {"out": str(arguments.out), **dict(each.split("=", 1) for each in arguments.set)}
    commands = [command for path in arguments.queues for command in read_queue(path, settings)]
    queue = Queue(
        [each for each in commands if each.name in (arguments.only or each.name)], arguments.out, arguments.slots
    )
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: queue.stop())
    sys.exit(0 if queue.run(60 * arguments.minutes) else 1)


if __name__ == "__main__":
    main()
