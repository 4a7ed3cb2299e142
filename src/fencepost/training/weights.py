"""The weights file of a model folder, which also stores the model's check and the fingerprints of its trees."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from fencepost.config.settings import Config
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from fencepost.training.check import CLOCKED, Check


def save_weights(
    path: Path,
    config: Config,
    vocabularies: Vocabularies,
    card: str,
    weights: Mapping[str, Tensor],
    check: Check | None = None,
    fingerprints: Mapping[str, str] | None = None,
) -> None:
    """Writes a model folder with these weights; after training, also with the model's check and tree fingerprints."""
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    metadata = None
    if check is not None:
        # All in one entry: safetensors writes several in any order, and the same run must give the same file.
        metadata = {"check": json.dumps({**check.repeatable(), "data": dict(fingerprints or {})})}
    write_model(path, config, vocabularies, card, {WEIGHTS: save(contiguous, metadata)})


def read_check(path: Path) -> Check | None:
    """The check that measured the model in a folder, without its times; None if the folder has none."""
    fields = {name: value for name, value in _read_metadata(path).items() if name != "data"}
    try:
        return Check(**(fields | dict.fromkeys(CLOCKED, 0.0)))
    except TypeError:  # no check, or one from another version
        return None


def read_fingerprints(path: Path) -> dict[str, str]:
    """The fingerprints of the trees that the model in a folder was trained and checked on, if known."""
    fingerprints: dict[str, str] = _read_metadata(path).get("data", {})
    return fingerprints


def _read_metadata(path: Path) -> dict[str, Any]:
    try:
        with safe_open(path / WEIGHTS, framework="pt") as file:
            metadata: dict[str, Any] = json.loads((file.metadata() or {})["check"])
            return metadata
    except (OSError, SafetensorError, KeyError, ValueError):
        return {}
