"""Puts a new model in place without ever showing half of it.

A writer first writes all files to a staging folder inside the model folder. It writes ``checksums`` last, which shows
that the others are complete. Then it moves the files into place one by one, ``checksums`` last again. If it dies before
``checksums`` is written, the old model stays; if it dies later, there is enough to finish the move.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Final

from fencepost.errors import ModelError, UsageError
from fencepost.storage.lock import locked
from fencepost.storage.model_files import CHECKSUMS, file_digest, listed_files, read_digests

STAGING: Final = ".fencepost-incoming"  # a folder inside the model folder while a model is being written
LOCK: Final = ".fencepost-lock"  # a file in the model folder while a process is writing there


def recover(folder: Path) -> None:
    """Finishes or discards a model whose writer died. If the writer is still alive, waits for it."""
    if os.path.lexists(folder / STAGING):
        with locked(folder / LOCK):
            recover_locked(folder)


def recover_locked(folder: Path) -> None:
    """``recover`` for a caller that holds the lock."""
    finish(folder)
    staging = folder / STAGING
    if os.path.lexists(staging):  # its files are not complete
        if staging.is_symlink() or not staging.is_dir():
            raise UsageError(f"{staging} is not a folder, and models need a folder of that name", hint="move it")
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
    """Moves the staged files over the old model's, and removes old files that the new model doesn't have."""
    staging = folder / STAGING
    old_files, new_files = listed_files(folder), listed_files(staging)
    for file in sorted(staging.iterdir(), key=lambda file: file.name == CHECKSUMS):  # the list of files comes last
        target = folder / file.name
        if target.exists() and file.name not in old_files:  # a user's own file, made since training began
            os.replace(target, target.with_name(f"{file.name}.yours"))
        os.replace(file, target)
    for name in old_files:
        # The list may come from an untrusted source, and must not lead out of the folder.
        if name not in new_files and Path(name).name == name:
            (folder / name).unlink(missing_ok=True)
    staging.rmdir()
