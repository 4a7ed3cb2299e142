"""Starts training from the weights of a trained model, for example to continue on another treebank."""

from __future__ import annotations

import re
from dataclasses import asdict
from typing import Final

import torch

from fencepost.backends.torch import load_model
from fencepost.config.settings import Config
from fencepost.errors import UsageError
from fencepost.features.lexical_kinds import LEXICAL_KINDS
from fencepost.model.parser_model import ParserModel
from fencepost.storage.model_files import CONFIG
from fencepost.storage.model_folder import ModelFolder, require_weights

# The weights with one row for every word, tag or letter read, and those with one row for every label or tag predicted.
# New symbols have their rows after those of the trained model.
READ: Final = re.compile(r"(lexical\.representations\.\d+\.embedding|function_scorer\.(label|parent))\.weight")
PREDICTED: Final = re.compile(r"(span_scorer\.output|tag_scorer\.layers\.3|function_scorer\.output)\.(weight|bias)")
FUNCTIONS: Final = "function_scorer."


def require_same_form(folder: ModelFolder, config: Config) -> None:
    """Raises an error if the model has no weights, or if they would mean something else under this configuration."""
    require_weights(folder)
    theirs, ours = _form(folder.config), _form(config)
    if not (folder.config.scorer.functions and config.scorer.functions):
        for name in ("function_hidden", "function_words"):  # there are no weights for functions, or they aren't used
            theirs.pop(f"scorer.{name}")
    different = [name for name in theirs if theirs[name] != ours.get(name)]  # the lexical list first, if it differs
    if different:
        values = f"{theirs[different[0]]}, not {ours[different[0]]}"
        raise UsageError(
            f"{folder.path} is a different kind of model: its {different[0]} is {values}",
            hint=f"train with its configuration: {folder.path / CONFIG}",
        )


def _form(config: Config) -> dict[str, object]:
    """The settings that weights depend on: those of all the model's parts, except for dropout."""
    may_change = {"encoder": (), "scorer": ("force_root", "functions")}
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

    New words, tags and letters keep the fresh model's rows. New labels and tags to predict start from the mean of the
    trained rows: fresh rows would score near 0, and most scores of a trained model are far below that. The weights for
    functions stay fresh if the trained model doesn't predict functions.
    """
    trained = load_model(folder).state_dict()
    for name, weight in model.state_dict().items():
        if name.startswith(FUNCTIONS) and name not in trained:
            continue
        rows = trained[name]
        predicted = PREDICTED.fullmatch(name)
        part = weight[: len(rows)] if predicted or READ.fullmatch(name) else weight
        assert part.shape == rows.shape, name
        part.copy_(rows)
        if predicted and len(weight) > len(rows):
            weight[len(rows) :] = rows.mean(0)
