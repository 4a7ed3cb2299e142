"""Training that begins with the weights of a model trained before, perhaps on another treebank."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Final

import torch
from safetensors.torch import load_file

from fencepost.config.settings import Config
from fencepost.errors import UsageError
from fencepost.features.lexical_kinds import LEXICAL_KINDS
from fencepost.model.parser_model import ParserModel
from fencepost.storage.model_folder import CONFIG, WEIGHTS, ModelFolder, require_weights

# Those with a row for every word, tag or letter that is read, and for every label or tag that is predicted. Those that
# are new come after those that the model knew.
READ: Final = re.compile(r"lexical\.representations\.\d+\.embedding\.weight")
PREDICTED: Final = re.compile(r"(span_scorer\.output|tag_scorer\.layers\.3)\.(weight|bias)")


def require_same_form(folder: ModelFolder, config: Config) -> None:
    """An error where a model has no weights, or they would mean something else under this configuration."""
    require_weights(folder)
    theirs, ours = _form(folder.config), _form(config)
    unlike = [name for name in theirs if theirs[name] != ours.get(name)]  # the lexical list first, if it differs
    if unlike:
        values = f"{theirs[unlike[0]]}, not {ours[unlike[0]]}"
        raise UsageError(
            f"{folder.path} is another kind of model: its {unlike[0]} is {values}",
            hint=f"train with its configuration: {folder.path / CONFIG}",
        )


def _form(config: Config) -> dict[str, object]:
    """The settings that weights depend on: all of a model's parts, but for dropout."""
    may_change = {"encoder": (), "scorer": ("force_root",)}
    may_change |= {kind: LEXICAL_KINDS[kind].not_in_weights for kind in config.lexical}
    settings = {
        f"{part}.{name}": value
        for part, names in may_change.items()
        for name, value in asdict(getattr(config, part)).items()
        if "dropout" not in name and name not in names
    }
    return {"lexical": config.lexical, **settings}


@torch.no_grad()
def start_from(folder: ModelFolder, model: ParserModel) -> None:
    """Puts a trained model's weights into a fresh one.

    What is new in the vocabularies keeps its fresh rows where it is read. Where it is predicted, it begins as the mean
    of what was known: fresh rows give scores near 0, and most of those that a model has learned are far below it.
    """
    trained = load_file(folder.path / WEIGHTS)
    for name, weight in model.state_dict().items():
        rows = trained[name]
        predicted = PREDICTED.fullmatch(name)
        part = weight[: len(rows)] if predicted or READ.fullmatch(name) else weight
        assert part.shape == rows.shape, name
        part.copy_(rows)
        if predicted and len(weight) > len(rows):
            weight[len(rows) :] = rows.mean(0)
