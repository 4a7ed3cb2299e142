"""The folder that a run writes to: one run at a time, and never over another run's model or log."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import Enum, auto
from pathlib import Path
from typing import Final

from fencepost.errors import ModelError, UsageError
from fencepost.storage.folders import new_folder
from fencepost.storage.lock import locked
from fencepost.storage.model_files import CHECKPOINT, listed_files
from fencepost.storage.model_folder import read_config
from fencepost.storage.model_staging import recover
from fencepost.storage.model_writer import require_no_foreign_files
from fencepost.training.distributed import Team
from fencepost.training.log import LOG

_RUNNING: Final = ".fencepost-training"  # a file in the folder while a run is training there


class FolderState(Enum):
    """What an earlier run left in the folder."""

    NOTHING = auto()
    MODEL = auto()  # and a log: that run ended before its first checkpoint
    CHECKPOINT = auto()


@contextmanager
def alone_in(out: Path, team: Team) -> Iterator[None]:
    """Makes the folder if it is missing, and keeps other runs out of it."""
    with ExitStack() as stack:
        taken = False
        if team.leads:
            stack.enter_context(new_folder(out))
            try:
                stack.enter_context(locked(out / _RUNNING, wait=False))
            except BlockingIOError:
                taken = True
        if team.agreed(taken):
            raise UsageError(f"another process is training in {out}", hint="wait for it, or give another folder")
        yield


def open_folder(out: Path, team: Team, *, resume: bool) -> FolderState:
    """What an earlier run left. Raises UsageError if this run must not write to the folder."""
    if team.leads:
        recover(out)
    has_checkpoint = bool(team.agreed((out / CHECKPOINT).exists()))
    if has_checkpoint and not resume:
        raise UsageError(f"{out} already contains a training run", hint="--resume continues it; or give another folder")
    has_model = bool(team.agreed(bool(listed_files(out))))
    ended_early = resume and (out / LOG).exists()  # before its first checkpoint
    if team.agreed(has_model and not has_checkpoint and not ended_early):
        raise UsageError(f"{out} already contains a model", hint="give another folder, or remove this one first")
    require_no_foreign_files(out)
    if team.agreed(not resume and _has_content(out / LOG)):
        raise UsageError(
            f"{out / LOG} exists and isn't from this run",
            hint="give another folder, or move that file; if its run ended early, continue it with --resume",
        )
    if has_checkpoint:
        return FolderState.CHECKPOINT
    return FolderState.MODEL if has_model else FolderState.NOTHING


def is_calibrated(out: Path) -> bool:
    """True if ``fencepost calibrate`` has changed the model in the folder."""
    try:
        return bool(listed_files(out)) and read_config(out).eval.temperature != 1
    except ModelError:  # a damaged model; a better one will take its place
        return False


def _has_content(log: Path) -> bool:
    """A run that ended before its first check leaves an empty log, which the next run may use."""
    return log.exists() and log.stat().st_size > 0
