"""``log.jsonl`` in the model folder: one line for each check of a run."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

from fencepost.training.check import Check

LOG: Final = "log.jsonl"


@contextmanager
def open_log(out: Path, step: int) -> Iterator[IO[str]]:
    """Opens the log to append the checks after ``step``.

    A resumed run first removes the checks that came after its checkpoint, because it will do them again.
    """
    path = (out / LOG).resolve()  # a link stays one
    before = [*io.BytesIO(path.read_bytes())] if path.exists() else []
    kept = [line for line in before if _stays(line, step)]
    if kept != before:
        beside = path.with_name(f".fencepost-{LOG}")
        beside.unlink(missing_ok=True)  # a link would lead to another file
        beside.write_bytes(b"".join(kept))
        os.replace(beside, path)
    with path.open("a", encoding="utf-8") as file:
        yield file


def is_logged(out: Path, step: int) -> bool:
    """True if the log has a check at this step."""
    path = out / LOG
    return path.exists() and any(_step(line) == step for line in io.BytesIO(path.read_bytes()))


def write_check(log: IO[str], check: Check) -> None:
    log.write(json.dumps(check.to_json()) + "\n")
    log.flush()


def _stays(line: bytes, step: int) -> bool:
    """True for a check up to this step, and for any line that we didn't write."""
    if not line.endswith(b"\n"):
        return False  # cut short by a crash
    found = _step(line)
    return found is None or found <= step


def _step(line: bytes) -> int | None:
    """The step of a check; None for a line that we didn't write."""
    try:
        step = json.loads(line)["step"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return step if isinstance(step, int) else None
