"""``load``: finds a model, and makes a parser with a backend that can run it."""

from __future__ import annotations

from pathlib import Path
from typing import Final, get_args

from fencepost.backends.base import Backend
from fencepost.errors import (
    MissingExtraError,
    ModelError,
    UsageError,
    require_choice,
    require_device,
    require_precision,
)
from fencepost.parsing.parser import BackendName, Parser, Precision, Source
from fencepost.storage.model_files import ONNX, model_fingerprint, naming
from fencepost.storage.model_folder import ModelFolder, require_weights

_ANOTHER: Final = "it was replaced; to use the new one, load it again, or start the run again"


def load(
    model: str | Path | None = None,
    *,
    device: str = "cpu",
    backend: BackendName | None = None,
    language: str | None = None,
    precision: Precision = "fp32",
) -> Parser:
    """Loads a parser from a model folder, or the installed model of this name (default: ``en``, inside the package).

    ``backend``: ``onnx`` runs an exported model without torch, and is the default where it can run the model. ``torch``
    runs any model, also on a GPU; it turns the matrices of an int8 export back to fp32. On a GPU,
    ``precision="bf16"`` multiplies faster, and a few trees may differ. ``language``: which one to parse, for a model of
    several languages; ``load("multi:fo")`` is ``load("multi", language="fo")``.

    >>> parser = load()
    >>> print(parser.parse_text("It works.")[0])
    (TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))
    >>> parser.backend_name
    'onnx'
    """
    require_device(device)
    require_precision(precision, device)
    if backend is not None:
        require_choice("backend", backend, get_args(BackendName))
    return ModelFolder.read(model, lambda folder: _parser(folder, device, backend, precision), language)


def _parser(folder: ModelFolder, device: str, backend: BackendName | None, precision: Precision) -> Parser:
    if folder.vocabularies.treebanks and folder.language is None:
        languages = folder.vocabularies.treebanks
        raise UsageError(
            f"{folder.path.name} parses several languages: {', '.join(languages)}",
            hint=f'say which one: {folder.path.name}:{languages[0]}, or load(…, language="{languages[0]}")',
        )
    if backend is None:
        backend = default_backend(folder, device)
    run = _load_onnx(folder, device) if backend == "onnx" else _load_torch(folder, device, precision)
    with naming(folder.path):
        files = model_fingerprint(folder.path)
        source = Source(str(folder.path.absolute()), device, backend, folder.language, precision, files)
        return Parser(run, folder.config, folder.chosen_vocabularies, source=source)


def default_backend(folder: ModelFolder, device: str) -> BackendName:
    return "onnx" if device == "cpu" and folder.has(ONNX) else "torch"


def load_again(source: Source) -> Parser:
    """Loads a copy of a parser, in another process or from a pickle. Raises ModelError if its model was replaced."""
    return load_same(source.fingerprint, source.path, source.device, source.backend, source.language, source.precision)


def load_same(
    fingerprint: str | None,
    model: str,
    device: str,
    backend: BackendName | None,
    language: str | None,
    precision: Precision,
) -> Parser:
    """``load``. Raises ModelError if the model's files have another fingerprint, unless that is None."""

    def same(folder: ModelFolder) -> Parser:
        if fingerprint not in (None, model_fingerprint(folder.path)):
            raise ModelError(f"{folder.path}: not the model that was loaded first", hint=_ANOTHER)
        return _parser(folder, device, backend, precision)

    return ModelFolder.read(model, same, language)


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


def _load_torch(folder: ModelFolder, device: str, precision: Precision) -> Backend:
    require_weights(folder)
    try:
        from fencepost.backends.torch import TorchBackend  # here: torch is an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", f"running the model {folder.path}") from error
    return TorchBackend.load(folder, device, precision)
