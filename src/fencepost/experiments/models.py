"""Trained models, named by their configuration and data: rows and tables that share a model train it once."""

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
    seconds: float  # of training, over all sessions
    epochs: float


class Models:
    """The models in one folder."""

    def __init__(self, folder: Path, device: str) -> None:
        self.folder = folder
        self.device = device

    def trained(self, config: Config, train_trees: Treebank, dev_trees: Treebank, data: str) -> Model:
        """The model for this configuration, seed included, and these trees. Trains it, or resumes, if needed.

        ``data`` is the digest of the trees.
        """
        path = self.folder / model_key(config, data)
        if not (path / DONE).is_file():
            train(config, train_trees, dev_trees, path, resume=True, device=self.device)
            last = json.loads((path / LOG).read_text("utf-8").splitlines()[-1])
            with write_atomically(path / DONE) as file:
                file.write(json.dumps({"seconds": last["seconds"], "epochs": last["epoch"]}) + "\n")
            (path / CHECKPOINT).unlink(missing_ok=True)  # three times the size of the model, and no longer needed
            gc.collect()  # frees the trainer, whose tensors would take memory from the next one
        done = json.loads((path / DONE).read_text("utf-8"))
        return Model(path, done["seconds"], done["epochs"])


def model_key(config: Config, data: str) -> str:
    """The name of a model's folder. It ignores ``checkpoint_minutes``, which doesn't change the model."""
    lines = without_later(config_to_toml(config)).splitlines()
    lines = [line for line in lines if not line.startswith("checkpoint_minutes")]
    return fingerprint([*lines, data])
