"""The models of some tables trained several at a time, each in a process of its own: a GPU has room for many."""

from __future__ import annotations

import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.errors import FencepostError
from fencepost.experiments.runner import Options, Runner, Shelf
from fencepost.experiments.tables import Table

Treebanks = list[tuple[str, Path]]


@dataclass(frozen=True)
class TagJob:
    """Tags for one part of a treebank."""

    name: str
    options: Options
    treebank: tuple[str, Path]
    part: int

    def run(self) -> None:
        shelf = Shelf(self.options)
        shelf.tag_part(shelf.gold(*self.treebank), self.part)


@dataclass(frozen=True)
class ModelJob:
    """A model, and the rows, of any table, that it serves."""

    name: str
    options: Options
    treebanks: Treebanks
    size: int  # of what it is trained on
    rows: list[tuple[Table, str, str, int]] = field(default_factory=list)  # table, row, treebank, seed

    def run(self) -> None:
        shelf = Shelf(self.options)
        for table, row, treebank, seed in self.rows:
            Runner(table, self.treebanks, self.options, shelf).do(table.row(row), treebank, seed)


def run_ahead(runners: Sequence[Runner], jobs: int) -> None:
    """Trains and measures rows of all tables, ``jobs`` models at a time; ``Runner.run`` will find them done.

    What fails here is tried again there, alone: it may have been the others' memory that was lacking.
    """
    options, shelf = runners[0].options, runners[0].shelf
    if options.tags == "jackknife":
        readers = [runner for runner in runners if runner.reads_tags()]
        places = {treebank for runner in readers for treebank in runner.treebanks}
        parts = range(shelf.folds + 1)
        _run([TagJob(f"tags {at[0]} {part + 1}", options, at, part) for at in sorted(places) for part in parts], jobs)
    models: dict[str, ModelJob] = {}
    for runner in runners:
        for key, row, treebank, seed in runner.models_needed():
            size = len(shelf.gold(treebank, dict(runner.treebanks)[treebank]).train)
            job = models.setdefault(key, ModelJob(f"{row.name}, {treebank}, {seed}", options, runner.treebanks, size))
            job.rows.append((runner.table, row.name, treebank, seed))
    longest_first = sorted(models.values(), key=lambda job: -job.size)
    _run(longest_first, jobs)


def _run(tasks: Sequence[TagJob | ModelJob], jobs: int) -> None:
    fresh = multiprocessing.get_context("spawn")

    def run(task: TagJob | ModelJob) -> None:
        log = task.options.out / "logs" / f"{''.join(c if c.isalnum() else '-' for c in task.name)}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        process = fresh.Process(target=_logged, args=(task.run, log))
        process.start()
        process.join()
        ended = "done" if process.exitcode == 0 else f"not done, see {log}"
        sys.stderr.write(f"{task.name}: {ended}\n")

    pool = ThreadPoolExecutor(jobs)
    try:
        list(pool.map(run, tasks))
    finally:  # interrupted: those that run have been told, too, and save what they have
        pool.shutdown(cancel_futures=True)


def _logged(run: Callable[[], None], log: Path) -> None:
    """What a process does: its messages go to a file, where those of several would be a muddle."""
    with log.open("a", encoding="utf-8") as file:
        os.dup2(file.fileno(), 2)
        sys.stderr = file
        try:
            run()
        except KeyboardInterrupt:
            sys.exit(130)
        except FencepostError as error:
            file.write(f"error: {error.message}\n")
            sys.exit(1)
        except Exception:
            traceback.print_exc()
            sys.exit(1)
