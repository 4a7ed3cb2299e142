"""The files of a model folder: their names, and ``checksums``, which lists them with their SHA-256 digests.

A model may come from a stranger. So its files are plain files with plain names inside the folder, and not too large.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from fencepost.errors import COPY_AGAIN, ModelError
from fencepost.storage.fingerprint import fingerprint
from fencepost.storage.plain_files import NotPlainError, open_plain, read_plain, size_plain
from fencepost.storage.safe_json import parse_json

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
_CHECKSUM_LINE: Final = re.compile("([0-9a-f]{64})  ([A-Za-z0-9_][A-Za-z0-9_.+-]{0,99})")  # digest, name
# The most bytes that a file may have, by the end of its name. Parsing JSON takes up to thirty times its size in memory.
_MOST: Final = {CHECKSUMS: 2**16, ".toml": 2**16, "encoder.json": 2**16, "scores.json": 2**16, ".md": 2**20}
_MOST_JSON, _MOST_IN_OTHERS, _MOST_IN_ALL = 3 * 2**24, 2**33, 2**34
RESOLVE_LINKS: Final = "copy the model folder with its links resolved: cp -rL"


def listed_files(folder: Path) -> list[str]:
    """The names of the model's files, ``checksums`` first; unreadable lines are left out."""
    try:
        return [CHECKSUMS, *(line[2] for line in _checksum_lines(folder, follow=True) if line)]
    except OSError:
        return []


def require_listed(folder: Path, name: str) -> None:
    """Raises ModelError if ``checksums`` doesn't list the file, because then it hasn't been verified."""
    if name not in listed_files(folder):
        raise ModelError(f"{folder}: {name} is not listed in {CHECKSUMS}", hint=COPY_AGAIN)


def read_digests(folder: Path, *, follow: bool = False) -> dict[str, str]:
    """The digest of each file by name, from ``checksums``. Raises ModelError if the list is damaged or cut short."""
    path, lines = folder / CHECKSUMS, _checksum_lines(folder, follow)
    digests: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        if line is None:
            problem = f"line {number} is not a checksum and a plain file name"
            raise ModelError(f"{path}: damaged: {problem}", hint=COPY_AGAIN)
        if line[2] in digests:
            raise ModelError(f"{path}: damaged: {line[2]} is listed twice", hint=COPY_AGAIN)
        digests[line[2]] = line[1]
    for name in (CONFIG, VOCABULARIES):
        if name not in digests:
            raise ModelError(f"{path}: cut short: {name} is not listed", hint=COPY_AGAIN)
    return digests


def model_fingerprint(folder: Path) -> str:
    """Models with the same files have the same fingerprint, wherever they are."""
    return fingerprint(f"{digest} {name}" for name, digest in sorted(read_digests(folder, follow=True).items()))


def find_problem(folder: Path, *, follow: bool = False) -> ModelError | None:
    """The first file that is missing, damaged or not plain, as an error. ``follow``: files may be links."""
    try:
        digests = read_digests(folder, follow=follow)
        total = sum(size_plain(folder / name, _most(name), follow=follow) for name in digests)
        if total > _MOST_IN_ALL:
            return ModelError(f"{folder}: its files are larger than {_MOST_IN_ALL:,} bytes", hint=COPY_AGAIN)
        for name, digest in digests.items():
            if file_digest(folder / name, follow=follow) != digest:
                return ModelError(f"{folder / name}: damaged: its checksum is wrong", hint=COPY_AGAIN)
    except ModelError as error:
        return error
    except OSError as error:
        return unreadable(error)
    return None


def unreadable(error: OSError) -> ModelError:
    """The error for a file of a model that can't be read."""
    path = Path(error.filename or ".")  # a disk that fails while a file is being read doesn't name the file
    if isinstance(error, FileNotFoundError):
        return ModelError(f"{path.parent}: {path.name} is missing", hint=COPY_AGAIN)
    is_link = isinstance(error, NotPlainError) and path.is_symlink()
    return ModelError(f"{path}: {error.strerror}", hint=RESOLVE_LINKS if is_link else COPY_AGAIN)


def read_model_file(folder: Path, name: str) -> bytes:
    """The content of a file of the model. Links were refused when the model was verified, if they aren't allowed."""
    try:
        return read_plain(folder / name, _most(name), follow=True)
    except OSError as error:
        with naming(folder):
            raise unreadable(error) from error


def read_scores(folder: Path) -> dict[str, dict[str, Any]]:
    """The figures of each test set by its name, ``f1`` among them; none if the model has no such file."""
    if SCORES not in listed_files(folder):
        return {}
    content = read_model_file(folder, SCORES)
    try:
        scores: dict[str, dict[str, Any]] = parse_json(content.decode())
        found = {str(name): {**figures, "f1": float(figures["f1"])} for name, figures in scores.items()}
        if not all(math.isfinite(figures["f1"]) for figures in found.values()):
            raise ValueError("a score is not a finite number")
        if not all(map(str.isprintable, found)):
            raise ValueError("the name of a test set can't be shown")
        return found
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ModelError(f"{folder / SCORES}: damaged: {type(error).__name__}: {error}", hint=COPY_AGAIN) from error


def format_scores(scores: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The text of ``scores.json``."""
    return (json.dumps(scores, indent=2) + "\n").encode()


def format_digests(contents: Mapping[str, bytes]) -> str:
    """The text of ``checksums`` for files with these contents."""
    return "".join(f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(contents.items()))


def file_digest(path: Path, *, follow: bool = False) -> str:
    """The SHA-256 of a plain file, read in pieces: a whole graph at once takes twice as long."""
    digest, piece = hashlib.sha256(), bytearray(2**18)
    with open_plain(path, _most(path.name), follow=follow) as file:
        while size := file.readinto(piece):  # type: ignore[attr-defined]
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


def _checksum_lines(folder: Path, follow: bool) -> list[re.Match[str] | None]:
    text = read_plain(folder / CHECKSUMS, _most(CHECKSUMS), follow=follow).decode("utf-8", errors="replace")
    return [_CHECKSUM_LINE.fullmatch(line) for line in text.splitlines()]


def _most(name: str) -> int:
    """The most bytes that a file of this name may have."""
    limits = [most for end, most in _MOST.items() if name.endswith(end)]
    return limits[0] if limits else _MOST_JSON if name.endswith(".json") else _MOST_IN_OTHERS
