"""What the benchmarks of ``fencepost corpus`` share: documents of the built-in sentences, and how to run and check."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from fencepost.parsing.timing import bench_sentences


def write_documents(path: Path, sentences: int, *, longest: int = 20) -> int:
    """Writes documents of 1 to ``longest`` sentences as JSON Lines, and returns how many there are."""
    choose, texts = random.Random(0), [" ".join(words) for words in bench_sentences()]
    documents = 0
    with path.open("w", encoding="utf-8") as file:
        while sentences > 0:
            size = min(choose.randint(1, longest), sentences)
            text = " ".join(choose.choice(texts) for _ in range(size))
            file.write(json.dumps({"id": f"document {documents}", "text": text}) + "\n")
            sentences -= size
            documents += 1
    return documents


def start(arguments: list[object], log: Path | None = None) -> subprocess.Popen[bytes]:
    """``fencepost corpus`` with these arguments, in a process group of its own."""
    errors = subprocess.DEVNULL if log is None else log.open("ab")
    command = [sys.executable, "-m", "fencepost", "corpus", *map(str, arguments)]
    return subprocess.Popen(command, stdout=errors, stderr=errors, start_new_session=True)


def parts(folder: Path) -> int:
    return len(list(folder.glob("part-*")))


def wait_for_parts(folder: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    """Waits until there are this many parts, or the process ends."""
    while parts(folder) < count and process.poll() is None:
        time.sleep(0.02)


def differences(folder: Path, expected: Path) -> list[str]:
    """The files that aren't the same in two folders."""
    names = {str(path.relative_to(root)) for root in (folder, expected) for path in root.rglob("*") if path.is_file()}
    return sorted(name for name in names if _content(folder / name) != _content(expected / name))


def lost_and_doubled(folder: Path, documents: int) -> tuple[int, int]:
    """How many documents aren't in the output, and how many are in it more than once."""
    seen = Counter(_first_sentences(folder))
    expected = {f"document {number}" for number in range(documents)}
    return len(expected - set(seen)), sum(1 for count in seen.values() if count > 1)


def _first_sentences(folder: Path) -> Iterator[str]:
    """The ids of the documents whose first sentence is in the output."""
    for path in sorted(folder.glob("part-*")):
        if path.suffix == ".parquet":
            import pyarrow.parquet

            rows = pyarrow.parquet.read_table(path, columns=["id", "sentence"]).to_pylist()
        else:
            rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
        yield from (row["id"] for row in rows if row["sentence"] == 0)


def _content(path: Path) -> bytes | None:
    return path.read_bytes() if path.exists() else None


def machine() -> str:
    return f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {sys.platform}"
