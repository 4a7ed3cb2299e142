"""The output folder. A part gets its name only when it is complete and on the disk, so a run can end at any moment.

``manifest.json`` says what the run reads, and how. The hidden folder ``.state`` has the plan, and the counts and errors
of each part, until the run is complete. Nothing in the output depends on the clock, on the number of workers or on
interruptions: the same documents and settings always give the same bytes.
"""

from __future__ import annotations

import errno
import hashlib
import json
import os
import re
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from fencepost.corpus.manifest import Manifest, changes
from fencepost.corpus.part_maker import Part
from fencepost.corpus.plan import Plan
from fencepost.errors import OutputError, UsageError
from fencepost.storage.folders import new_folder
from fencepost.storage.lock import locked
from fencepost.storage.plain_files import read_plain
from fencepost.storage.safe_json import parse_json
from fencepost.storage.text_writer import PARTIAL

MANIFEST, ERRORS = "manifest.json", "errors.jsonl"
_STATE, _PLAN, _LOCK = ".state", "plan.json", ".lock"
_MOST: Final = 2**30  # bytes of a file with the state of a run
_WRONG: Final = (OSError, ValueError, KeyError, TypeError, AttributeError, IndexError)  # errors in such files
_PART: Final = re.compile(r"part-[0-9]{5,}\.[a-z]+").fullmatch
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


class Counts(NamedTuple):
    """What became of documents."""

    documents: int = 0  # all, those with errors included
    errors: int = 0
    sentences: int = 0
    tokens: int = 0

    def plus(self, other: Counts) -> Counts:
        return Counts(*(one + more for one, more in zip(self, other, strict=True)))


class OutputFolder:
    """The output of one run, for one process at a time."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self._manifest = manifest
        self._state = path / _STATE
        self._has_begun = False  # the folder has the manifest of this run

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Keeps other runs away. Raises UsageError if there is one, or if the folder has the output of another run."""
        with new_folder(self.path):
            lock = locked(self.path / _LOCK, wait=False)
            try:
                lock.__enter__()
            except BlockingIOError:
                hint = "wait for it, or choose another --out folder"
                raise UsageError(f"another run is writing to {self.path}", hint=hint) from None
            try:
                self.look()
                self._tidy()
                yield
            finally:
                lock.__exit__(None, None, None)

    @property
    def is_complete(self) -> bool:
        return bool(self._manifest.get("complete"))

    @property
    def parts(self) -> int:
        """The number of parts of a complete run."""
        return len(self._manifest["parts"])

    @property
    def counts(self) -> Counts:
        """Those of a complete run."""
        return Counts(*(self._manifest[name] for name in Counts._fields))

    @property
    def other_languages(self) -> dict[str, int]:
        """In a complete run, the number of documents that aren't in the model's language, by their language."""
        return _languages(self._manifest.get("other_languages", {}))  # older runs didn't look

    def read_plan(self) -> Plan | None:
        """The plan of the run that is going on here, if there is one. A damaged one is made again, and is the same."""
        if not self._has_begun:
            return None
        try:
            return Plan.from_json(_read(self._state / _PLAN))
        except _WRONG:
            return None

    def begin(self, plan: Plan) -> None:
        """Makes the folder that of this run. Until then nothing is written, and other settings may be tried."""
        if not self._has_begun:
            self._remove_state()  # of a run whose other files were removed
        self._write(self.path / MANIFEST, _json(self._manifest, indent=1))
        with _naming(self._state):
            self._state.mkdir(exist_ok=True)
        self._write(self._state / _PLAN, _json(plan.to_json()))
        self._has_begun = True

    def write(self, part: Part) -> Counts:
        """Writes a part. Its counts and errors come first: when the part is there, so are they."""
        state = {
            "documents": part.documents,
            "errors": [failure._asdict() for failure in part.failures],
            "sentences": part.sentences,
            "tokens": part.tokens,
            "other_languages": part.other_languages,
            "bytes": len(part.content),
            "sha256": hashlib.sha256(part.content).hexdigest(),
        }
        self._write(self._state_path(part.number), _json(state))
        self._write(self._part_path(part.number), part.content)
        return _counts(state)

    def counts_of(self, number: int) -> Counts | None:
        """The counts of a part, or None if it isn't complete."""
        try:
            state = _read(self._state_path(number))
            _languages(state["other_languages"])
            about = self._part_path(number).lstat()
            is_complete = stat.S_ISREG(about.st_mode) and about.st_size == state["bytes"]
            return _counts(state) if is_complete else None
        except _WRONG:
            return None

    def progress(self, plan: Plan) -> tuple[Counts, list[int]]:
        """What became of the documents in complete parts, and the numbers of the other parts."""
        total, missing = Counts(), []
        for number in range(len(plan)):
            if (counts := self.counts_of(number)) is None:
                missing.append(number)
            else:
                total = total.plus(counts)
        return total, missing

    def finish(self, parts: int) -> Counts:
        """Writes the list of errors and the whole manifest, when all parts are there."""
        total, listed = Counts(), []
        errors: list[str] = []
        others: Counter[str] = Counter()
        for number in range(parts):
            state = _read(self._state_path(number))
            total = total.plus(_counts(state))
            others.update(_languages(state.pop("other_languages")))
            errors += [json.dumps(error, ensure_ascii=False) + "\n" for error in state.pop("errors")]
            listed.append({"name": self._part_path(number).name, **state})
        self._write(self.path / ERRORS, "".join(errors).encode("utf-8", "backslashreplace"))
        totals = {**total._asdict(), "other_languages": dict(others.most_common())}
        self._manifest = {**self._manifest, "complete": True, **totals, "parts": listed}
        self._write(self.path / MANIFEST, _json(self._manifest, indent=1))
        self._remove_state()
        return total

    def look(self) -> None:
        """Reads the manifest, if there is one. Raises UsageError if the folder has the output of another run."""
        path = self.path / MANIFEST
        if self._state.is_symlink():
            raise UsageError(f"{self._state} is a link, not a folder", hint="choose another --out folder")
        if not os.path.lexists(path):
            if strangers := [*self.path.glob("part-*"), *self.path.glob(ERRORS)]:
                hint = "choose another --out folder"
                raise UsageError(f"{self.path} has {strangers[0].name} but no {MANIFEST}", hint=hint)
            return
        try:
            found: Manifest = _read(path)
            changed = changes(found, self._manifest)
        except _WRONG as error:
            raise _unreadable(path, error) from error
        if changed:
            raise UsageError(
                f"{self.path} has the output of another run: {'; '.join(changed)}",
                hint="run the same command as before to resume, or choose another --out folder",
            )
        self._manifest = found
        self._has_begun = True
        if self.is_complete:
            self._require_parts()

    def _tidy(self) -> None:
        """Removes files that a killed run left half-written, or hadn't removed yet."""
        if not self._has_begun:
            return
        for unfinished in (*self.path.glob(f".part-*{PARTIAL}"), *map(self._growing, (MANIFEST, ERRORS, _PLAN))):
            unfinished.unlink(missing_ok=True)
        if self.is_complete:
            self._remove_state()

    def _remove_state(self) -> None:
        """Removes our own files, and the folder if nothing else is in it."""
        with suppress(OSError):
            for path in (self._state / _PLAN, *self._state.glob("part-*.json")):
                path.unlink(missing_ok=True)
            self._state.rmdir()

    def _require_parts(self) -> None:
        """Raises UsageError if a part of a complete run isn't there any more: this run wouldn't make it again."""
        try:
            parts = [(self.path / part["name"], part["bytes"]) for part in self._manifest["parts"]]
            counts = (*self.counts, *self.other_languages.values(), *(size for _, size in parts))
            if any(type(number) is not int for number in counts):
                raise ValueError("a count isn't a number")
            if names := [path.name for path, _ in parts if path != self.path / path.name or not _PART(path.name)]:
                raise ValueError(f"{names[0]!r} isn't the name of a part")
        except KeyError as error:
            problem = f"{self.path / MANIFEST} can't be read: it is complete but has no {error}"
            raise UsageError(problem, hint="choose another --out folder") from error
        except (TypeError, ValueError) as error:
            raise UsageError(
                f"{self.path / MANIFEST} can't be read: {error}", hint="choose another --out folder"
            ) from error
        for path, size in parts:
            if not path.is_file() or path.stat().st_size != size:
                problem = f"{path} is not the file that the run wrote" if path.exists() else f"{path} is missing"
                raise UsageError(
                    f"{problem}, and the run is complete", hint="choose another --out folder to make all parts again"
                )

    def _name(self, number: int) -> str:
        return f"part-{number:05}"

    def _part_path(self, number: int) -> Path:
        return self.path / f"{self._name(number)}.{self._manifest['settings']['format']}"

    def _state_path(self, number: int) -> Path:
        return self._state / f"{self._name(number)}.json"

    def _growing(self, name: str) -> Path:
        return self.path / f".{name}{PARTIAL}"

    def _write(self, path: Path, content: bytes) -> None:
        """Writes beside, waits for the disk, then renames: the file is there in full, or it isn't there."""
        growing = self._growing(path.name)
        with _naming(path):
            growing.unlink(missing_ok=True)  # a killed run left it, or someone put a link there
            try:
                with growing.open("xb") as file:
                    file.write(content)
                    file.flush()
                    os.fsync(file.fileno())
                os.replace(growing, path)
                _sync_folder(path.parent)
            except BaseException:
                growing.unlink(missing_ok=True)
                raise


def _json(data: object, indent: int | None = None) -> bytes:
    # Names from the command line needn't be UTF-8; a backslash before their bytes is JSON for the same name.
    return (json.dumps(data, ensure_ascii=False, indent=indent) + "\n").encode("utf-8", "backslashreplace")


def _read(path: Path) -> Any:
    """Reads a JSON file of a run. The folder may be a stranger's, so it may contain anything; see ``_WRONG``."""
    return parse_json(read_plain(path, _MOST).decode("utf-8"))


def _unreadable(path: Path, error: Exception) -> UsageError:
    problem = error.strerror if isinstance(error, OSError) else str(error) if type(error) is ValueError else repr(error)
    return UsageError(f"{path} can't be read: {problem}", hint="choose another --out folder")


def _counts(state: dict[str, Any]) -> Counts:
    return Counts(state["documents"], len(state["errors"]), state["sentences"], state["tokens"])


def _languages(found: Any) -> dict[str, int]:
    """Documents by language. Raises TypeError if it is something else: the folder may be a stranger's."""
    if not isinstance(found, dict) or any(type(count) is not int for count in found.values()):
        raise TypeError(f"documents by language expected, found {found!r:.50}")
    return found


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        space = "free some space, then " if error.errno in _FULL else ""
        hint = f"{space}run the same command again: it resumes where this run stopped"
        raise OutputError(f"{path}: can't be written: {error.strerror}", hint=hint) from error


def _sync_folder(path: Path) -> None:
    """Makes a new name last through a power cut, where the system can do that."""
    if os.name == "posix":
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
