"""Writes model folders, one process at a time, and refuses to overwrite files that don't belong to a model."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import Final

from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml
from fencepost.errors import UsageError
from fencepost.features.possible_tags import PossibleTags
from fencepost.features.pretrained_files import ENCODER, TOKENIZER
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.find_model import is_installed, is_packaged
from fencepost.storage.folders import new_folder
from fencepost.storage.lock import locked
from fencepost.storage.model_files import (
    CARD,
    CHECKSUMS,
    CONFIG,
    VOCABULARIES,
    WEIGHTS,
    format_digests,
    listed_files,
)
from fencepost.storage.model_folder import ModelFolder, read_listed_text
from fencepost.storage.model_staging import LOCK, STAGING, put_in_place, recover, recover_locked

_WRITING: Final = ".fencepost-writing"  # a file in the folder while a process makes a new model there


def write_model(path: Path, config: Config, vocabularies: Vocabularies, card: str, files: Mapping[str, bytes]) -> None:
    """Writes a complete model, then puts it in place. Other files in the folder stay."""
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / LOCK):
        _write(path, config, vocabularies, card, files)


def change_config(path: Path, config: Config) -> None:
    """Replaces a model's configuration and leaves its other files as they are."""
    with locked(path / LOCK):
        recover_locked(path)
        _rewrite(path, config, ModelFolder.open(path).vocabularies)


def change_possible_tags(path: Path, possible_tags: PossibleTags) -> None:
    """Replaces the tags that a model's words can have, and leaves its other files as they are."""
    with locked(path / LOCK):
        recover_locked(path)
        folder = ModelFolder.open(path)
        _rewrite(path, folder.config, replace(folder.vocabularies, possible_tags=possible_tags))


def _rewrite(path: Path, config: Config, vocabularies: Vocabularies) -> None:
    rewritten = (CONFIG, VOCABULARIES, CARD, CHECKSUMS, TOKENIZER, ENCODER)
    files = {name: (path / name).read_bytes() for name in listed_files(path) if name not in rewritten}
    _write(path, config, vocabularies, read_listed_text(path, CARD), files)


def _write(path: Path, config: Config, vocabularies: Vocabularies, card: str, files: Mapping[str, bytes]) -> None:
    contents = {
        CONFIG: config_to_toml(config).encode(),
        VOCABULARIES: vocabularies.to_json().encode(),
        CARD: card.encode(),
        **files,
    }
    if vocabularies.pretrained is not None:
        contents[TOKENIZER] = vocabularies.pretrained.tokenizer.encode()
        contents[ENCODER] = vocabularies.pretrained.encoder.encode()
    recover_locked(path)
    staging = path / STAGING
    staging.mkdir()
    try:
        for name, content in contents.items():
            (staging / name).write_bytes(content)
        (staging / "unfinished").write_text(format_digests(contents), "utf-8")
        os.replace(staging / "unfinished", staging / CHECKSUMS)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise
    put_in_place(path)


def require_no_foreign_files(path: Path) -> None:
    """Raises UsageError if writing a model would overwrite a file that doesn't belong to one."""
    names = (CONFIG, VOCABULARIES, CARD, CHECKSUMS, WEIGHTS, TOKENIZER, ENCODER)
    foreign = [name for name in names if (path / name).exists() and name not in listed_files(path)]
    if foreign:
        raise UsageError(
            f"{path / foreign[0]} exists and isn't part of a model", hint="give another folder, or move that file"
        )


@contextmanager
def making_model(path: Path) -> Iterator[None]:
    """Keeps other processes out of a folder in which a new model is made. The folder must be missing or empty.

    Raises UsageError at once if it isn't: it may hold the only copy of a model. What a process that was killed left
    there is removed.
    """
    if os.path.lexists(path) and not path.is_dir():
        raise _exists(path)
    with ExitStack() as stack:
        stack.enter_context(new_folder(path))
        try:
            stack.enter_context(locked(path / _WRITING, wait=False))
        except BlockingIOError:
            message = f"another process is writing a model to {path}"
            raise UsageError(message, hint="wait for it, or give another folder") from None
        recover(path)
        if {file.name for file in path.iterdir()} - {_WRITING, LOCK}:
            raise _exists(path)
        yield


def _exists(path: Path) -> UsageError:
    return UsageError(f"{path} already exists", hint="give another folder, or remove this one first")


def require_not_installed(folder: ModelFolder) -> None:
    """Raises UsageError for a model that is installed: all users share it, and an upgrade would undo the change."""
    path = folder.path.resolve()
    if is_installed(path):
        where = "inside the package" if is_packaged(path) else "installed"
        raise UsageError(
            f"{path.name} is {where} and can't be changed",
            hint=f"change a copy instead: cp -r {quote(str(path))} {quote('my-' + path.name)}",
        )
