"""Trained models by what they were trained on: rows and tables that share weights train them once."""

from __future__ import annotations

import gc
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml, without_later
from fencepost.storage.fingerprint import fingerprint
from fencepost.storage.model_files import CHECKPOINT
from fencepost.storage.text_writer import write_atomically
from fencepost.training.log import LOG
from fencepost.training.train import train
from fencepost.trees.treebank import Treebank

DONE: Final = "done.json"


@dataclass(frozen=True)
class Model:
    """A folder with a model whose training is finished."""

    path: Path
    seconds: float  # that its training took, over all sessions
    epochs: float


class Models:
    """The models in one folder."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder = folder
        self.device = device

    def trained(self, config: Config, train_trees: Treebank, dev_trees: Treebank, data: str) -> Model:
        """The model of this configuration (the seed is part of it) and data; trained, or trained further, if need be.

        ``data`` is the digest of the trees.
        """
        path = self.folder / model_key(config, data)
        if not (path / DONE).is_file():
            train(config, train_trees, dev_trees, path, resume=True, device=self.device)
            last = json.loads((path / LOG).read_text("utf-8").splitlines()[-1])
            with write_atomically(path / DONE) as file:
                file.write(json.dumps({"seconds": last["seconds"], "epochs": last["epoch"]}) + "\n")
            (path / CHECKPOINT).unlink(missing_ok=True)  # three times the size of the model, and of no more use
            gc.collect()  # the trainer, whose tensors would crowd the device of the next one
        done = json.loads((path / DONE).read_text("utf-8"))
        return Model(path, done["seconds"], done["epochs"])


def model_key(config: Config, data: str) -> str:
    """The name of a model's folder. How often a checkpoint is written changes nothing in the model."""
    lines = without_later(config_to_toml(config)).splitlines()
    lines = [line for line in lines if not line.startswith("checkpoint_minutes")]
    return fingerprint([*lines, data])
