"""Reads a model folder: verifies its files, then reads the configuration and the vocabularies.

A model is data, also if it comes from a stranger: nothing in it is run, no pickle is loaded, and nothing is written.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import quote
from typing import Final, TypeVar

from fencepost.config.settings import Config
from fencepost.config.toml import parse_config
from fencepost.errors import COPY_AGAIN, ConfigError, FencepostError, ModelError, UsageError
from fencepost.features.lexical_kinds import reads
from fencepost.features.pretrained_files import ENCODER, TOKENIZER, PretrainedFiles, read_encoder_settings
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.find_model import find_model, is_installed, split_language
from fencepost.storage.model_files import (
    CHECKSUMS,
    CONFIG,
    ONNX,
    VOCABULARIES,
    WEIGHTS,
    find_problem,
    listed_files,
    naming,
    read_model_file,
    require_listed,
)
from fencepost.storage.model_staging import STAGING

PATIENCE: Final = 2.0  # seconds to wait for a process that is putting a model in place
_MOST_TRIES: Final = 100  # how often a model that is always being replaced is read
_PAUSE: Final = 0.05  # seconds between two tries
_T = TypeVar("_T")
_State = list[tuple[str, int, int, int] | None]


@dataclass(frozen=True)
class ModelFolder:
    """A model without its weights: what every backend reads first."""

    path: Path
    config: Config
    vocabularies: Vocabularies
    language: str | None = None  # the chosen one, of a model of several
    _state: _State = field(default_factory=list, repr=False, compare=False)  # of the files when they were opened

    @classmethod
    def open(cls, model: str | Path | None = None, language: str | None = None) -> ModelFolder:
        """Opens the model that ``find_model`` finds. Raises ModelError if it is damaged or from a newer version.

        A model of several languages may be given with one of them: ``multi:fo``.
        """
        return cls.read(model, lambda folder: folder, language)

    @classmethod
    def read(cls, model: str | Path | None, then: Callable[[ModelFolder], _T], language: str | None = None) -> _T:
        """Opens a model and returns ``then(folder)``.

        If another process replaces the model meanwhile, starts again. So all files that are read, including those that
        ``then`` reads, belong to one model.
        """
        model, named = split_language(model)
        path = find_model(model)
        for _ in range(_MOST_TRIES):
            state = _state(path)
            try:
                result = then(cls._open(path, language or named, state))
            except (FencepostError, OSError):
                if _state(path) == state:
                    raise
            else:
                if _state(path) == state:
                    return result
            time.sleep(_PAUSE)
        raise ModelError(
            f"{path} is being replaced again and again", hint="wait until the process that writes it has finished"
        )

    @classmethod
    def _open(cls, path: Path, language: str | None, state: _State) -> ModelFolder:
        _verify(path)
        with naming(path):
            vocabularies = Vocabularies.from_json(read_listed_text(path, VOCABULARIES))
        config = read_config(path)
        if reads(config, "subwords"):
            files = PretrainedFiles(read_listed_text(path, TOKENIZER), _encoder(path))
            vocabularies = replace(vocabularies, pretrained=files)
        if language is not None:
            _require_language(path, config, vocabularies, language)
        folder = cls(path, config, vocabularies, language, state)
        with naming(path):
            _ = folder.chosen_vocabularies  # raises an error if the language has no labels of its own
        return folder

    @property
    def chosen_vocabularies(self) -> Vocabularies:
        """Those of the chosen language, or all."""
        if self.language is None or not self.vocabularies.treebanks:
            return self.vocabularies
        return self.vocabularies.of_treebank(self.language)

    def require_unchanged(self) -> None:
        """Raises ModelError if the model was replaced after it was opened: later files may belong to the new one."""
        if _state(self.path) != self._state:
            raise ModelError(f"{self.path}: the model was replaced while it was being read", hint="try again")

    def has(self, name: str) -> bool:
        """True if the file is part of the model. Other files in the folder are never read."""
        return name in listed_files(self.path)


def read_config(path: Path) -> Config:
    """The configuration of the model in a folder. Raises ModelError if it is damaged."""
    try:
        return parse_config(read_listed_text(path, CONFIG), str(path / CONFIG))
    except ConfigError as error:
        raise ModelError(error.message, hint=error.hint or COPY_AGAIN) from error


def read_listed_text(path: Path, name: str) -> str:
    """The text of a file of the model. ``checksums`` must list the file, so it has been verified."""
    require_listed(path, name)
    try:
        return read_model_file(path, name).decode("utf-8")
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


def _require_language(path: Path, config: Config, vocabularies: Vocabularies, language: str) -> None:
    languages = vocabularies.treebanks or (config.language,)
    if language not in languages:
        raise UsageError(f"{path.name} doesn't parse {language!r:.50}", hint=f"it parses {', '.join(languages)}")


def _verify(path: Path) -> None:
    """Raises ModelError unless every file is plain and matches its checksum.

    If a process is putting a new model in place, waits for it. If that process has died, finishing is a writer's job.
    """
    seen, since = None, 0.0
    while (problem := _problem(path)) is not None:
        if not (path / STAGING).is_dir():
            raise problem
        state = _state(path)
        if state != seen:
            seen, since = state, time.monotonic()
        elif time.monotonic() - since > PATIENCE:
            interrupted = "a process was interrupted while it wrote this model"
            raise ModelError(
                problem.message,
                hint=f"{interrupted}; `fencepost models repair {quote(str(path))}` finishes or undoes it",
            )
        time.sleep(_PAUSE)


def _state(path: Path) -> _State:
    """Changes when a file of the model is replaced, changed or removed."""
    state: _State = []
    for name in listed_files(path):
        try:
            about = os.stat(path / name)
        except OSError:
            state.append(None)
        else:
            state.append((name, about.st_ino, about.st_size, about.st_mtime_ns))
    return state


def _problem(path: Path) -> ModelError | None:
    problem = find_problem(path)
    # Installers may link the files of a package to a cache. Looking for installed models takes a while.
    return find_problem(path, follow=True) if problem is not None and is_installed(path) else problem


def _encoder(path: Path) -> str:
    text = read_listed_text(path, ENCODER)
    try:
        return read_encoder_settings(text)
    except (ValueError, KeyError, TypeError) as error:
        problem = f"{type(error).__name__}: {error}"
        raise ModelError(f"{path / ENCODER}: damaged: {problem:.200}", hint=COPY_AGAIN) from error
