"""Reads a model folder: verifies its files, then reads the configuration and the vocabularies. Never loads a pickle."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from fencepost.config.settings import Config
from fencepost.config.toml import load_config
from fencepost.errors import COPY_AGAIN, ModelError
from fencepost.features.lexical_kinds import reads
from fencepost.features.pretrained_files import ENCODER, TOKENIZER, PretrainedFiles
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.find_model import find_model
from fencepost.storage.lock import locked
from fencepost.storage.model_files import (
    CHECKSUMS,
    CONFIG,
    ONNX,
    VOCABULARIES,
    WEIGHTS,
    file_digest,
    listed_files,
    naming,
    read_digests,
    require_listed,
)
from fencepost.storage.model_staging import LOCK, STAGING, finish

PATIENCE: Final = 2.0  # seconds to wait for a process that is putting a model in place


@dataclass(frozen=True)
class ModelFolder:
    """A model without its weights: what every backend reads first."""

    path: Path
    config: Config
    vocabularies: Vocabularies

    @classmethod
    def open(cls, model: str | Path | None = None) -> ModelFolder:
        """Opens the model that ``find_model`` finds. Raises ModelError if it is damaged or from a newer version."""
        path = find_model(model)
        _verify(path)
        with naming(path):
            vocabularies = Vocabularies.from_json(read_listed_text(path, VOCABULARIES))
        config = load_config(path / CONFIG)
        if reads(config, "subwords"):
            files = PretrainedFiles(read_listed_text(path, TOKENIZER), read_listed_text(path, ENCODER))
            _require_encoder(path / ENCODER, files.encoder)
            vocabularies = replace(vocabularies, pretrained=files)
        return cls(path, config, vocabularies)

    def has(self, name: str) -> bool:
        """True if the file is part of the model. Other files in the folder are never read."""
        return name in listed_files(self.path)


def read_listed_text(path: Path, name: str) -> str:
    """The text of a file of the model. ``checksums`` must list the file, so it has been verified."""
    require_listed(path, name)
    try:
        return (path / name).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path / name}: damaged: not UTF-8", hint=COPY_AGAIN) from error


def require_weights(folder: ModelFolder) -> None:
    """Raises ModelError unless torch can read the model's weights: those that training wrote, or an export's graphs."""
    if not folder.has(WEIGHTS) and not folder.has(ONNX):
        raise ModelError(f"{folder.path}: neither {WEIGHTS} nor {ONNX} is listed in {CHECKSUMS}", hint=COPY_AGAIN)


def disagreement(folder: ModelFolder, detail: str) -> ModelError:
    """The error for files that are undamaged but don't belong together."""
    shown = detail if len(detail) < 200 else detail[:200] + "…"
    return ModelError(f"{folder.path}: weights, {CONFIG} and {VOCABULARIES} don't agree: {shown}", hint=COPY_AGAIN)


def _verify(path: Path) -> None:
    """Raises ModelError unless every file matches its checksum.

    If a process is putting a new model in place, waits for it, and finishes its work if it seems to have died.
    """
    deadline = time.monotonic() + PATIENCE
    while (problem := _problem(path)) is not None:
        is_staged = (path / STAGING).exists()
        if is_staged and time.monotonic() < deadline:
            time.sleep(0.05)
            continue
        if is_staged:
            with suppress(OSError), locked(path / LOCK):
                finish(path)
        if _problem(path) is not None:
            raise problem


def _problem(path: Path) -> ModelError | None:
    """The first missing or damaged file, as an error."""
    try:
        digests = read_digests(path)
    except OSError as error:
        return ModelError(f"{path}: {CHECKSUMS} can't be read: {error.strerror}", hint=COPY_AGAIN)
    except ModelError as error:
        return error
    for name, digest in digests.items():
        try:
            is_whole = file_digest(path / name) == digest
        except OSError:
            return ModelError(f"{path}: {name} is missing", hint=COPY_AGAIN)
        if not is_whole:
            return ModelError(f"{path / name}: damaged: its checksum is wrong", hint=COPY_AGAIN)
    return None


def _require_encoder(path: Path, text: str) -> None:
    try:
        json.loads(text)["model_type"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}", hint=COPY_AGAIN) from error
