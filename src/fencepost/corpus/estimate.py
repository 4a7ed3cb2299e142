"""``--dry-run``: what a run would do and cost, from the plan and from a sample that is really parsed."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import dataclass
from typing import Final

from fencepost.corpus.output_folder import Counts, OutputFolder
from fencepost.corpus.part_maker import PartMaker
from fencepost.corpus.plan import Plan
from fencepost.corpus.run import Job, Options, plan_with_progress, workers_of

SECONDS: Final = 5.0  # of parsing the sample: CPU time, or by the clock on a GPU
_PIECE: Final = 1 << 13  # bytes of text parsed at once
_MOST_PIECES: Final = 10_000


@dataclass
class Sample:
    """What was parsed, and what it took."""

    input_size: int = 0
    documents: int = 0
    sentences: int = 0
    output_size: int = 0
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def estimate(options: Options, job: Job) -> str:
    """A description of the run, for people. It reads the ids of all documents and parses some of them.

    Raises UsageError if the run itself would: if the output folder has the output of another run.
    """
    total = sum(file.size for file in job.files)
    inputs = ("inputs", f"{_count(len(job.files), 'file')}, {_bytes(total)}")
    folder = OutputFolder(options.out, job.manifest)
    folder.look()
    if folder.is_complete:
        return _table([inputs, ("done", f"all {folder.parts:,} parts, {_amount(folder.counts)}: nothing is left")])
    plan = plan_with_progress(job, max(min(_PIECE, job.part_bytes), total // _MOST_PIECES))
    sample = take_sample(job, plan)
    share = sample.input_size / max(plan.size, 1) or 1.0
    parts = -(-plan.size // job.part_bytes)
    repeats = f", {len(plan.repeated):,} with a repeated id" if plan.repeated else ""
    lines = [
        inputs,
        ("documents", f"{plan.documents:,}{repeats}"),
        ("sentences", f"about {sample.sentences / share:,.0f}"),
        ("output", f"about {_count(parts, 'part')} of {options.format}, {_bytes(sample.output_size / share)}"),
        ("sample", f"{_count(sample.documents, 'document')}, {_count(sample.sentences, 'sentence')}"),
    ]
    left = plan.documents
    if (begun := folder.read_plan()) is not None:
        done, missing = folder.progress(begun)
        left, parts = plan.documents - done.documents, len(missing)
        lines.append(("done", f"{len(begun) - parts:,} of {_count(len(begun), 'part')}, {_amount(done)}"))
        lines.append(("left", f"{_count(parts, 'part')}, {_count(left, 'document')}"))
    if sample.sentences and left:
        lines += _cost(options, sample, share * plan.documents / left, parts)
    return _table(lines)


def _table(lines: list[tuple[str, str]]) -> str:
    return "\n".join(f"{name:<10} {text}" for name, text in lines)


def _amount(counts: Counts) -> str:
    return f"{_count(counts.documents, 'document')}, {_count(counts.sentences, 'sentence')}"


def take_sample(job: Job, plan: Plan) -> Sample:
    """Parses pieces from all over the corpus until the time is up."""
    with closing(PartMaker(job.settings)) as maker:
        return _sample(job, plan, maker)


def _sample(job: Job, plan: Plan, maker: PartMaker) -> Sample:
    sample = Sample()
    order = sorted(range(len(plan)), key=lambda number: number * 0.6180339887 % 1)  # never near the ones before
    if len(order) > 1:
        maker.make(plan.shard(order[-1], job.files))  # the first batches are slower than those of a long run
    for number in order:
        clock, cpu = time.perf_counter(), time.process_time()
        part = maker.make(plan.shard(number, job.files))
        sample.seconds += time.perf_counter() - clock
        sample.cpu_seconds += time.process_time() - cpu
        sample.input_size += plan.sizes[number]
        sample.documents += part.documents
        sample.sentences += part.sentences
        sample.output_size += len(part.content)
        # On a busy machine, CPU time passes more slowly than the clock; a GPU takes little of it.
        if (sample.cpu_seconds if job.settings.device == "cpu" else sample.seconds) > SECONDS:
            break
    return sample


def _cost(options: Options, sample: Sample, share: float, parts: int) -> list[tuple[str, str]]:
    """``share``: the size of the sample, divided by that of the documents that are to be parsed."""
    if options.device != "cpu":
        rate = f"{sample.sentences / sample.seconds:,.0f} sentences per second, on {options.device}"
        return [("rate", rate), ("time", f"about {_hours(sample.seconds / share)} with one GPU")]
    rate = f"{sample.sentences / sample.cpu_seconds:,.0f} sentences per second of CPU time"
    cost = f"about {_hours(sample.cpu_seconds / share)} of CPU time"
    if options.ray is None:
        workers = workers_of(options, parts)
        cost += f", {_hours(sample.cpu_seconds / share / workers)} with {_count(workers, 'worker')} on idle cores"
    return [("rate", rate), ("cost", cost)]


def _count(number: int, what: str) -> str:
    return f"{number:,} {what}{'s' * (number != 1)}"


def _bytes(number: float) -> str:
    units = ["bytes", "kB", "MB", "GB", "TB"]
    while number >= 1000 and len(units) > 1:
        number /= 1000
        del units[0]
    return f"{number:,.0f} bytes" if units[0] == "bytes" else f"{number:,.1f} {units[0]}"


def _hours(seconds: float) -> str:
    if seconds < 120:
        return _count(round(seconds), "second")
    return f"{seconds / 60:,.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.1f} hours"
