"""Finds the files of documents that a list of paths stands for, and the format of each."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal, TypeAlias

from fencepost.errors import InputError, UsageError
from fencepost.storage.find_files import find_files
from fencepost.storage.text_reader import STANDARD_INPUT

Kind: TypeAlias = Literal["jsonl", "parquet", "txt"]
Packing: TypeAlias = Literal["gz", "zst", None]

SURROGATE: Final = re.compile("[\ud800-\udfff]")  # stands for a byte that isn't UTF-8, or for nothing
_KINDS: Final[dict[str, Kind]] = {".jsonl": "jsonl", ".parquet": "parquet", ".txt": "txt"}
_PACKINGS: Final[dict[str, Packing]] = {".gz": "gz", ".zst": "zst"}
_READABLE: Final = ".jsonl, .parquet or .txt; .jsonl and .txt may be compressed as .gz or .zst"


@dataclass(frozen=True)
class InputFile:
    """A file of documents. Its size and time of change tell whether a resumed run still reads the same file."""

    path: str
    kind: Kind
    packing: Packing
    size: int  # bytes on disk
    modified: int  # nanoseconds

    def require_unchanged(self) -> None:
        """Raises InputError if the file on disk is no longer the one that was found."""
        status = _status(Path(self.path))
        if (status.st_size, status.st_mtime_ns) != (self.size, self.modified):
            raise InputError(
                "the file changed while it was read",
                source=self.path,
                hint="when nothing writes to the file any more, start again with another --out",
            )


def find_inputs(paths: Sequence[str], out: Path) -> tuple[list[InputFile], int]:
    """The files in a stable order, each once, and how many files of folders and globs were skipped.

    Files of other formats are skipped, and so is the output folder if it is in an input folder.
    """
    found: dict[str, InputFile] = {}
    others = 0
    for name in paths:
        if name == STANDARD_INPUT:
            raise UsageError(
                "a corpus can't be read from standard input", hint="give files: a resumed run has to read them again"
            )
        is_file = os.path.isfile(name)
        for path in find_files([name]):
            if _is_below(path, out):
                if is_file:
                    raise UsageError(f"{path} is in the output folder {out}", hint="choose another --out folder")
            elif (format_ := _format(path)) is not None:
                found.setdefault(os.path.realpath(path), _input_file(path, *format_))
            elif is_file or not path.is_file():
                raise UsageError(f"can't tell the format of {path}", hint=f"use files named {_READABLE}")
            else:
                others += 1
    if not found:
        raise UsageError(f"no file to read in {', '.join(paths)}", hint=f"use files named {_READABLE}")
    return list(found.values()), others


def _is_below(path: Path, folder: Path) -> bool:
    return Path(os.path.realpath(folder)) in Path(os.path.realpath(path)).parents


def _format(path: Path) -> tuple[Kind, Packing] | None:
    packing = _PACKINGS.get(path.suffix)
    kind = _KINDS.get(path.with_suffix("").suffix if packing else path.suffix)
    return None if kind is None or (kind == "parquet" and packing) else (kind, packing)


def _input_file(path: Path, kind: Kind, packing: Packing) -> InputFile:
    status = _status(path)
    if SURROGATE.search(str(path)):
        shown = str(path).encode("utf-8", "backslashreplace").decode()
        raise UsageError(f"the name of {shown} isn't UTF-8, and ids are", hint="rename the file")
    if not path.is_file():
        raise UsageError(f"{path} isn't a file", hint="a resumed run has to read its files again")
    return InputFile(str(path), kind, packing, status.st_size, status.st_mtime_ns)


def _status(path: Path) -> os.stat_result:
    try:
        return path.stat()
    except OSError as error:
        raise InputError(error.strerror or str(error), source=str(path)) from error
