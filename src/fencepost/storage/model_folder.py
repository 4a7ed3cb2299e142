"""A model folder: configuration, vocabularies, weights, card, checksums. No pickle, and never half a model."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Final

from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml, load_config
from fencepost.errors import COPY_AGAIN, ModelError, UsageError
from fencepost.features.lexical_kinds import reads
from fencepost.features.pretrained_files import ENCODER, TOKENIZER, PretrainedFiles
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.lock import locked
from fencepost.storage.text_files import require_folder

CONFIG, VOCABULARIES, WEIGHTS, CARD, CHECKSUMS = (
    "config.toml",
    "vocab.json",
    "model.safetensors",
    "README.md",
    "checksums",
)
CHECKPOINT: Final = "checkpoint.safetensors"  # of training, beside the model
ONNX, SPANS = "model.onnx", "spans.onnx"  # for ONNX Runtime instead, with the graphs of the lexical kinds
DEFAULT_MODEL: Final = "en"
PATIENCE: Final = 2.0  # seconds, for a model that is being put in place
_INCOMING: Final = ".fencepost-incoming"  # folder in a model folder: files that are put in place when all are there
_LOCK: Final = ".fencepost-lock"  # file in a model folder, while somebody writes there
_LISTED: Final = re.compile("([0-9a-f]{64})  ([^\\0]+)")  # a line of the list of files


@dataclass(frozen=True)
class ModelFolder:
    """What every backend reads before its weights."""

    path: Path
    config: Config
    vocabularies: Vocabularies

    @classmethod
    def open(cls, model: str | Path | None = None) -> ModelFolder:
        """What ``find_model`` finds. Refuses a damaged or newer model."""
        path = find_model(model)
        _verify(path)
        with naming(path):
            vocabularies = Vocabularies.from_json(_text(path, VOCABULARIES))
        config = load_config(path / CONFIG)
        if reads(config, "subwords"):
            files = PretrainedFiles(_text(path, TOKENIZER), _text(path, ENCODER))
            _require_encoder(path / ENCODER, files.encoder)
            vocabularies = replace(vocabularies, pretrained=files)
        return cls(path, config, vocabularies)

    def has(self, name: str) -> bool:
        """Whether a file is part of the model; others may lie beside it, and are not read."""
        return name in listed(self.path)


def find_model(model: str | Path | None = None) -> Path:
    """The folder of this name, or else the model inside the package that is called so; without a name, its ``en``."""
    parts = (CONFIG, VOCABULARIES, CHECKSUMS, _INCOMING)  # one is enough: half a model is to be mended, not passed over
    if model is not None and any(os.path.exists(os.path.join(model, part)) for part in parts):
        return Path(model)
    inside = _package()
    packaged = sorted(path.name for path in inside.iterdir() if path.is_dir()) if inside.is_dir() else []
    name = DEFAULT_MODEL if model is None else model
    if isinstance(name, str) and name in packaged:
        return inside / name
    names = f" or one of {', '.join(packaged)}" if packaged else "; this version has no model inside"
    raise ModelError(f"no model at {name}", hint=f"give a folder that `fencepost train` wrote{names}")


def _package() -> Path:
    """Where the models lie that ship."""
    return Path(str(resources.files("fencepost"))) / "models"


def _ships(folder: ModelFolder) -> bool:
    return folder.path.resolve().parent == _package().resolve()


def _verify(path: Path) -> None:
    """Refuses a model that is not whole; one that is just being put in place is waited for, and helped in the end."""
    deadline = time.monotonic() + PATIENCE
    while (problem := _problem(path)) is not None:
        waits = (path / _INCOMING).exists()
        if waits and time.monotonic() < deadline:
            time.sleep(0.05)
            continue
        if waits:
            with suppress(OSError), locked(path / _LOCK):
                _finish(path)
        if _problem(path) is not None:
            raise problem


def _problem(path: Path) -> ModelError | None:
    try:
        digests = _digests(path)
    except OSError as error:
        return ModelError(f"{path}: {CHECKSUMS} can't be read: {error.strerror}", hint=COPY_AGAIN)
    except ModelError as error:
        return error
    for name, digest in digests.items():
        try:
            is_whole = _digest(path / name) == digest
        except OSError:
            return ModelError(f"{path}: {name} is missing", hint=COPY_AGAIN)
        if not is_whole:
            return ModelError(f"{path / name}: damaged: its checksum is wrong", hint=COPY_AGAIN)
    return None


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Says of which folder a file is that was found to be damaged."""
    try:
        yield
    except ModelError as error:
        if str(path) in error.message:
            raise
        raise ModelError(f"{path}: {error.message}", hint=error.hint or COPY_AGAIN) from error


def _text(path: Path, name: str) -> str:
    """A file that a model can't do without, and that was verified, therefore."""
    require_listed(path, name)
    try:
        return (path / name).read_text("utf-8")
    except UnicodeDecodeError as error:
        raise ModelError(f"{path / name}: damaged: not UTF-8", hint=COPY_AGAIN) from error


def require_listed(path: Path, name: str) -> None:
    """Refuses a model that lacks a file, or has one that nobody vouches for."""
    if name not in listed(path):
        raise ModelError(f"{path}: {name} is not listed in {CHECKSUMS}", hint=COPY_AGAIN)


def _require_encoder(path: Path, text: str) -> None:
    try:
        json.loads(text)["model_type"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: damaged: {type(error).__name__}: {error}", hint=COPY_AGAIN) from error


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def write_model(path: Path, config: Config, vocabularies: Vocabularies, card: str, files: Mapping[str, bytes]) -> None:
    """Writes a whole model, then puts it in place. Files in the folder that are no model's stay."""
    path.mkdir(parents=True, exist_ok=True)
    with locked(path / _LOCK):
        _write(path, config, vocabularies, card, files)


def _write(path: Path, config: Config, vocabularies: Vocabularies, card: str, files: Mapping[str, bytes]) -> None:
    contents = {
        CONFIG: config_to_toml(config).encode(),
        VOCABULARIES: vocabularies.to_json().encode(),
        CARD: card.encode(),
        **files,
    }
    if vocabularies.pretrained is not None:
        contents[TOKENIZER] = vocabularies.pretrained.tokenizer.encode()
        contents[ENCODER] = vocabularies.pretrained.encoder.encode()
    _recover(path)
    new = path / _INCOMING
    new.mkdir()
    try:
        for name, content in contents.items():
            (new / name).write_bytes(content)
        lines = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in sorted(contents.items())]
        (new / "unfinished").write_text("".join(lines), "utf-8")
        os.replace(new / "unfinished", new / CHECKSUMS)
    except BaseException:
        shutil.rmtree(new, ignore_errors=True)
        raise
    _put_in_place(path)


def recover(path: Path) -> None:
    """Mends what a process left that died while it wrote a model; one that still writes is waited for."""
    if os.path.lexists(path / _INCOMING):
        with locked(path / _LOCK):
            _recover(path)


def _recover(path: Path) -> None:
    _finish(path)
    new = path / _INCOMING
    if os.path.lexists(new):  # it had not written all
        if new.is_symlink() or not new.is_dir():
            raise UsageError(f"{new} is no folder, and models are put together in one of that name", hint="move it")
        shutil.rmtree(new)


def _finish(path: Path) -> None:
    """Puts a model in place that waits for it, all of it."""
    if _waits_whole(path):
        _put_in_place(path)


def _waits_whole(path: Path) -> bool:
    new = path / _INCOMING
    try:
        return all(
            _digest((new if (new / name).exists() else path) / name) == digest for name, digest in _digests(new).items()
        )
    except (OSError, ModelError):
        return False


def _put_in_place(path: Path) -> None:
    new = path / _INCOMING
    before = listed(path)
    gone = [name for name in before if name not in listed(new)]
    for file in sorted(new.iterdir(), key=lambda file: file.name == CHECKSUMS):  # the list of them comes last
        target = path / file.name
        if target.exists() and file.name not in before:
            os.replace(target, target.with_name(f"{file.name}.yours"))  # it came since training began
        os.replace(file, target)
    for name in gone:
        if Path(name).name == name:  # the list may come from anybody, and must not lead out of the folder
            (path / name).unlink(missing_ok=True)
    new.rmdir()


def require_room(path: Path) -> None:
    """Refuses to write a model over files that are no model's."""
    names = (CONFIG, VOCABULARIES, CARD, CHECKSUMS, WEIGHTS, TOKENIZER, ENCODER)
    strangers = [name for name in names if (path / name).exists() and name not in listed(path)]
    if strangers:
        raise UsageError(
            f"{path / strangers[0]} is there and belongs to no model", hint="give another folder, or move that file"
        )


def require_new(path: Path) -> None:
    """Refuses to write where something is already: it may be somebody's only model."""
    if any(path.iterdir()) if path.is_dir() else os.path.lexists(path):
        raise UsageError(f"{path} is there already", hint="give another folder, or remove that one first")
    require_folder(path.parent)


def require_weights(folder: ModelFolder) -> None:
    """Refuses an export where torch is to run the model, or to train it further."""
    if not folder.has(WEIGHTS):
        hint = "what ships is an export: train a model of your own" if _ships(folder) else None
        raise ModelError(f"{folder.path}: no {WEIGHTS}", hint=hint or "give the trained model, not its export")


def disagreement(folder: ModelFolder, detail: str) -> ModelError:
    """For files that are each what it was when it was written, but not of one model."""
    shown = detail if len(detail) < 200 else detail[:200] + "…"
    return ModelError(f"{folder.path}: weights, {CONFIG} and {VOCABULARIES} don't agree: {shown}", hint=COPY_AGAIN)


def require_own(folder: ModelFolder) -> None:
    """Refuses to change a model that ships: the package is everybody's, and its next version would undo it."""
    path = folder.path.resolve()
    if _ships(folder):
        raise UsageError(
            f"{path.name} is inside the package, and stays as it is",
            hint=f"copy it, and give the copy: cp -r {path} my-{path.name}",
        )


def change_config(path: Path, config: Config) -> None:
    """Gives a model another configuration; its other files stay as they are."""
    with locked(path / _LOCK):
        _recover(path)
        vocabularies = ModelFolder.open(path).vocabularies
        made_anew = (CONFIG, VOCABULARIES, CARD, CHECKSUMS, TOKENIZER, ENCODER)
        files = {name: (path / name).read_bytes() for name in listed(path) if name not in made_anew}
        _write(path, config, vocabularies, _text(path, CARD), files)


def listed(path: Path) -> list[str]:
    """The files that belong to the model in a folder; where the list of them is damaged, those that can be read."""
    try:
        return [CHECKSUMS, *(found[2] for found in _lines(path) if found)]
    except OSError:
        return []


def _digests(path: Path) -> dict[str, str]:
    """What the list of a model's files says of each; an error where it is not whole."""
    file, lines = path / CHECKSUMS, _lines(path)
    if None in lines:
        raise ModelError(f"{file}: damaged: line {lines.index(None) + 1} is no checksum with a name", hint=COPY_AGAIN)
    digests = {found[2]: found[1] for found in lines if found}
    for name in (CONFIG, VOCABULARIES):
        if name not in digests:
            raise ModelError(f"{file}: cut short: {name} is not listed", hint=COPY_AGAIN)
    return digests


def _lines(path: Path) -> list[re.Match[str] | None]:
    text = (path / CHECKSUMS).read_text("utf-8", errors="replace")
    return [_LISTED.fullmatch(line) for line in text.splitlines()]
