"""``manifest.json``: everything that decides the output of a run, and what differs between two runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, TypeAlias

from fencepost import __version__
from fencepost.corpus.inputs import InputFile
from fencepost.corpus.part_maker import PartSettings
from fencepost.corpus.readers import load_pyarrow
from fencepost.storage.fingerprint import fingerprint
from fencepost.storage.model_files import read_digests

Manifest: TypeAlias = "dict[str, Any]"
FORMAT: Final = 1
_MOST_FILES: Final = 3  # named in a message


def new_manifest(settings: PartSettings, model: str, part_bytes: int, inputs: Sequence[InputFile]) -> Manifest:
    """``model`` is the model's name as the user gave it; the settings have its folder."""
    columns = asdict(settings.columns)
    return {
        "format": FORMAT,
        "complete": False,
        "fencepost": __version__,
        "pyarrow": load_pyarrow("writing Parquet files").__version__ if settings.format == "parquet" else None,
        "model": {"name": model, "fingerprint": model_fingerprint(Path(settings.model))},
        "settings": {
            "format": settings.format,
            "device": settings.device.partition(":")[0],
            **{f"{name}_column": columns[name] for name in ("id", "text")},
            "lines": settings.columns.lines,
            "probabilities": settings.probabilities,
            "batch_tokens": settings.batch_tokens,
            "part_bytes": part_bytes,
        },
        "inputs": [{"path": file.path, "bytes": file.size, "modified": file.modified} for file in inputs],
    }


def model_fingerprint(folder: Path) -> str:
    """Models with the same files have the same fingerprint, wherever they are."""
    return fingerprint(f"{digest} {name}" for name, digest in sorted(read_digests(folder).items()))


def changes(before: Manifest, now: Manifest) -> list[str]:
    """What differs between an earlier run and one that would resume it."""
    return [*_versions(before, now), *_settings(before, now), *_inputs(before, now)]


def _versions(before: Manifest, now: Manifest) -> Iterator[str]:
    for name in ("format", "fencepost", "pyarrow"):
        if None not in (before[name], now[name]) and before[name] != now[name]:
            what = "its manifest has format" if name == "format" else f"it was written with {name}"
            yield f"{what} {before[name]}, and this is {now[name]}"
    if before["model"]["fingerprint"] != now["model"]["fingerprint"]:
        yield f"the model was {before['model']['name']}, and {now['model']['name']} has other files"


def _settings(before: Manifest, now: Manifest) -> Iterator[str]:
    for name, value in now["settings"].items():
        if before["settings"][name] != value:
            option = f"--{name.replace('_', '-')}"
            yield f"{option} was {_shown(before['settings'][name])} and is {_shown(value)}"


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
