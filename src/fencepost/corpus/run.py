"""``run_corpus``: parses many documents into a folder, and resumes where an earlier run was stopped."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from fencepost.corpus.inputs import InputFile, find_inputs
from fencepost.corpus.language_report import LanguageReport
from fencepost.corpus.manifest import Manifest, new_manifest
from fencepost.corpus.output_folder import Counts, OutputFolder
from fencepost.corpus.part_maker import Part, PartMaker, PartSettings
from fencepost.corpus.plan import Plan, default_part_bytes, make_plan
from fencepost.corpus.ray import parts_on_ray, require_ray, require_reachable
from fencepost.corpus.readers import Columns, require_libraries
from fencepost.corpus.records import Format
from fencepost.errors import FencepostError, UsageError, require_device, require_precision
from fencepost.features.lexical_kinds import reads
from fencepost.parsing.chunks import never
from fencepost.parsing.cores import usable_cores
from fencepost.parsing.parser import Precision
from fencepost.parsing.pool import Pool
from fencepost.parsing.workers import MOST
from fencepost.progress import Progress
from fencepost.storage.find_model import DEFAULT_MODEL
from fencepost.storage.model_files import model_fingerprint
from fencepost.storage.model_folder import ModelFolder
from fencepost.text.languages import text_language


@dataclass(frozen=True)
class Options:
    """What to read and how to write it. The last four decide only how fast that is, not what is written."""

    inputs: Sequence[str]
    out: Path
    format: Format = "jsonl"
    columns: Columns = field(default_factory=Columns)
    probabilities: bool = False
    model: str | None = None
    device: str = "cpu"
    precision: Precision = "fp32"
    batch_tokens: int | None = None
    part_bytes: int | None = None
    workers: int | None = None
    ray: str | None = None  # the address of a cluster; empty for one on this machine


@dataclass(frozen=True)
class Job:
    """A run before it starts: its files, its settings and its manifest."""

    files: list[InputFile]
    passed_over: int  # files of other formats
    settings: PartSettings
    part_bytes: int
    manifest: Manifest
    language: str  # of the model, or the chosen one of several

    @classmethod
    def of(cls, options: Options) -> Job:
        """Raises UsageError if the options make no sense, or InputError if the files can't be found."""
        require_device(options.device)
        require_precision(options.precision, options.device)
        files, passed_over = find_inputs(options.inputs, options.out)
        require_libraries(files)
        if options.ray is not None:
            require_ray()
        folder, fingerprint = ModelFolder.read(options.model, _with_fingerprint)
        name = options.model or DEFAULT_MODEL
        if reads(folder.config, "tags"):
            raise UsageError(f"the model {name} reads tags, and documents have none", hint="use another --model")
        settings = PartSettings(
            str(folder.path.absolute()),
            options.device,
            options.format,
            options.columns,
            options.probabilities,
            options.batch_tokens,
            options.precision,
            folder.language,
            fingerprint,
        )
        part_bytes = options.part_bytes or default_part_bytes(files)
        language = text_language(folder.config.language, folder.language)
        return cls(
            files, passed_over, settings, part_bytes, new_manifest(settings, name, folder, part_bytes, files), language
        )


def _with_fingerprint(folder: ModelFolder) -> tuple[ModelFolder, str]:
    return folder, model_fingerprint(folder.path)


def run_corpus(options: Options, job: Job) -> Counts:
    """Parses what isn't parsed yet, and returns what became of all documents."""
    folder = OutputFolder(options.out, job.manifest)
    with folder.opened():
        languages = LanguageReport(Path(job.manifest["model"]["name"]).name, job.language)
        if folder.is_complete:
            languages.sum_up(folder.other_languages, folder.counts.documents)
            return folder.counts
        if options.ray is not None:
            require_reachable(options.ray)
        plan = folder.read_plan()
        if plan is None:
            plan = plan_with_progress(job)
            folder.begin(plan)
        total, todo = folder.progress(plan)
        with (
            Progress("parsing", plan.documents, "documents", done=total.documents) as bar,
            closing(_parts(options, job, plan, todo)) as parts,
        ):
            bar.note = _note(total)
            bar.begin()
            for part in parts:
                if isinstance(part, FencepostError):
                    raise part
                counts = folder.write(part)
                languages.look(part)  # now: if warnings are errors, the part stays
                total = total.plus(counts)
                bar.note = _note(total)
                bar.advance(counts.documents)
        counts = folder.finish(len(plan))
        languages.sum_up(folder.other_languages, counts.documents)
        return counts


def plan_with_progress(job: Job, part_bytes: int | None = None) -> Plan:
    with Progress("reading ids", sum(file.size for file in job.files) // 1000, "kB") as bar:
        return make_plan(
            job.files, job.settings.columns, part_bytes or job.part_bytes, lambda size: bar.advance(size // 1000)
        )


def workers_of(options: Options, shards: int) -> int:
    """The number of processes: one per core by default, or one for a GPU, which is busy with one."""
    default = min(usable_cores(), MOST) if options.device == "cpu" else 1
    return max(min(options.workers or default, shards), 1)


def _parts(options: Options, job: Job, plan: Plan, todo: list[int]) -> Generator[Part | FencepostError, None, None]:
    shards = (plan.shard(number, job.files) for number in todo)
    if not todo:
        return
    if options.ray is not None:
        yield from parts_on_ray(job.settings, shards, options.ray, options.workers)
        return
    workers = workers_of(options, len(todo))
    if workers == 1:
        with closing(PartMaker(job.settings)) as maker:
            yield from map(maker.make_or_fail, shards)
        return
    pool = Pool(PartMaker.recipe(job.settings), workers)
    try:
        numbered = ((number, [shard]) for number, shard in enumerate(shards))
        for (part,) in pool.do(None, numbered, never):
            yield part
    finally:
        pool.end()


def _note(counts: Counts) -> str:
    return f"{counts.errors:,} errors" if counts.errors != 1 else "1 error"
