"""Training that begins with the weights of a model trained before, perhaps on another treebank."""

from __future__ import annotations

import re
from typing import Final

import torch
from safetensors.torch import load_file

from fencepost.backends.folder import CONFIG, WEIGHTS, ModelFolder
from fencepost.errors import ModelError, UsageError
from fencepost.model.parser_model import ParserModel

# Those with a row for every word, tag or letter that is read, and for every label or tag that is predicted. Those that
# are new come after those that the model knew.
READ: Final = re.compile(r"lexical\.representations\.\d+\.embedding\.weight")
PREDICTED: Final = re.compile(r"(span_scorer\.output|tag_scorer\.layers\.3)\.(weight|bias)")


@torch.no_grad()
def start_from(folder: ModelFolder, model: ParserModel) -> None:
    """Puts a trained model's weights into a fresh one.

    What is new in the vocabularies keeps its fresh rows where it is read. Where it is predicted, it begins as the mean
    of what was known: fresh rows give scores near 0, and most of those that a model has learned are far below it.
    """
    if not folder.has(WEIGHTS):
        raise ModelError(f"{folder.path}: no {WEIGHTS}", hint="give the trained model, not its export")
    trained, fresh = load_file(folder.path / WEIGHTS), model.state_dict()
    hint = f"train with its configuration: {folder.path / CONFIG}"
    if unlike := sorted(trained.keys() ^ fresh.keys()):
        raise UsageError(f"{folder.path} is another kind of model: only one of the two has {unlike[0]}", hint=hint)
    for name, weight in fresh.items():
        rows = trained[name]
        predicted = PREDICTED.fullmatch(name)
        part = weight[: len(rows)] if predicted or READ.fullmatch(name) else weight
        if part.shape != rows.shape:
            sizes = f"{tuple(rows.shape)}, not {tuple(weight.shape)}"
            raise UsageError(f"{folder.path} is of another size: its {name} is {sizes}", hint=hint)
        part.copy_(rows)
        if predicted and len(weight) > len(rows):
            weight[len(rows) :] = rows.mean(0)
