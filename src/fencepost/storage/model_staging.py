"""Puts a new model in place without ever showing half of it.

A writer first completes all files in a staging folder inside the model folder; its ``checksums`` comes last and says
that they are complete. Then the files are moved into place one by one, ``checksums`` again last. A process that dies
before the first ``checksums`` leaves the old model; one that dies later leaves enough to finish the move.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from fencepost.errors import ModelError, UsageError
from fencepost.storage.lock import locked
from fencepost.storage.model_files import CHECKSUMS, file_digest, listed_files, read_digests

STAGING: Final = ".fencepost-incoming"  # folder in a model folder, while a model is being written
LOCK: Final = ".fencepost-lock"  # file in a model folder, while a process writes there


def recover(folder: Path) -> None:
    """Finishes or discards what a process left that died while writing a model. Waits for one that is still alive."""
    if os.path.lexists(folder / STAGING):
        with locked(folder / LOCK):
            recover_locked(folder)


def recover_locked(folder: Path) -> None:
    """``recover`` for a caller that holds the lock."""
    finish(folder)
    staging = folder / STAGING
    if os.path.lexists(staging):  # its files are not complete
        if staging.is_symlink() or not staging.is_dir():
            raise UsageError(f"{staging} is no folder, and models are put together in one of that name", hint="move it")
        shutil.rmtree(staging)


def finish(folder: Path) -> None:
    """Moves a staged model into place if all of its files are there."""
    if _is_complete(folder):
        put_in_place(folder)


def _is_complete(folder: Path) -> bool:
    staging = folder / STAGING
    try:
        return all(
            file_digest((staging if (staging / name).exists() else folder) / name) == digest
            for name, digest in read_digests(staging).items()
        )
    except (OSError, ModelError):
        return False


def put_in_place(folder: Path) -> None:
    """Moves the staged files over those of the old model and removes those that the new model lacks."""
    staging = folder / STAGING
    old_files, new_files = listed_files(folder), listed_files(staging)
    for file in sorted(staging.iterdir(), key=lambda file: file.name == CHECKSUMS):  # the list of files comes last
        target = folder / file.name
        if target.exists() and file.name not in old_files:  # a user's own file, made since training began
            os.replace(target, target.with_name(f"{file.name}.yours"))
        os.replace(file, target)
    for name in old_files:
        # Anybody may have written the list; it must not lead out of the folder.
        if name not in new_files and Path(name).name == name:
            (folder / name).unlink(missing_ok=True)
    staging.rmdir()
