"""``manifest.json``: everything that decides the output of a run, and what differs between two runs."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, TypeAlias

from fencepost import __version__
from fencepost.corpus.inputs import InputFile
from fencepost.corpus.part_maker import PartSettings
from fencepost.corpus.readers import load_pyarrow
from fencepost.parsing.load import default_backend
from fencepost.storage.model_folder import ModelFolder
from fencepost.text.languages import rules, text_language

Manifest: TypeAlias = "dict[str, Any]"
FORMAT: Final = 2
_MOST_FILES: Final = 3  # named in a message


def new_manifest(
    settings: PartSettings, model: str, folder: ModelFolder, part_bytes: int, inputs: Sequence[InputFile]
) -> Manifest:
    """``model`` is the name of the model in ``folder``, as the user gave it."""
    columns = asdict(settings.columns)
    return {
        "format": FORMAT,
        "complete": False,
        "versions": versions(settings, folder),
        "model": {
            "name": model,
            "fingerprint": settings.fingerprint,
            "language": settings.language,
        },
        "settings": {
            "format": settings.format,
            "device": settings.device.partition(":")[0],
            "precision": settings.precision,
            **{f"{name}_column": columns[name] for name in ("id", "text")},
            "lines": settings.columns.lines,
            "probabilities": settings.probabilities,
            "batch_tokens": settings.batch_tokens,
            "part_bytes": part_bytes,
        },
        "inputs": [{"path": file.path, "bytes": file.size, "modified": file.modified} for file in inputs],
    }


def versions(settings: PartSettings, folder: ModelFolder | None = None) -> dict[str, str]:
    """The versions of everything that affects the bytes of a part: last digits of scores, letters and words.

    ``folder`` is the model's if it is open already: opening it reads all its files.
    """
    folder = folder or ModelFolder.open(settings.model)
    language = text_language(folder.config.language, settings.language)
    backend = default_backend(folder, settings.device)
    names = ["numpy", {"onnx": "onnxruntime", "torch": "torch"}[backend], *rules(language).packages]
    if settings.format == "parquet":
        load_pyarrow("writing Parquet files")
        names.append("pyarrow")
    python = ".".join(platform.python_version_tuple()[:2])
    return {"fencepost": __version__, "python": python, **{name: _version(name) for name in names}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:  # onnxruntime comes from packages of other names, too
        try:
            return str(import_module(name).__version__)
        except ModuleNotFoundError:
            return "unknown"


def changes(before: Manifest, now: Manifest) -> list[str]:
    """What differs between an earlier run and one that would resume it."""
    if before["format"] != now["format"]:
        return [f"its manifest has format {before['format']}, and this is {now['format']}"]
    return [*_versions(before, now), *_settings(before, now), *_inputs(before, now)]


def _versions(before: Manifest, now: Manifest) -> Iterator[str]:
    old, new = before["versions"], now["versions"]
    for name in old:
        if name in new and old[name] != new[name]:
            yield f"it was written with {name} {old[name]}, and this is {new[name]}"
    if before["model"]["fingerprint"] != now["model"]["fingerprint"]:
        yield f"the model was {before['model']['name']}, and {now['model']['name']} has other files"
    elif before["model"]["language"] != now["model"]["language"]:
        yield f"the language was {before['model']['language']} and is {now['model']['language']}"


def _settings(before: Manifest, now: Manifest) -> Iterator[str]:
    for name, value in now["settings"].items():
        old = before["settings"].get(name)  # None if it was written before there was such an option
        if old != value:
            option = f"--{name.replace('_', '-')}"
            yield f"{option} was {_shown(old)} and is {_shown(value)}"


def _shown(value: object) -> str:
    return "not given" if value in (None, False) else "given" if value is True else str(value)


def _inputs(before: Manifest, now: Manifest) -> Iterator[str]:
    old, new = ({each["path"]: each for each in one["inputs"]} for one in (before, now))
    for what, paths in (
        ("not among the inputs any more", [path for path in old if path not in new]),
        ("new among the inputs", [path for path in new if path not in old]),
        ("changed since", [path for path in new if path in old and new[path] != old[path]]),
    ):
        if paths:
            shown = ", ".join(paths[:_MOST_FILES]) + (f" and {len(paths) - _MOST_FILES} more" * (len(paths) > 3))
            yield f"{what}: {shown}"
    if not {*old} ^ {*new} and [*old] != [*new]:
        yield "the inputs are in another order"
