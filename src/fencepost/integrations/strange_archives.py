"""Zip files and pickles that may come from a stranger: their lists of members and objects are looked at before use.

torch refuses pickles that would run code, but a pickle of a few hundred bytes could keep it busy for ever: a tuple of
the same tuple twice, of which each is a tuple of the same tuple twice, and so on, as the key of a dictionary.
"""

from __future__ import annotations

import errno
import io
import os
import pickletools
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final

_MOST_AT_ONCE: Final = 2**22  # bytes; the list of an archive's members is read at once
_MOST_IN_PICKLE, _MOST_OPERATIONS, _MOST_IN_TUPLE = 2**22, 10**6, 10**4
_OLD_PICKLES: Final = 5  # at the start of a file that isn't an archive, before the numbers
# What a file of tensors needs. torch allows more, such as ``bytearray(2**40)``.
_NEEDED: Final = frozenset({"OrderedDict", "_rebuild_tensor", "_rebuild_tensor_v2", "_rebuild_parameter", "Size"})
_BROKEN: Final = (zipfile.BadZipFile, zlib.error, struct.error, RuntimeError, EOFError, NotImplementedError)


@contextmanager
def open_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Opens a zip file. Raises ValueError if it is damaged, or if its list of members would fill the memory."""
    try:
        with _Careful(path) as file, zipfile.ZipFile(file) as archive:
            yield archive
    except _BROKEN as error:
        raise ValueError(f"a damaged archive: {error}") from error
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise ValueError("a damaged archive: its start is missing") from error


def is_archive(path: Path) -> bool:
    """True for a zip file. Raises ValueError if it is damaged in a way that ``zipfile.is_zipfile`` doesn't expect."""
    try:
        return zipfile.is_zipfile(path)
    except zipfile.BadZipFile as error:
        raise ValueError(f"a damaged archive: {error}") from error


class _Careful(io.FileIO):
    """A file that is never read in large pieces."""

    def read(self, size: int | None = -1) -> bytes:
        wanted = os.fstat(self.fileno()).st_size - self.tell() if size is None or size < 0 else size
        if wanted > _MOST_AT_ONCE:
            raise ValueError(f"the archive's list of members has {wanted:,} bytes")
        return super().read(size)


def require_small_pickles(path: Path) -> None:
    """Raises ValueError unless the pickles in a file of tensors are small, and need nothing but tensors."""
    if not is_archive(path):
        with path.open("rb") as file:
            for _ in range(_OLD_PICKLES):
                _check(file)
        return
    with open_archive(path) as archive:
        for info in archive.infolist():
            if info.filename.lower().endswith(".pkl"):
                if info.file_size > _MOST_IN_PICKLE:
                    raise ValueError(f"{info.filename} has {info.file_size:,} bytes")
                _check(io.BytesIO(archive.read(info)))


def _check(file: IO[bytes]) -> None:
    """Follows a pickle's stack, with the size of each tuple in place of the object. Nothing is built."""
    stack: list[int | None] = []  # None is a mark
    memo: dict[object, int] = {}
    for count, (operation, argument, _) in enumerate(pickletools.genops(file)):
        if count > _MOST_OPERATIONS:
            raise ValueError("it has too many objects")
        name = operation.name
        if name == "STACK_GLOBAL" or (name in ("GLOBAL", "INST") and not _is_needed(str(argument))):
            raise ValueError(f"it needs {argument!s:.50}")
        if name in ("PUT", "BINPUT", "LONG_BINPUT"):
            memo[argument] = stack[-1] or 0
            continue
        if name in ("GET", "BINGET", "LONG_BINGET"):
            stack.append(memo[argument])
            continue
        taken = _taken(stack, operation)
        if name.startswith("TUPLE") and sum(taken) > _MOST_IN_TUPLE:
            raise ValueError("it has a tuple that is too large")
        size = 1 + sum(taken) if name.startswith("TUPLE") else 1
        stack += [None if each is pickletools.markobject else size for each in operation.stack_after]


def _taken(stack: list[int | None], operation: pickletools.OpcodeInfo) -> list[int]:
    """Takes what an operation reads off the stack."""
    if pickletools.stackslice in operation.stack_before:
        taken = []
        while (size := stack.pop()) is not None:
            taken.append(size)
        below = len(operation.stack_before) - 2
    else:
        taken, below = [], len(operation.stack_before)
    return taken + [stack.pop() or 0 for _ in range(below)]


def _is_needed(name: str) -> bool:
    module, _, kind = name.rpartition(" ")
    return kind in _NEEDED or (module.startswith("torch") and kind.endswith("Storage"))
