"""The files of a model folder: their names, and ``checksums``, which lists them with their SHA-256 digests."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fencepost.errors import COPY_AGAIN, ModelError

CONFIG, VOCABULARIES, WEIGHTS, CARD, CHECKSUMS = (
    "config.toml",
    "vocab.json",
    "model.safetensors",
    "README.md",
    "checksums",
)
ONNX, SPANS = "model.onnx", "spans.onnx"  # in an exported model, beside the graphs of its lexical kinds
SCORES: Final = "scores.json"  # optional: what a model scores on test sets, for `fencepost models`
FUNCTIONS: Final = "functions.onnx"  # in an exported model that predicts functions
CHECKPOINT: Final = "checkpoint.safetensors"  # lies beside the model's files, but belongs to training
_CHECKSUM_LINE: Final = re.compile("([0-9a-f]{64})  ([^\\0]+)")  # digest, name


def listed_files(folder: Path) -> list[str]:
    """The names of the model's files, ``checksums`` first; unreadable lines are left out."""
    try:
        return [CHECKSUMS, *(line[2] for line in _checksum_lines(folder) if line)]
    except OSError:
        return []


def require_listed(folder: Path, name: str) -> None:
    """Raises ModelError if ``checksums`` doesn't list the file, because then it hasn't been verified."""
    if name not in listed_files(folder):
        raise ModelError(f"{folder}: {name} is not listed in {CHECKSUMS}", hint=COPY_AGAIN)


def read_digests(folder: Path) -> dict[str, str]:
    """The digest of each file by name, from ``checksums``. Raises ModelError if the list is damaged or cut short."""
    path, lines = folder / CHECKSUMS, _checksum_lines(folder)
    if None in lines:
        raise ModelError(f"{path}: damaged: line {lines.index(None) + 1} is not a checksum and a name", hint=COPY_AGAIN)
    digests = {line[2]: line[1] for line in lines if line}
    for name in (CONFIG, VOCABULARIES):
        if name not in digests:
            raise ModelError(f"{path}: cut short: {name} is not listed", hint=COPY_AGAIN)
    return digests


def read_scores(folder: Path) -> dict[str, dict[str, Any]]:
    """The figures of each test set by its name, ``f1`` among them; none if the model has no such file."""
    if SCORES not in listed_files(folder):
        return {}
    try:
        scores: dict[str, dict[str, Any]] = json.loads((folder / SCORES).read_text("utf-8"))
        return {str(name): {**figures, "f1": float(figures["f1"])} for name, figures in scores.items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{folder / SCORES}: damaged: {type(error).__name__}: {error}", hint=COPY_AGAIN) from error


def format_scores(scores: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The text of ``scores.json``."""
    return (json.dumps(scores, indent=2) + "\n").encode()


def format_digests(contents: Mapping[str, bytes]) -> str:
    """The text of ``checksums`` for files with these contents."""
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(contents.items()))


def file_digest(path: Path) -> str:
    """The SHA-256 of a file, read in pieces: a whole graph at once takes twice as long."""
    digest, piece = hashlib.sha256(), bytearray(2**18)
    with path.open("rb", buffering=0) as file:
        while size := file.readinto(piece):
            digest.update(memoryview(piece)[:size])
    return digest.hexdigest()


@contextmanager
def naming(folder: Path) -> Iterator[None]:
    """Puts the model folder's name in front of a ModelError that lacks it."""
    try:
        yield
    except ModelError as error:
        if str(folder) in error.message:
            raise
        raise ModelError(f"{folder}: {error.message}", hint=error.hint or COPY_AGAIN) from error


def _checksum_lines(folder: Path) -> list[re.Match[str] | None]:
    text = (folder / CHECKSUMS).read_text("utf-8", errors="replace")
    return [_CHECKSUM_LINE.fullmatch(line) for line in text.splitlines()]
