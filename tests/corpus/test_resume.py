"""A run that is stopped anywhere and started again writes what a run that wasn't stopped writes."""

from __future__ import annotations

import errno
import json
import os
import resource
import shutil
from pathlib import Path
from typing import Any

import pytest

from fencepost.corpus import run
from fencepost.corpus.output_folder import Counts
from fencepost.corpus.part_maker import Failure, Part, PartSettings
from fencepost.corpus.plan import Shard
from fencepost.corpus.run import Job, Options, run_corpus
from fencepost.errors import FencepostError, OutputError, UsageError, WorkerError
from fencepost.storage.lock import locked
from tests.corpus.corpus_samples import contents, documents, read_documents, write_jsonl


class Copier:
    """Copies documents instead of parsing them; those whose text has a 7 can't be copied."""

    made: list[int]

    def __init__(self, settings: PartSettings) -> None:
        pass

    def close(self) -> None:
        pass

    def make_or_fail(self, shard: Shard) -> Part | FencepostError:
        self.made.append(shard.number)
        lines, failures = [], []
        for slice_ in shard.slices:
            for document in read_documents(*slice_):
                if "7" in (document.text or ""):
                    failures.append(Failure(document.id, slice_.file.path, document.record, "a seven"))
                else:
                    lines.append(f"{document.id}\n")
        return Part(shard.number, "".join(lines).encode(), shard.documents, len(lines), 0, failures)


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The numbers of the parts that were made."""
    monkeypatch.setattr(run, "PartMaker", Copier)
    monkeypatch.setattr(Copier, "made", [], raising=False)
    return Copier.made


def options(folder: Path, **changed: Any) -> Options:
    defaults: dict[str, Any] = {"part_bytes": 200, "workers": 1}
    return Options([str(folder / "in.jsonl")], folder / "out", **{**defaults, **changed})


def do(given: Options) -> Counts:
    return run_corpus(given, Job.of(given))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_jsonl(tmp_path / "in.jsonl", documents(30))
    return tmp_path


@pytest.fixture
def expected(folder: Path) -> dict[str, bytes]:
    """What a run that isn't stopped writes."""
    given = options(folder)
    do(given)
    found = contents(given.out)
    given.out.rename(folder / "expected")
    Copier.made.clear()
    return found


class Killed(BaseException):
    pass


def test_a_run_stopped_before_any_step_of_writing_ends_in_the_same_bytes(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files are written, synchronised and renamed; a run is stopped before each of these steps in turn."""
    write_jsonl(folder / "in.jsonl", documents(9))
    do(options(folder))
    expected = contents(folder / "out")
    shutil.rmtree(folder / "out")
    originals = {name: getattr(os, name) for name in ("fsync", "replace")}
    stop_at = steps = 0

    def step(name: str) -> Any:
        def stopped(*arguments: Any) -> Any:
            nonlocal steps
            steps += 1
            if steps == stop_at:
                raise Killed
            return originals[name](*arguments)

        return stopped

    for name in originals:
        monkeypatch.setattr(os, name, step(name))
    given, stops = options(folder), 0
    while True:
        steps, stop_at = 0, stops + 1
        try:
            do(given)
        except Killed:
            stops += 1
            steps, stop_at = 0, 10**9
            do(given)
        else:
            break
        assert contents(given.out) == expected
        shutil.rmtree(given.out)
    assert stops > 2 * len(expected)


def test_parts_that_are_there_are_not_made_again(folder: Path, expected: dict[str, bytes], made: list[int]) -> None:
    given = options(folder)

    def stop(self: Copier, shard: Shard) -> Part | FencepostError:
        return WorkerError("lost") if shard.number == 3 else original(self, shard)

    original = Copier.make_or_fail
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Copier, "make_or_fail", stop)
        with pytest.raises(WorkerError, match="lost"):
            do(given)
    assert made == [0, 1, 2]
    made.clear()
    (given.out / "part-00001.jsonl").write_bytes(b"cut")  # a part of another size isn't the part that was written
    counts = do(given)
    assert made == [1, 3, 4, *range(5, len(expected) - 2)]
    assert contents(given.out) == expected
    assert (counts.documents, counts.errors) == (30, 3)


def test_a_complete_run_is_not_done_again(folder: Path, expected: dict[str, bytes], made: list[int]) -> None:
    given = options(folder)
    first = do(given)
    made.clear()
    assert do(given) == first
    assert made == []
    assert contents(given.out) == expected


@pytest.mark.parametrize("content", [None, b"half"])
def test_a_complete_run_without_all_its_parts_is_refused(folder: Path, content: bytes | None) -> None:
    given = options(folder)
    do(given)
    part = given.out / "part-00001.jsonl"
    part.unlink()
    if content is not None:
        part.write_bytes(content)
    with pytest.raises(UsageError, match=r"part-00001.jsonl is .*, and the run is complete"):
        do(given)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_explained_and_the_run_goes_on_when_there_is_room(
    folder: Path, expected: dict[str, bytes], monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    given, original, count = options(folder), os.fsync, 0

    def full(descriptor: int) -> None:
        nonlocal count
        count += 1
        if count > 12:
            raise OSError(number, os.strerror(number))
        original(descriptor)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(OutputError, match="can't be written") as caught:
            do(given)
    assert caught.value.hint == "free some space, then run the same command again: it resumes where this run stopped"
    assert not [name for name in contents(given.out) if "partial" in name]
    do(given)
    assert contents(given.out) == expected


def test_a_limit_on_the_size_of_files_is_no_different(folder: Path, expected: dict[str, bytes]) -> None:
    given = options(folder)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500, limits[1]))
    try:
        with pytest.raises(OutputError, match="File too large"):
            do(given)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    do(given)
    assert contents(given.out) == expected


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"format": "parquet"}, "--format was jsonl and is parquet"),
        ({"probabilities": True}, "--probabilities was not given and is given"),
        ({"part_bytes": 300}, "--part-bytes was 200 and is 300"),
        ({"batch_tokens": 500}, "--batch-tokens was not given and is 500"),
        ({"device": "cuda"}, "--device was cpu and is cuda"),
        ({"device": "cuda", "precision": "bf16"}, "--precision was fp32 and is bf16"),
    ],
)
@pytest.mark.parametrize("complete", [True, False])
def test_other_settings_are_refused(folder: Path, changed: dict[str, Any], message: str, complete: bool) -> None:
    if changed.get("format") == "parquet":
        pytest.importorskip("pyarrow")
    begin(folder, complete)
    before = contents(folder / "out")
    with pytest.raises(UsageError, match=message) as caught:
        do(options(folder, **changed))
    assert caught.value.hint == "run the same command as before to resume, or choose another --out folder"
    assert contents(folder / "out") == before


def begin(folder: Path, complete: bool) -> None:
    """Does a run, or only its first steps."""
    with pytest.MonkeyPatch.context() as patch:
        if not complete:
            patch.setattr(Copier, "make_or_fail", lambda self, shard: WorkerError("lost"))
        try:
            do(options(folder))
        except WorkerError:
            assert not complete


def stop_after(folder: Path, parts: int, **changed: Any) -> None:
    """Does a run that is stopped when it has made this many parts."""
    original = Copier.make_or_fail

    def make(self: Copier, shard: Shard) -> Part | FencepostError:
        return WorkerError("lost") if shard.number == parts else original(self, shard)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Copier, "make_or_fail", make)
        with pytest.raises(WorkerError, match="lost"):
            do(options(folder, **changed))


@pytest.mark.parametrize("workers", [{"workers": 1}, {"workers": 3}, {"workers": None}])
def test_another_number_of_workers_is_no_other_setting(folder: Path, workers: dict[str, Any]) -> None:
    do(options(folder))
    assert do(options(folder, **workers)).documents == 30


def test_changed_new_and_missing_inputs_are_refused(folder: Path) -> None:
    begin(folder, complete=False)
    (folder / "in.jsonl").write_text('{"text": "It."}\n')
    with pytest.raises(UsageError, match=r"changed since: .*in\.jsonl"):
        do(options(folder))
    (folder / "more.jsonl").write_text('{"text": "It."}\n')
    with pytest.raises(UsageError, match=r"not among the inputs any more: .*in\.jsonl; new among the inputs: .*more"):
        do(Options([str(folder / "more.jsonl")], folder / "out", part_bytes=200))


def test_the_order_of_inputs_matters(folder: Path) -> None:
    (folder / "more.jsonl").write_text('{"text": "It."}\n')
    names = [str(folder / "in.jsonl"), str(folder / "more.jsonl")]
    do(Options(names, folder / "out", part_bytes=200, workers=1))
    with pytest.raises(UsageError, match="the inputs are in another order"):
        do(Options(names[::-1], folder / "out", part_bytes=200, workers=1))


def test_another_version_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begin(folder, complete=False)
    monkeypatch.setattr("fencepost.corpus.manifest.__version__", "99.0")
    with pytest.raises(UsageError, match=r"it was written with fencepost [0-9.]+, and this is 99\.0"):
        do(options(folder))


@pytest.mark.parametrize("library", ["numpy", "onnxruntime", "python"])
def test_another_version_of_a_library_that_decides_scores_is_refused(folder: Path, library: str) -> None:
    begin(folder, complete=False)
    path = folder / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["versions"][library] = "0.1"
    path.write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=rf"it was written with {library} 0\.1, and this is [0-9.]+"):
        do(options(folder))


def test_a_folder_with_parts_of_something_else_is_refused(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "part-00000.jsonl").write_text("mine\n")
    with pytest.raises(UsageError, match=r"has part-00000\.jsonl but no manifest\.json"):
        do(options(folder))
    assert (folder / "out" / "part-00000.jsonl").read_text() == "mine\n"


@pytest.mark.parametrize("content", ["{", "[]", "{}", '{"format": 2, "versions": {}}'])
def test_a_manifest_that_cannot_be_read_is_refused(folder: Path, content: str) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "manifest.json").write_text(content)
    with pytest.raises(UsageError, match="can't be read"):
        do(options(folder))


@pytest.mark.parametrize("missing", ["parts", "sentences", "errors"])
def test_a_complete_manifest_without_its_counts_is_refused(folder: Path, missing: str) -> None:
    do(options(folder))
    path = folder / "out" / "manifest.json"
    manifest = json.loads(path.read_text())
    del manifest[missing]
    path.write_text(json.dumps(manifest))
    with pytest.raises(UsageError, match=rf"can't be read: it is complete but has no '{missing}'") as caught:
        do(options(folder))
    assert caught.value.hint == "choose another --out folder"


@pytest.mark.parametrize("parts", [5, [5], [{"name": "part-00000.jsonl"}], {"name": 5}])
def test_a_complete_manifest_with_strange_parts_is_refused(folder: Path, parts: object) -> None:
    do(options(folder))
    path = folder / "out" / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "parts": parts}))
    with pytest.raises(UsageError, match="can't be read"):
        do(options(folder))


@pytest.mark.parametrize("name", ["plan.json", "part-00000.json"])
def test_damaged_files_of_the_state_are_made_again(folder: Path, expected: dict[str, bytes], name: str) -> None:
    stop_after(folder, 2)
    (folder / "out" / ".state" / name).write_text("{")
    do(options(folder))
    assert contents(folder / "out") == expected


def test_the_state_of_a_run_whose_files_were_removed_is_not_that_of_the_next(
    folder: Path, expected: dict[str, bytes]
) -> None:
    """``rm out/*`` leaves hidden files. They belong to other documents and to parts of another size."""
    write_jsonl(folder / "in.jsonl", [*documents(5), {"id": "more", "text": "It works."}])
    stop_after(folder, 2, part_bytes=100)
    for path in (folder / "out").glob("[!.]*"):
        path.unlink()
    write_jsonl(folder / "in.jsonl", documents(30))
    os.utime(folder / "in.jsonl", ns=(0, json.loads(expected["manifest.json"])["inputs"][0]["modified"]))
    do(options(folder))
    assert contents(folder / "out") == expected


def test_a_file_of_the_user_in_the_hidden_folder_stays(folder: Path) -> None:
    kept = folder / "out" / ".state" / "notes.txt"
    kept.parent.mkdir(parents=True)
    kept.write_text("mine")
    do(options(folder))
    do(options(folder))
    assert [path.name for path in kept.parent.iterdir()] == ["notes.txt"]


def test_a_manifest_of_an_older_format_is_refused(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "manifest.json").write_text('{"format": 1, "fencepost": "0.1.0", "pyarrow": null}')
    with pytest.raises(UsageError, match="its manifest has format 1, and this is 2"):
        do(options(folder))


def test_two_runs_cannot_write_to_one_folder(folder: Path) -> None:
    (folder / "out").mkdir()
    with locked(folder / "out" / ".lock"), pytest.raises(UsageError, match="another run is writing to"):
        do(options(folder))
    do(options(folder))


def test_what_a_killed_run_was_writing_is_removed(folder: Path, expected: dict[str, bytes]) -> None:
    begin(folder, complete=False)
    (folder / "out" / ".part-00002.jsonl.partial").write_bytes(b"half")
    do(options(folder))
    assert contents(folder / "out") == expected


def test_files_of_other_programs_stay(folder: Path) -> None:
    kept = folder / "out" / ".film.iso.partial"
    kept.parent.mkdir()
    kept.write_bytes(b"half a film")
    do(options(folder))
    do(options(folder))
    assert kept.read_bytes() == b"half a film"


def test_files_without_documents_give_no_parts(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_text("\n")
    assert do(options(tmp_path)) == Counts()
    assert set(contents(tmp_path / "out")) == {"errors.jsonl", "manifest.json"}


def test_bad_documents_are_listed_in_their_order(expected: dict[str, bytes]) -> None:
    lines = expected["errors.jsonl"].decode().splitlines()
    assert [line[:12] for line in lines] == ['{"id": "d7",', '{"id": "d17"', '{"id": "d27"']
    assert all('"reason": "a seven"' in line for line in lines)
