"""``load``: finds a model, and makes a parser with a backend that can run it."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from fencepost.backends.base import Backend
from fencepost.errors import MissingExtraError, ModelError, UsageError, require_choice, require_device
from fencepost.parsing.parser import BackendName, Parser, Source
from fencepost.storage.model_files import ONNX, naming
from fencepost.storage.model_folder import ModelFolder, require_weights


def load(model: str | Path | None = None, *, device: str = "cpu", backend: BackendName | None = None) -> Parser:
    """Loads a parser from a model folder, or the installed model of this name (default: ``en``, inside the package).

    ``backend``: ``onnx`` runs an exported model without torch, and is the default where it can run the model. ``torch``
    runs any model, also on a GPU; it turns the matrices of an int8 export back to fp32.
    """
    require_device(device)
    if backend is not None:
        require_choice("backend", backend, get_args(BackendName))
    folder = ModelFolder.open(model)
    if backend is None:
        backend = "onnx" if device == "cpu" and folder.has(ONNX) else "torch"
    run = _load_onnx(folder, device) if backend == "onnx" else _load_torch(folder, device)
    with naming(folder.path):
        source = Source(str(folder.path.absolute()), device, backend)
        return Parser(run, folder.config, folder.vocabularies, source=source)


def load_again(source: Source) -> Parser:
    """Loads a copy of a parser, in another process."""
    return load(source.path, device=source.device, backend=source.backend)


def _load_onnx(folder: ModelFolder, device: str) -> Backend:
    if device != "cpu":
        raise UsageError(f"ONNX models run on the CPU, not on {device}", hint='use device cpu, or backend "torch"')
    if not folder.has(ONNX):
        raise ModelError(f"{folder.path}: no {ONNX} to run", hint="make one with `fencepost export`")
    try:
        from fencepost.backends.onnx import OnnxBackend  # here: onnxruntime may be missing
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{folder.path} needs {error.name}, which is not installed", hint=f"pip install {error.name}"
        ) from error
    return OnnxBackend.load(folder)


def _load_torch(folder: ModelFolder, device: str) -> Backend:
    require_weights(folder)
    try:
        from fencepost.backends.torch import TorchBackend  # here: torch is an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", f"running the model {folder.path}") from error
    return TorchBackend.load(folder, device)
