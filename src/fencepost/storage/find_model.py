"""Finds a model by name: a folder of that name, or else a model inside the package."""

from __future__ import annotations

import os
from importlib import resources
from pathlib import Path
from typing import Final

from fencepost.errors import ModelError
from fencepost.storage.model_files import CHECKSUMS, CONFIG, VOCABULARIES
from fencepost.storage.model_staging import STAGING

DEFAULT_MODEL: Final = "en"


def find_model(model: str | Path | None = None) -> Path:
    """The folder of the model called ``model``; by default the package's English model."""
    if model is not None and _holds_model(model):
        return Path(model)
    name = DEFAULT_MODEL if model is None else model
    names = _packaged_names()
    if isinstance(name, str) and name in names:
        return _packaged_models() / name
    choices = f" or one of {', '.join(names)}" if names else "; no models come with this version"
    raise ModelError(f"no model at {name}", hint=f"give a folder that `fencepost train` wrote{choices}")


def is_packaged(folder: Path) -> bool:
    """True if the model is inside the package."""
    return folder.resolve().parent == _packaged_models().resolve()


def _holds_model(folder: str | Path) -> bool:
    """True if any file of a model is there: a damaged model must be reported, not passed over for a packaged one."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (CONFIG, VOCABULARIES, CHECKSUMS, STAGING))


def _packaged_names() -> list[str]:
    folder = _packaged_models()
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.is_dir() else []


def _packaged_models() -> Path:
    return Path(str(resources.files("fencepost"))) / "models"
