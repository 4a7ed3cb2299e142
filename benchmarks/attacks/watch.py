"""Sees what Python code writes, renames or removes outside a folder."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, Final

_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_WITH_FOLDER: Final = ("os.remove", "os.rmdir", "os.mkdir")  # their last argument may be an open folder
_FOLLOW: Final = ("open", "os.truncate", "os.chmod", "os.chown", "os.utime")
_CHANGES: Final = (*_WITH_FOLDER, *_FOLLOW[1:], "os.rename", "os.symlink", "os.link")


class Watch:
    """Counts what Python code writes, renames or removes outside one folder, while a case runs."""

    def __init__(self, folder: Path) -> None:
        self._allowed = (os.path.join(os.path.realpath(folder), ""), os.devnull, "/dev/full", "/proc/self/")
        self._running = False
        self._count = 0

    def __enter__(self) -> None:
        self._running = True

    def __exit__(self, *_: object) -> None:
        self._running = False

    def take(self) -> int:
        count, self._count = self._count, 0
        return count

    def note(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self._running:
            return
        given = arguments[: 2 if event == "os.rename" else 1] if event in _CHANGES or _writes(event, arguments) else ()
        if event in ("os.symlink", "os.link"):
            given = arguments[1:2]  # the first is where it leads
        paths = [each for each in given if isinstance(each, str | bytes | os.PathLike)]
        folder = arguments[-1] if event in _WITH_FOLDER else -1
        for path in map(os.fsdecode, paths):
            base = os.readlink(f"/proc/self/fd/{folder}") if isinstance(folder, int) and folder >= 0 else "."
            parent, name = os.path.split(os.path.join(base, path))
            place = os.path.join(os.path.realpath(parent), name)
            if event in _FOLLOW and not (event == "open" and arguments[2] & (os.O_NOFOLLOW | os.O_EXCL)):
                place = os.path.realpath(place)  # where a link leads; others change the link itself
            if not place.startswith(self._allowed) and not place.endswith(".pyc"):
                self._count += 1
                if sys.__stderr__ is not None:
                    sys.__stderr__.write(f"{event} {place!r}\n")


def _writes(event: str, arguments: tuple[Any, ...]) -> bool:
    if event != "open":
        return False
    _, mode, flags = arguments
    return bool(isinstance(flags, int) and flags & _WRITES) or bool(isinstance(mode, str) and set(mode) & set("wax+"))
