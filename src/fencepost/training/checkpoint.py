"""The checkpoint: everything a run needs to resume exactly, in one file that is replaced only by a complete one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from fencepost.errors import ModelError, TrainingError
from fencepost.model.precision import Masters
from fencepost.training.average import Average

_UNFINISHED: Final = ".fencepost-checkpoint"  # beside the checkpoint, until it is complete


def save_checkpoint(
    path: Path, model: Masters, average: Average, optimizer: torch.optim.Optimizer, state: Mapping[str, Any]
) -> None:
    """Writes the weights, their running mean, the optimizer's moments and ``state`` (JSON), then renames the file."""
    tensors = {f"model.{name}": tensor for name, tensor in model.state_dict().items()}
    tensors |= {f"average.{number:06}": tensor for number, tensor in enumerate(average.tensors)}
    for number, moments in optimizer.state_dict()["state"].items():
        tensors.update({f"optimizer.{number}.{name}": torch.as_tensor(value) for name, value in moments.items()})
    beside = path.with_name(_UNFINISHED)
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        beside.unlink(missing_ok=True)  # a link would lead to another file
        beside.touch()
        mode = beside.stat().st_mode  # safetensors changes it, and other users couldn't read the file
        save_file(contiguous, beside, metadata={"state": json.dumps(state)})
        beside.chmod(mode)
        os.replace(beside, path)
    except (OSError, SafetensorError) as error:
        with suppress(OSError):
            beside.unlink()
        raise TrainingError(
            f"the checkpoint can't be written: {error}", hint=f"check free space and write permission in {path.parent}"
        ) from error


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors of a checkpoint, for ``restore``, and the ``state`` saved with them."""
    with damage_named(path), safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        return tensors, json.loads(file.metadata()["state"])


@contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Raises ModelError with the name of the checkpoint if its content is of no use."""
    try:
        yield
    except (OSError, SafetensorError, KeyError, ValueError, TypeError, AttributeError, RuntimeError) as error:
        if isinstance(error, torch.OutOfMemoryError | torch.AcceleratorError):  # the device is to blame
            raise
        problem = f"{type(error).__name__}: {error}".splitlines()[0]
        hint = "train into another folder, or remove the checkpoint to begin again"
        raise ModelError(f"{path}: not a checkpoint that can be resumed: {problem:.200}", hint=hint) from error


def restore(tensors: Mapping[str, Tensor], model: Masters, average: Average, optimizer: torch.optim.Optimizer) -> None:
    """Puts back the weights, their running mean and the optimizer's moments."""
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
