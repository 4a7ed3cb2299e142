"""Input files of ``fencepost corpus`` that lost documents, filled the memory or ended in a traceback."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from fencepost.cli.main import main
from fencepost.corpus.manifest import changes
from fencepost.corpus.readers import Columns, open_reader
from fencepost.corpus.run import Job, Options
from fencepost.errors import UsageError
from fencepost.text import languages
from fencepost.text.conventions import ENGLISH
from fencepost.text.languages import Rules
from fencepost.text.tokens import tokenize
from tests.corpus.corpus_samples import errors, input_file, read_documents, records

SECONDS = 60
COUNT: Final = 100
LINES: Final = [
    json.dumps({"id": str(number), "text": f"Cat {number} sleeps."}).encode() + b"\n" for number in range(200)
]


def lines(first: int, last: int) -> bytes:
    return b"".join(LINES[first:last])


def with_a_changed_byte(packed: bytes, place: int) -> bytes:
    return packed[:place] + bytes([packed[place] ^ 0xFF]) + packed[place + 1 :]


DAMAGED: Final = {
    "garbage after the end.jsonl.gz": gzip.compress(lines(0, COUNT)) + b"garbage",
    "a wrong checksum.jsonl.gz": with_a_changed_byte(gzip.compress(lines(0, COUNT)), -5),
    "a damaged member.jsonl.gz": gzip.compress(lines(0, COUNT)) + with_a_changed_byte(gzip.compress(LINES[100]), 2),
    "garbage after the end.jsonl.zst": zstandard.compress(lines(0, COUNT)) + b"garbage",
    "a damaged frame.jsonl.zst": zstandard.compress(lines(0, COUNT)) + b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
}


@pytest.mark.parametrize("name", DAMAGED)
def test_documents_before_damage_are_read_although_it_is_in_the_same_piece(tmp_path: Path, name: str) -> None:
    """All 100 were lost, and only the damage was listed."""
    path = tmp_path / name
    path.write_bytes(DAMAGED[name])
    *found, damage = read_documents(input_file(path))
    assert [document.id for document in found] == [str(number) for number in range(COUNT)]
    assert damage.record == COUNT + 1
    assert damage.problem is not None
    assert damage.problem.startswith("damaged ")


def test_every_byte_before_damage_inside_a_gzip_member_is_read(tmp_path: Path) -> None:
    texts = [json.dumps({"id": str(number), "text": os.urandom(500).hex()}).encode() + b"\n" for number in range(400)]
    packed = gzip.compress(b"".join(texts))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(packed[: len(packed) // 2] + b"\xff" * 100 + packed[len(packed) // 2 + 100 :])
    *found, damage = read_documents(input_file(path))
    assert 150 < len(found) < 300
    assert damage.problem is not None


def test_skippable_frames_and_padding_are_no_damage(tmp_path: Path) -> None:
    skippable = b"\x50\x2a\x4d\x18\x04\0\0\0abcd"
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(skippable + zstandard.compress(lines(0, 50)) + skippable + zstandard.compress(lines(50, 100)))
    assert [document.problem for document in read_documents(input_file(path))] == [None] * COUNT


def zstd_bomb(path: Path, megabytes: int) -> None:
    with path.open("wb") as file, zstandard.ZstdCompressor(level=1).stream_writer(file) as writer:
        for _ in range(megabytes):
            writer.write(b" " * 2**20)


def gzip_bomb(path: Path, megabytes: int) -> None:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(megabytes):
            file.write(b" " * 2**20)


READ: Final = r"""
import re, sys
from pathlib import Path
from tests.corpus.corpus_samples import input_file
from fencepost.corpus.readers import Columns, open_reader
reader = open_reader(input_file(Path(sys.argv[1])), Columns())
last = [each.problem for each in reader.documents(1, 0, None)][-1]
print(int(re.search(r'VmHWM:\s+(\d+)', Path('/proc/self/status').read_text())[1]) // 1024, last)
"""


def read_in_a_process(path: Path) -> tuple[int, str]:
    """The most memory in MB, and the problem of the last document."""
    said = subprocess.check_output([sys.executable, "-c", READ, str(path)], text=True)
    megabytes, _, problem = said.strip().partition(" ")
    return int(megabytes), problem


@pytest.mark.parametrize(("name", "write"), [("a.jsonl.zst", zstd_bomb), ("a.jsonl.gz", gzip_bomb)])
def test_a_bomb_takes_little_memory_and_is_not_unpacked_to_its_end(
    tmp_path: Path, name: str, write: Callable[[Path, int], None]
) -> None:
    write(tmp_path / name, 1100)
    megabytes, problem = read_in_a_process(tmp_path / name)
    assert problem == f"damaged {name.rpartition('.')[2]} file: it unpacks to more than 100 times its size"
    assert megabytes < 600


def test_large_texts_in_one_row_group_are_not_in_memory_together(tmp_path: Path) -> None:
    """1,000 texts of 1 MB, all the same and so in a small file, took more than 1 GB."""
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), pa.array(["x " * 500_000]))
    pq.write_table(pa.table({"id": list(range(1000)), "text": texts}), tmp_path / "a.parquet")
    megabytes, problem = read_in_a_process(tmp_path / "a.parquet")
    assert problem == "None"
    assert megabytes < 600


@pytest.mark.parametrize("name", ["text", "id"])
def test_two_columns_of_one_name_are_refused(tmp_path: Path, name: str) -> None:
    table = pa.Table.from_arrays([pa.array(["x"]), pa.array(["y"]), pa.array(["z"])], names=["text", "id", name])
    pq.write_table(table, tmp_path / "a.parquet")
    with pytest.raises(UsageError, match=f"has 2 columns '{name}'"):
        list(open_reader(input_file(tmp_path / "a.parquet"), Columns()).outline())


def test_a_file_without_any_text_does_not_stop_the_others(tmp_path: Path) -> None:
    """Some programs give a column of nothing but nulls the type null."""
    pq.write_table(pa.table({"id": [1], "text": pa.array([None], pa.null())}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"id": [2], "text": ["Cats sleep."]}), tmp_path / "b.parquet")
    assert main(["corpus", str(tmp_path), "--out", str(tmp_path / "out"), "--workers", "1"]) == 0
    assert [record["id"] for record in records(tmp_path / "out")] == ["2"]
    assert [(each["id"], each["reason"]) for each in errors(tmp_path / "out")] == [
        ("1", "'text' is null, not a string")
    ]


def test_names_that_are_not_utf8_on_the_command_line_are_no_traceback(tmp_path: Path) -> None:
    """The manifest keeps them, and a second run finds the same."""
    (tmp_path / "in.jsonl").write_bytes(lines(0, 2))
    column = os.fsdecode(b"caf\xe9")
    command = ["corpus", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out"), "--id-column", column]
    for _ in range(2):
        assert main([*command, "--workers", "1"]) == 0
        assert [each["reason"] for each in errors(tmp_path / "out")] == [r"no field 'caf\udce9'"] * 2
    other = subprocess.run([sys.executable, "-m", "fencepost", *command[:-1], "id"], capture_output=True, text=True)
    assert other.returncode == 2
    assert r"--id-column was caf\udce9 and is id" in other.stderr


def test_a_link_is_no_part(tmp_path: Path) -> None:
    """The run was stopped, and someone has put a link of the right length in place of its only part."""
    (tmp_path / "in.jsonl").write_bytes(lines(0, 2))
    command = ["corpus", str(tmp_path / "in.jsonl"), "--out", str(tmp_path / "out"), "--workers", "1"]
    assert main(command) == 0
    part = tmp_path / "out" / "part-00000.jsonl"
    content = part.read_bytes()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    (tmp_path / "out" / "manifest.json").write_text(json.dumps({**manifest, "complete": False}))
    target = "x" * 50
    begun: dict[str, Any] = {"documents": 2, "errors": [], "sentences": 2, "tokens": 6, "bytes": len(target)}
    plan = {"starts": [[0, 1, 0]], "counts": [2], "sizes": [100], "repeated": []}
    (tmp_path / "out" / ".state").mkdir()
    (tmp_path / "out" / ".state" / "plan.json").write_text(json.dumps(plan))
    (tmp_path / "out" / ".state" / "part-00000.json").write_text(json.dumps({**begun, "sha256": ""}))
    part.unlink()
    part.symlink_to(target)
    assert main(command) == 0
    assert not part.is_symlink()
    assert part.read_bytes() == content


def test_a_run_with_another_analyser_of_words_is_another_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A new dictionary of Japanese words finds other words, so the rest of a corpus would be split otherwise."""
    (tmp_path / "in.jsonl").write_bytes(lines(0, 2))
    found = {"SudachiPy": "0.7.0", "SudachiDict-core": "20260101"}
    rules = Rules("ja", ENGLISH, tokenize, tuple(found))
    monkeypatch.setattr("fencepost.corpus.manifest.rules", lambda language: rules)
    monkeypatch.setattr("fencepost.corpus.manifest._version", lambda name: found.get(name, "1"))
    before = Job.of(Options([str(tmp_path / "in.jsonl")], tmp_path / "out")).manifest
    found["SudachiDict-core"] = "20270101"
    now = Job.of(Options([str(tmp_path / "in.jsonl")], tmp_path / "out")).manifest
    assert changes(before, now) == ["it was written with SudachiDict-core 20260101, and this is 20270101"]


def test_a_language_without_rules_for_words_is_refused_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "in.jsonl").write_bytes(lines(0, 2))
    monkeypatch.setattr("fencepost.corpus.manifest.text_language", lambda language, chosen: "zh")
    with pytest.raises(UsageError, match="can't find the words of a text in Chinese"):
        Job.of(Options([str(tmp_path / "in.jsonl")], tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert languages.text_language("zh", "news") == "zh"
