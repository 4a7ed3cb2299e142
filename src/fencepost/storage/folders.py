"""Folders to write into. They are made before the work begins, so that a bad path fails at once and not hours later."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fencepost.errors import UsageError


def require_folder(path: str | Path) -> None:
    """Makes the folder if it is missing. Raises UsageError unless files can be written there."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"can't create the folder {path}: {error.strerror}", hint="give another folder") from error
    if not os.access(path, os.W_OK):
        raise UsageError(f"no permission to write to {path}", hint="give another folder")


@contextmanager
def new_folder(path: str | Path) -> Iterator[None]:
    """Makes a folder as ``require_folder`` does, and removes it again at the end if it is still empty."""
    missing = [folder for folder in (Path(path), *Path(path).parents) if not os.path.lexists(folder)]
    require_folder(path)
    try:
        yield
    finally:
        with suppress(OSError):  # the folder isn't empty
            for folder in missing:
                folder.rmdir()
