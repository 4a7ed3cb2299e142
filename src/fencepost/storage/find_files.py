"""Finds the files that a list of paths stands for: files, everything below folders, and the matches of globs."""

from __future__ import annotations

import difflib
import glob
import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from fencepost.errors import InputError, UsageError
from fencepost.storage.text_reader import STANDARD_INPUT
from fencepost.storage.text_writer import PARTIAL

_NAMES_COMPARED: Final = 1000  # with a missing name, when looking for the one that is meant


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files, everything below folders, and the matches of globs, in a stable order. ``-`` is standard input."""
    files: list[Path] = []
    for path in paths:
        try:
            files.extend(_files_of(str(path)))
        except OSError as error:
            raise InputError(error.strerror or str(error), source=str(path)) from error
    if len([file for file in files if str(file) == STANDARD_INPUT]) > 1:
        raise InputError("standard input can be read only once", source=STANDARD_INPUT)
    return files


def require_other(outputs: Iterable[str | Path], inputs: Iterable[str | Path]) -> None:
    """Raises UsageError if an output would overwrite an input, which may be the only copy of a treebank."""
    files = [str(path) for path in find_files(inputs)]
    input_paths = {os.path.realpath(file) for file in files if file != STANDARD_INPUT}
    for output in outputs:
        if os.path.realpath(output) in input_paths or (STANDARD_INPUT in files and _is_standard_input(Path(output))):
            raise UsageError(f"{output} is an input and would be overwritten", hint="write to another file")


def _is_standard_input(path: Path) -> bool:
    """True if standard input comes from this file, pipe or socket: the program would read its own output without end.

    Devices don't count: a terminal and /dev/null may be read and written at once.
    """
    try:
        about = path.stat()
        is_device = stat.S_ISCHR(about.st_mode) or stat.S_ISBLK(about.st_mode)
        return not is_device and os.path.samestat(os.fstat(0), about)
    except OSError:  # standard input is closed
        return False


def _files_of(name: str) -> list[Path]:
    if not name:
        raise InputError("a file name is empty")
    path = Path(name)
    if path.is_dir():
        return _files_below(path)
    # Pipes, such as a shell's <(zcat …), and devices can be read like plain files.
    return [path] if name == STANDARD_INPUT or path.exists() else _matches(name)


def _files_below(folder: Path) -> list[Path]:
    files = _walk(folder)
    if not files:
        hint = "give a file, or a folder with files; those whose names begin with a dot are left out"
        if _is_index(folder):
            hint = f"it is an index: fencepost search PATTERN --index {folder}"
        raise InputError("the folder has no files", source=str(folder), hint=hint)
    return files


def _walk(folder: Path) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file() and not _is_ignored(path.relative_to(folder))]
    return sorted(_outside_indexes(files))


def _outside_indexes(files: list[Path]) -> list[Path]:
    indexes = {folder for folder in {path.parent for path in files} if _is_index(folder)}
    return [path for path in files if path.parent not in indexes]


def _is_index(folder: Path) -> bool:
    """True for a folder that ``fencepost search --index`` made, perhaps below the files that it is an index of."""
    return (folder / "index.json").is_file() and (folder / "roots.npy").is_file()


def _is_ignored(path: Path) -> bool:
    """True for hidden files, files in hidden folders, and files that an interrupted run left incomplete."""
    return _is_partial(path) or any(part.startswith(".") for part in path.parts)


def _is_partial(path: Path) -> bool:
    return path.name.endswith(PARTIAL)


def _matches(pattern: str) -> list[Path]:
    """The files that a glob matches and those below the folders it matches, each once."""
    matches = [Path(name) for name in glob.glob(pattern, recursive=True)]
    below = [path for folder in matches if folder.is_dir() for path in _walk(folder)]
    # A glob matches hidden files only if its pattern starts with a dot, so the user wants them.
    named = [path for path in matches if path.is_file() and (pattern.endswith(PARTIAL) or not _is_partial(path))]
    files = sorted({*_outside_indexes(named), *below})
    if not files:
        if glob.has_magic(pattern):
            raise InputError("no file matches", source=pattern)
        near = _nearest(Path(pattern))
        raise InputError("no such file or folder", source=pattern, hint=f"did you mean {near}?" if near else None)
    return files


def _nearest(missing: Path) -> Path | None:
    """The file or folder that may be meant: one beside the missing one with nearly the same name."""
    try:
        names = sorted(os.listdir(missing.parent))
    except OSError:
        return None
    near = difflib.get_close_matches(missing.name, names[:_NAMES_COMPARED], n=1, cutoff=0.75)
    return missing.parent / near[0] if near else None
