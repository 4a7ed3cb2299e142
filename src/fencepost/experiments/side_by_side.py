"""Trains the models of several tables side by side, each in its own process: a GPU has room for many."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Thread
from typing import Final

from fencepost.errors import FencepostError
from fencepost.experiments.options import Options
from fencepost.experiments.runner import Runner
from fencepost.experiments.tables import load_table
from fencepost.experiments.treebanks import TreebankCache
from fencepost.parsing.cores import usable_cores
from fencepost.training.interruptions import interruption, interruptions

CHILD: Final = "from fencepost.experiments.side_by_side import child; child()"
LOOK_AGAIN: Final = 0.1  # seconds between checks for processes that have ended
INTERRUPTED: Final = 130


@dataclass(frozen=True)
class Job:
    """The work of one process: to tag a part of a treebank, or to train a model and measure its rows."""

    name: str
    options: Options
    treebanks: list[tuple[str, Path]]
    part: int | None = None  # the part of the treebank to tag
    rows: list[tuple[str, str, str, int]] = field(default_factory=list)  # table, row, treebank, seed

    def run(self) -> None:
        cache = TreebankCache(self.options)
        if self.part is not None:
            cache.tag_part(cache.gold(*self.treebanks[0]), self.part)
        for name, row, treebank, seed in self.rows:
            table = load_table(name)
            Runner(table, self.treebanks, self.options, cache).do(table.row(row), treebank, seed)

    def to_json(self) -> str:
        return json.dumps(asdict(self), default=str)

    @classmethod
    def from_json(cls, text: str) -> Job:
        fields = json.loads(text)
        options = fields["options"]
        lists = {name: tuple(options[name]) for name in ("seeds", "settings")}
        treebanks = [(name, Path(folder)) for name, folder in fields["treebanks"]]
        return cls(
            fields["name"],
            Options(**{**options, **lists, "out": Path(options["out"])}),
            treebanks,
            fields["part"],
            [tuple(row) for row in fields["rows"]],
        )


def run_ahead(runners: Sequence[Runner], count: int) -> None:
    """Trains and measures rows of all tables, ``count`` models at a time, before ``Runner.run`` collects them.

    ``Runner.run`` tries rows again that fail here, one at a time: several at once may have run out of memory.
    """
    options, cache = runners[0].options, runners[0].cache
    if options.tags == "jackknife":
        treebanks = sorted({treebank for runner in runners if runner.reads_tags() for treebank in runner.treebanks})
        parts = [(treebank, part) for treebank in treebanks for part in cache.parts_to_tag(cache.gold(*treebank))]
        run_jobs([Job(f"tags {name} {part + 1}", options, [(name, path)], part) for (name, path), part in parts], count)
    models: dict[str, Job] = {}
    sizes: dict[str, int] = {}
    for runner in runners:
        for key, row, treebank, seed in runner.models_needed():
            job = models.setdefault(key, Job(f"{row.name}, {treebank}, {seed}", options, runner.treebanks))
            job.rows.append((runner.table.name, row.name, treebank, seed))
            sizes[key] = len(cache.gold(treebank, dict(runner.treebanks)[treebank]).train)
    run_jobs([models[key] for key in sorted(models, key=lambda key: -sizes[key])], count)  # the longest first


def run_jobs(jobs: Sequence[Job], count: int) -> None:
    """Runs each job in a process, ``count`` at a time. If interrupted, waits until all have saved their work."""
    waiting, running, stopping = list(jobs), dict[subprocess.Popen[bytes], Job](), False
    with interruptions("waiting for running jobs to save their work") as signals:
        try:
            while running or (waiting and not stopping):
                while waiting and len(running) < count and not stopping:
                    job = waiting.pop(0)
                    running[_start(job, count)] = job
                for process in [process for process in running if process.poll() is not None]:
                    _report(running.pop(process), process)
                if signals and not stopping:
                    _interrupt(running)
                    stopping = True
                time.sleep(LOOK_AGAIN)
        finally:  # after a second interruption, they are interrupted again as well
            _interrupt(running)
    if signals:
        raise interruption(signals[0])


def _start(job: Job, count: int) -> subprocess.Popen[bytes]:
    """Starts a process. Its messages go to a file, so that those of several processes don't mix."""
    environment = {"OMP_NUM_THREADS": str(max(1, usable_cores() // count)), **os.environ}
    log = _log(job)
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-c", CHILD],
            stdin=subprocess.PIPE,
            stderr=file,
            env=environment,
            start_new_session=True,  # or Ctrl-C would reach it twice, directly and through us
        )
    assert process.stdin is not None
    process.stdin.write(job.to_json().encode() + b"\n")
    process.stdin.flush()  # left open: it closes when this process dies
    return process


def child() -> None:
    """The main function of such a process. If its parent dies, it stops as if interrupted."""
    job = Job.from_json(sys.stdin.buffer.readline().decode())
    Thread(target=_stop_with_parent, daemon=True).start()
    try:
        job.run()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)
    except FencepostError as error:
        sys.exit(f"error: {error.message}")


def _stop_with_parent() -> None:
    while os.read(sys.stdin.fileno(), 1):  # blocks until the parent closes its end
        pass
    os.kill(os.getpid(), signal.SIGTERM)


def _interrupt(running: dict[subprocess.Popen[bytes], Job]) -> None:
    for process in running:
        process.terminate()


def _report(job: Job, process: subprocess.Popen[bytes]) -> None:
    if process.stdin is not None:
        process.stdin.close()
    how = {0: "done", INTERRUPTED: "interrupted", -signal.SIGTERM: "interrupted"}
    ended = how.get(process.returncode, f"not done, see {_log(job)}")
    sys.stderr.write(f"{job.name}: {ended}\n")


def _log(job: Job) -> Path:
    return job.options.out / "logs" / f"{''.join(letter if letter.isalnum() else '-' for letter in job.name)}.txt"
