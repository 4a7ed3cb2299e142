"""Puts a new model in place without ever showing half of it.

A writer first writes all files to a staging folder inside the model folder. It writes ``checksums`` last, which shows
that the others are complete. Then it moves the files into place one by one, ``checksums`` last again. If it dies before
``checksums`` is written, the old model stays; if it dies later, there is enough to finish the move.
"""

from __future__ import annotations

import os
import shutil
import sys
from itertools import count
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
    staging = folder / STAGING
    if not os.path.lexists(staging):
        return
    if staging.is_symlink() or not staging.is_dir():
        raise UsageError(f"{staging} is not a folder, and models need a folder of that name", hint="move it")
    if _is_complete(folder):
        put_in_place(folder)
    else:
        shutil.rmtree(staging)


def _is_complete(folder: Path) -> bool:
    """True if each file of the new model is here or has already been moved. A link counts as missing."""
    staging = folder / STAGING
    try:
        return all(
            file_digest((staging if os.path.lexists(staging / name) else folder) / name) == digest
            for name, digest in read_digests(staging).items()
        )
    except (OSError, ModelError):
        return False


def put_in_place(folder: Path) -> None:
    """Moves the staged files over the old model's, and removes old files that the new model doesn't have."""
    staging = folder / STAGING
    old_files, new_files = listed_files(folder), listed_files(staging)
    for name in (*new_files[1:], CHECKSUMS):  # the list of files comes last
        if not os.path.lexists(staging / name):  # a process that died has moved it
            continue
        if os.path.lexists(folder / name) and name not in old_files:
            _keep(folder / name)
        os.replace(staging / name, folder / name)
    for name in old_files:
        if name not in new_files:
            (folder / name).unlink(missing_ok=True)
    shutil.rmtree(staging)


def _keep(path: Path) -> None:
    """Renames a user's own file that has the name of a model's file, and was made since the writer began."""
    numbers = (f".{number}" if number else "" for number in count())
    kept = next(name for number in numbers if not os.path.lexists(name := path.with_name(f"{path.name}.yours{number}")))
    os.replace(path, kept)
    sys.stderr.write(f"note: {path} isn't part of the model; it was renamed to {kept.name}\n")
