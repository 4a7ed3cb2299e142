"""``fencepost corpus`` from end to end, with the model that ships."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import fencepost
from fencepost.cli.main import main
from fencepost.corpus import part_maker
from fencepost.corpus.part_maker import Part, PartMaker
from fencepost.corpus.plan import Shard
from fencepost.corpus.records import tree_of
from fencepost.errors import FencepostError, InputError, WorkerError
from fencepost.parsing.ahead import ahead
from fencepost.parsing.chunk_parser import ChunkParser
from fencepost.text.stream import read_stream
from fencepost.trees.treebank import Sentence
from tests.corpus.corpus_samples import contents, documents, errors, records, write_jsonl

BAD = ['{"id": "bad"', '{"id": "d3", "text": "Again."}', '{"id": "empty", "text": " \\n "}', '{"id": "none"}', ""]


def corpus(*arguments: object) -> int:
    return main(["corpus", *map(str, arguments)])


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """20 good documents, with four bad ones and an empty line among them."""
    folder = tmp_path_factory.mktemp("source")
    lines = [json.dumps(document) for document in documents(20)]
    (folder / "in.jsonl").write_text("\n".join([*lines[:10], *BAD, *lines[10:]]) + "\n")
    return folder / "in.jsonl"


@pytest.fixture(scope="module")
def output(source: Path) -> Path:
    """What one process writes."""
    out = source.parent / "out"
    assert corpus(source, "--out", out, "--part-bytes", 300, "--workers", 1) == 0
    return out


def test_each_sentence_is_a_record_with_its_place_and_its_tree(output: Path) -> None:
    found = records(output)
    parser = fencepost.load()
    given = {document["id"]: document["text"] for document in documents(20)}
    assert list(dict.fromkeys(record["id"] for record in found)) == list(given)
    for name, text in given.items():
        expected = parser.parse_document(text)
        own = [record for record in found if record["id"] == name]
        assert [record["sentence"] for record in own] == list(range(len(expected.sentences)))
        for record, sentence in zip(own, expected.sentences, strict=True):
            assert record["text"] == sentence.text == text[record["start"] : record["end"]]
            assert record["tree"] == str(sentence.tree)
            assert record["score"] == pytest.approx(sentence.score, abs=1e-4)
            tokens = [(token["text"], token["start"], token["end"], token["tag"]) for token in record["tokens"]]
            assert tokens == [tuple(token) for token in sentence.tokens]


def test_tokens_say_how_they_stand_in_the_tree_where_that_differs(output: Path) -> None:
    quotes = [token for record in records(output) for token in record["tokens"] if token["text"] == '"']
    assert {token["form"] for token in quotes} == {"``", "''"}
    assert not [token for record in records(output) for token in record["tokens"] if token.get("form") == token["text"]]


def test_bad_documents_are_listed_with_id_place_and_reason(source: Path, output: Path) -> None:
    assert errors(output) == [
        {"id": None, "file": str(source), "line": 11, "reason": "not JSON: Expecting ',' delimiter at column 13"},
        {"id": "d3", "file": str(source), "line": 12, "reason": f"{source}:4 has the same id"},
        {"id": "empty", "file": str(source), "line": 13, "reason": "the text has no sentences"},
        {"id": "none", "file": str(source), "line": 14, "reason": "no field 'text'"},
    ]


def test_the_manifest_says_what_was_read_and_written(source: Path, output: Path) -> None:
    manifest = json.loads((output / "manifest.json").read_text())
    assert manifest["complete"] is True
    assert (manifest["documents"], manifest["errors"], manifest["sentences"]) == (24, 4, len(records(output)))
    assert manifest["tokens"] == sum(len(record["tokens"]) for record in records(output))
    assert manifest["inputs"][0]["path"] == str(source)
    assert manifest["model"]["name"] == "en"
    assert [part["name"] for part in manifest["parts"]] == [path.name for path in sorted(output.glob("part-*"))]
    assert len(manifest["parts"]) > 3
    assert sum(part["sentences"] for part in manifest["parts"]) == manifest["sentences"]


def test_several_workers_write_the_same_bytes(source: Path, output: Path, tmp_path: Path) -> None:
    assert corpus(source, "--out", tmp_path / "out", "--part-bytes", 300, "--workers", 2) == 0
    assert contents(tmp_path / "out") == contents(output)


def test_messages_tell_of_documents_sentences_and_errors(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "notes.md").write_text("not a document")
    (tmp_path / "in" / "a.jsonl").write_bytes(source.read_bytes())
    for _ in range(2):  # the second run has nothing to do, and says the same
        assert corpus(tmp_path / "in", "--out", tmp_path / "in" / "out", "--workers", 1) == 0
        assert capsys.readouterr().err.splitlines() == [
            "note: skipped 1 file that isn't .jsonl, .parquet or .txt",
            f"24 documents, 60 sentences in {tmp_path / 'in' / 'out'}",
            f"note: 4 documents couldn't be parsed: see {tmp_path / 'in' / 'out' / 'errors.jsonl'}",
        ]


def test_texts_lines_and_packed_files_are_read_together(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("One works. Two works.\n")
    (tmp_path / "in" / "b.txt.gz").write_bytes(gzip.compress(b"Three works.\n"))
    (tmp_path / "in" / "c.jsonl.gz").write_bytes(gzip.compress(b'{"text": "Four works."}\n'))
    assert corpus(tmp_path / "in", "--out", tmp_path / "out") == 0
    found = [(record["id"], record["sentence"], record["text"]) for record in records(tmp_path / "out")]
    folder = tmp_path / "in"
    assert found == [
        (f"{folder}/a.txt", 0, "One works."),
        (f"{folder}/a.txt", 1, "Two works."),
        (f"{folder}/b.txt.gz", 0, "Three works."),
        (f"{folder}/c.jsonl.gz:1", 0, "Four works."),
    ]
    assert corpus(folder, "--out", tmp_path / "lines", "--lines") == 0
    assert [record["id"] for record in records(tmp_path / "lines")][:3] == [
        f"{folder}/a.txt:1",
        f"{folder}/a.txt:1",
        f"{folder}/b.txt.gz:1",
    ]


def test_probabilities_come_with_constituents_that_make_the_tree(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(4))
    assert corpus(path, "--out", tmp_path / "out", "--probabilities") == 0
    found = records(tmp_path / "out")
    assert len(found) == 10
    for record in found:
        assert all(0 < part["probability"] <= 1 for part in record["constituents"])
        assert str(tree_of(record)) == record["tree"]
    del found[0]["constituents"]
    with pytest.raises(InputError, match="no constituents"):
        tree_of(found[0])


def test_a_document_that_breaks_the_parser_is_an_error_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = ChunkParser.columns_of_chunks

    def parse(self: ChunkParser, chunks: Iterable[list[Sentence]], budget: int) -> Iterator[Any]:
        for chunk in chunks:
            if any("boom" in sentence.words for sentence in chunk):
                raise ValueError("a strange word")
            yield from original(self, [chunk], budget)

    monkeypatch.setattr(ChunkParser, "columns_of_chunks", parse)
    monkeypatch.setattr(part_maker, "SENTENCES", 3)
    given = documents(6)
    given[2]["text"] += " And boom goes the bomb. It goes on."
    path = write_jsonl(tmp_path / "in.jsonl", given)
    assert corpus(path, "--out", tmp_path / "out", "--workers", 1) == 0
    assert [(each["id"], each["reason"]) for each in errors(tmp_path / "out")] == [("d2", "ValueError: a strange word")]
    assert list(dict.fromkeys(record["id"] for record in records(tmp_path / "out"))) == ["d0", "d1", "d3", "d4", "d5"]


def test_a_bad_document_is_found_while_a_thread_reads_ahead(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a GPU, documents are read in a thread. It must not read on while the bad ones are looked for."""
    original = ChunkParser.columns_of_chunks
    reading = threading.Event()

    def parse(self: ChunkParser, chunks: Iterable[list[Sentence]], budget: int) -> Iterator[Any]:
        for chunk in ahead(chunks, 100):
            if any("boom" in sentence.words for sentence in chunk):
                reading.wait(5)
                time.sleep(0.5 if isinstance(chunks, list) else 0)  # when the document is parsed alone
                raise ValueError("a strange word")
            yield from original(self, [chunk], budget)

    def slow(texts: Iterable[str], language: str) -> Iterator[Any]:
        """The thread is still reading when it should have stopped."""
        texts = list(texts)
        if "document 2." in texts[0] and not reading.is_set():
            reading.set()
            time.sleep(0.7)
        time.sleep(0.01)
        return read_stream(texts, language=language)

    monkeypatch.setattr(ChunkParser, "columns_of_chunks", parse)
    monkeypatch.setattr(part_maker, "SENTENCES", 3)
    monkeypatch.setattr(part_maker, "read_stream", slow)
    given = documents(60)
    for number in (0, 30):
        given[number]["text"] += " And boom goes the bomb."
    path = write_jsonl(tmp_path / "in.jsonl", given)
    assert corpus(path, "--out", tmp_path / "out", "--workers", 1) == 0
    assert [each["id"] for each in errors(tmp_path / "out")] == ["d0", "d30"]
    expected = [document["id"] for document in given if "boom" not in document["text"]]
    assert list(dict.fromkeys(record["id"] for record in records(tmp_path / "out"))) == expected


def test_an_input_that_changes_while_it_is_read_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(6))
    before = path.stat()

    def changing(texts: Iterable[str], language: str) -> Iterator[Any]:
        """Another program writes to the file after the first line was read."""
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 10**9))
        return read_stream(texts, language=language)

    monkeypatch.setattr(part_maker, "read_stream", changing)
    assert corpus(path, "--out", tmp_path / "out", "--workers", 1) == 2
    assert "the file changed while it was read" in capsys.readouterr().err
    assert not list((tmp_path / "out").glob("part-*"))


@pytest.mark.parametrize("error", [MemoryError(), RuntimeError("CUDA out of memory"), OSError(5, "I/O error")])
def test_what_another_hour_may_mend_ends_the_run_and_is_no_bad_document(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], error: Exception
) -> None:
    def parse(self: ChunkParser, chunks: Iterable[list[Sentence]], budget: int) -> Iterator[Any]:
        raise error

    path = write_jsonl(tmp_path / "in.jsonl", documents(6))
    with monkeypatch.context() as patch:
        patch.setattr(ChunkParser, "columns_of_chunks", parse)
        assert corpus(path, "--out", tmp_path / "out", "--workers", 1) == 1
    printed = capsys.readouterr().err
    assert f"the part from {path}:1 on failed: {type(error).__name__}" in printed
    assert "hint: " in printed
    assert corpus(path, "--out", tmp_path / "out", "--workers", 1) == 0
    assert errors(tmp_path / "out") == []


def test_a_single_document_is_counted_in_the_singular(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("It rained.")
    assert corpus(tmp_path / "a.txt", "--out", tmp_path / "out", "--workers", 1) == 0
    assert capsys.readouterr().err.splitlines()[-1] == f"1 document, 1 sentence in {tmp_path / 'out'}"


def test_a_dry_run_tells_what_there_is_and_writes_nothing(
    source: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.corpus.estimate.SECONDS", 0.5)
    assert corpus(source, "--out", tmp_path / "out", "--dry-run") == 0
    printed = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert printed["documents"] == "24, 1 with a repeated id"
    assert printed["sentences"] == "about 60"
    assert printed["rate"].endswith("sentences per second of CPU time")
    assert printed["cost"].startswith("about ")
    assert not (tmp_path / "out").exists()


def test_a_dry_run_in_a_folder_with_output_tells_what_is_left(
    source: Path, output: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.corpus.estimate.SECONDS", 0.1)

    def lines(*arguments: object) -> dict[str, str]:
        capsys.readouterr()
        assert corpus(source, "--part-bytes", 300, *arguments, "--dry-run") == 0
        return dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())

    whole, parts = contents(output), len(list(output.glob("part-*")))
    assert "done" not in lines("--out", tmp_path / "new")
    found = lines("--out", output)
    assert found["done"] == f"all {parts} parts, 24 documents, 60 sentences: nothing is left"
    assert "cost" not in found
    assert contents(output) == whole

    out, original = tmp_path / "out", PartMaker.make_or_fail

    def lose_the_third(self: PartMaker, shard: Shard) -> Part | FencepostError:
        return WorkerError("lost") if shard.number == 2 else original(self, shard)

    with monkeypatch.context() as patch:
        patch.setattr(
            PartMaker, "make_or_fail", lambda *both: WorkerError("lost") if both[1].number == 2 else original(*both)
        )
        assert corpus(source, "--out", out, "--part-bytes", 300, "--workers", 1) == 1
    begun = contents(out)
    found = lines("--out", out)
    assert found["done"].startswith(f"2 of {parts} parts, ")
    assert found["left"].startswith(f"{parts - 2} parts, ")
    assert found["cost"].startswith("about ")
    assert contents(out) == begun
    assert corpus(source, "--out", out, "--part-bytes", 200, "--dry-run") == 2
    assert "--part-bytes was 300 and is 200" in capsys.readouterr().err


def test_usage_errors_come_before_anything_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(1))
    for arguments, message in (
        ((path, "--part-bytes", "0"), "--part-bytes must be at least 1"),
        ((path, "--workers", "0"), "--workers must be at least 1"),
        ((path, "--device", "tpu"), "device can't be 'tpu'"),
        ((path, "--precision", "bf16"), "bf16 is a precision for GPUs"),
        ((path, "--model", "none"), "no model at none"),
        ((tmp_path / "none.jsonl",), "no such file or folder"),
    ):
        assert corpus(*arguments, "--out", tmp_path / "out") == 2
        assert message in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_wrong_text_column_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(1))
    assert corpus(path, "--out", tmp_path / "out", "--text-column", "body") == 2
    assert "--text-column takes one of id, text" in capsys.readouterr().err
    assert corpus(path, "--out", tmp_path / "out") == 0  # the attempt left nothing that would be another run's


def start(path: Path, out: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A run in a process of its own, whose group can be killed."""
    command = [sys.executable, "-m", "fencepost", "corpus", str(path), "--out", str(out), *arguments]
    return subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)


def wait_for_parts(out: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    while len(list(out.glob("part-*"))) < count and process.poll() is None:
        time.sleep(0.01)


def kill_workers(process: subprocess.Popen[bytes]) -> None:
    """Kills workers until the run ends: one that waits for work is replaced, so a single kill may do nothing."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while process.poll() is None:
        with suppress(ProcessLookupError, FileNotFoundError):
            workers = [pid for pid in children.read_text().split() if is_worker(pid)]
            if workers:
                os.kill(int(workers[-1]), signal.SIGKILL)
        time.sleep(0.01)


def is_worker(pid: str) -> bool:
    return b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()


@pytest.mark.parametrize("workers", ["1", "2"])
def test_runs_killed_at_random_lose_and_repeat_nothing(tmp_path: Path, workers: str) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(200))
    settings = ("--part-bytes", "500", "--workers", workers)
    assert corpus(path, "--out", tmp_path / "expected", *settings) == 0
    out, moment = tmp_path / "out", random.Random(0)
    for kill in range(3):
        process = start(path, out, *settings)
        wait_for_parts(out, 5 * (kill + 1), process)
        time.sleep(moment.random() / 10)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    assert not (out / "errors.jsonl").exists(), "the runs were killed too late"
    process = start(path, out, *settings)
    process.communicate()
    assert process.returncode == 0
    assert contents(out) == contents(tmp_path / "expected")


def test_ctrl_c_keeps_what_was_done_and_a_lost_worker_ends_the_run(tmp_path: Path) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(400))
    settings = ("--part-bytes", "500")
    out = tmp_path / "out"
    process = start(path, out, *settings, "--workers", "1")
    wait_for_parts(out, 3, process)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate()
    command = f"fencepost corpus {path} --out {out} --part-bytes 500 --workers 1"
    assert (process.returncode, printed.decode()) == (130, f"interrupted\nhint: resume with `{command}`\n")
    done = len(list(out.glob("part-*")))
    assert done >= 3
    assert not (out / ".lock").exists()

    process = start(path, out, *settings, "--workers", "2")
    kill_workers(process)
    _, printed = process.communicate()
    assert (process.returncode, b"a worker process was killed" in printed) == (1, True)
    assert corpus(path, "--out", out, *settings) == 0
    assert [record["id"] for record in records(out) if record["sentence"] == 0] == [f"d{n}" for n in range(400)]
