"""``--dry-run``: what a run would do and cost, from the plan and from a sample that is really parsed."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Final

from fencepost.corpus.part_maker import PartMaker
from fencepost.corpus.plan import Plan
from fencepost.corpus.run import Job, Options, plan_with_progress, workers_of

SECONDS: Final = 5.0  # of parsing the sample
_PIECE: Final = 1 << 14  # bytes of text parsed at once
_MOST_PIECES: Final = 10_000


@dataclass
class Sample:
    """What was parsed, and what it took."""

    documents: int = 0
    sentences: int = 0
    size: int = 0  # bytes of output
    seconds: float = 0.0
    cpu_seconds: float = 0.0


def estimate(options: Options, job: Job) -> str:
    """A description of the run, for people. It reads the ids of all documents and parses some of them."""
    total = sum(file.size for file in job.files)
    plan = plan_with_progress(job, max(min(_PIECE, job.part_bytes), total // _MOST_PIECES))
    sample = take_sample(job, plan)
    share = sample.documents / max(plan.documents, 1) or 1.0
    parts = -(-plan.size // job.part_bytes)
    repeats = f", {len(plan.repeated):,} with a repeated id" if plan.repeated else ""
    lines = [
        ("inputs", f"{_count(len(job.files), 'file')}, {_bytes(total)}"),
        ("documents", f"{plan.documents:,}{repeats}"),
        ("sentences", f"about {sample.sentences / share:,.0f}"),
        ("output", f"about {_count(parts, 'part')} of {options.format}, {_bytes(sample.size / share)}"),
        ("sample", f"{_count(sample.documents, 'document')}, {_count(sample.sentences, 'sentence')}"),
    ]
    if sample.sentences:
        lines += _cost(options, sample, share, parts)
    return "\n".join(f"{name:<10} {text}" for name, text in lines)


def take_sample(job: Job, plan: Plan) -> Sample:
    """Parses pieces from all over the corpus until the time is up."""
    maker = PartMaker(job.settings)
    sample = Sample()
    order = sorted(range(len(plan)), key=lambda number: number * 0.6180339887 % 1)  # never near the ones before
    if len(order) > 1:
        maker.make(plan.shard(order[-1], job.files))  # the first batches are slower than those of a long run
    for number in order:
        clock, cpu = time.perf_counter(), time.process_time()
        part = maker.make(plan.shard(number, job.files))
        sample.seconds += time.perf_counter() - clock
        sample.cpu_seconds += time.process_time() - cpu
        sample.documents += part.documents
        sample.sentences += part.sentences
        sample.size += len(part.content)
        if sample.seconds > SECONDS:
            break
    return sample


def _cost(options: Options, sample: Sample, share: float, parts: int) -> list[tuple[str, str]]:
    clock = sample.seconds / share
    if options.device != "cpu":
        rate = f"{sample.sentences / sample.seconds:,.0f} sentences per second, on {options.device}"
        return [("rate", rate), ("time", f"about {_hours(clock)} with one GPU")]
    rate = f"{sample.sentences / sample.cpu_seconds:,.0f} sentences per second of CPU time"
    cost = f"about {_hours(sample.cpu_seconds / share)} of CPU time"
    if options.ray is None:
        workers = workers_of(options, parts)
        cost += f", {_hours(clock / workers)} with {_count(workers, 'worker')} on idle cores"
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
        return f"{seconds:,.0f} seconds"
    return f"{seconds / 60:,.0f} minutes" if seconds < 7200 else f"{seconds / 3600:,.1f} hours"
