"""Finds a model by name: a folder of that name, a model of an installed distribution, or one inside the package."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from fencepost.errors import ModelError, UsageError
from fencepost.storage.installed_models import InstalledModel, declared_models, packaged_folder, packaged_models
from fencepost.storage.model_files import CHECKSUMS, CONFIG, VOCABULARIES
from fencepost.storage.model_staging import STAGING

DEFAULT_MODEL: Final = "en"
# Models that aren't inside the package, and how to install them.
ELSEWHERE: Final = {"en-large": "pip install ./models/en-large in a clone of fencepost"}


def find_model(model: str | Path | None = None) -> Path:
    """The folder of the model called ``model``; by default the package's English model."""
    if model is not None and (model == "" or not isinstance(model, (str, os.PathLike))):
        raise UsageError(f"a model is a name or a path, got {model!r:.50}", hint='such as "en" or "my-model"')
    if model is not None and _holds_model(model):
        return Path(model)
    packaged = packaged_models()
    declared = [] if model is None else declared_models()
    name = DEFAULT_MODEL if model is None else model
    for installed in [*declared, *packaged]:
        if installed.name == name:
            return _present(installed)
    if isinstance(name, str) and name in ELSEWHERE:
        raise ModelError(f"the model {name} is not installed", hint=ELSEWHERE[name])
    names = sorted({installed.name for installed in [*declared, *packaged]})
    choices = f" or one of {', '.join(names)}" if names else "; no models come with this version"
    more = "".join(f"; for {name}: {how}" for name, how in ELSEWHERE.items() if name not in names)
    raise ModelError(f"no model at {name}", hint=f"give a folder that `fencepost train` wrote{choices}{more}")


def split_language(model: str | Path | None) -> tuple[str | Path | None, str | None]:
    """``multi:fo`` is the model ``multi`` and the language ``fo``, unless a folder has that name."""
    if not isinstance(model, str) or ":" not in model or _holds_model(model):
        return model, None
    name, _, language = model.rpartition(":")
    return (name, language) if name and language and "/" not in language and "\\" not in language else (model, None)


def is_packaged(folder: Path) -> bool:
    """True if the model is inside the package."""
    return folder.resolve().parent == packaged_folder().resolve()


def is_installed(folder: Path) -> bool:
    """True if the model is inside the package or came with another distribution."""
    return is_packaged(folder) or folder.resolve() in [model.path.resolve() for model in declared_models()]


def _present(model: InstalledModel) -> Path:
    if not _holds_model(model.path):
        raise ModelError(
            f"{model.distribution} declares the model {model.name}, and {model.path} isn't one",
            hint="install that distribution again",
        )
    return model.path


def _holds_model(folder: str | Path) -> bool:
    """True if any file of a model is there: a damaged model must be reported, not passed over for a packaged one."""
    return any(os.path.exists(os.path.join(folder, name)) for name in (CONFIG, VOCABULARIES, CHECKSUMS, STAGING))
