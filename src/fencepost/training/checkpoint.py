"""All that a training run needs to go on exactly where it was, in one file that is never half written."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save, save_file
from torch import Tensor

from fencepost.config.settings import Config
from fencepost.errors import ModelError, TrainingError
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.precision import Masters
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from fencepost.training.average import Average
from fencepost.training.check import CLOCKED, Check

_UNFINISHED: Final = ".fencepost-checkpoint"  # beside the checkpoint, until it is whole


def save_weights(
    path: Path,
    config: Config,
    vocabularies: Vocabularies,
    card: str,
    weights: Mapping[str, Tensor],
    check: Check | None = None,
    data: Mapping[str, str] | None = None,
) -> None:
    """Writes a model folder with these weights, and among them the check that found how good they are, on which data.

    ``data`` are digests of trees.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    # One entry: safetensors writes several in any order, and the same run is to give the same file.
    found = None if check is None else {"check": json.dumps({**check.repeatable(), "data": dict(data or {})})}
    write_model(path, config, vocabularies, card, {WEIGHTS: save(contiguous, found)})


def check_of_weights(path: Path) -> Check | None:
    """The check that found how good the model in a folder is, if it is known; clocks aside."""
    noted = {name: value for name, value in _noted(path).items() if name != "data"}
    try:
        return Check(**(noted | dict.fromkeys(CLOCKED, 0.0)))
    except TypeError:  # there is none, or it is of another version
        return None


def data_of_weights(path: Path) -> dict[str, str]:
    """The digests of the trees that the model in a folder was made and checked with, as far as they are known."""
    digests: dict[str, str] = _noted(path).get("data", {})
    return digests


def _noted(path: Path) -> dict[str, Any]:
    try:
        with safe_open(path / WEIGHTS, framework="pt") as file:
            noted: dict[str, Any] = json.loads((file.metadata() or {})["check"])
            return noted
    except (OSError, SafetensorError, KeyError, ValueError):
        return {}


def save_checkpoint(
    path: Path, model: Masters, average: Average, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
) -> None:
    """Writes weights, their mean, the optimizer's moments and ``state`` (JSON), then renames into place."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"average.{number:06}": tensor for number, tensor in enumerate(average.tensors)}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors.update({f"optimizer.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()})
    beside = path.with_name(_UNFINISHED)
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        beside.touch()
        mode = beside.stat().st_mode  # which safetensors would change so that nobody else can read the file
        save_file(contiguous, beside, metadata={"state": json.dumps(state)})
        beside.chmod(mode)
        os.replace(beside, path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            beside.unlink()
        raise TrainingError(
            f"the checkpoint can't be written: {error}", hint=f"is there room in {path.parent}, and leave to write?"
        ) from error


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a checkpoint, to be put back by ``restore``, and the ``state`` saved with them."""
    try:
        with safe_open(path, framework="pt") as file:
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
            return tensors, json.loads(file.metadata()["state"])
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path}: not a checkpoint that can be resumed: {error}") from error


def restore(tensors: Mapping[str, Tensor], model: Masters, average: Average, optimizer: torch.optim.Optimizer) -> None:
    """Puts weights, their mean and the optimizer's moments back."""
    model.load_state_dict(_below("model.", tensors))
    average.load([tensor for _, tensor in sorted(_below("average.", tensors).items())])
    _restore_optimizer(optimizer, _below("optimizer.", tensors))


def _restore_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    moments: dict[int, dict[str, Tensor]] = {}
    for name, tensor in tensors.items():
        number, _, key = name.partition(".")
        moments.setdefault(int(number), {})[key] = tensor
    state = optimizer.state_dict()
    state["state"] = moments
    optimizer.load_state_dict(state)


def _below(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
