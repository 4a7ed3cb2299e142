"""``fencepost.train``: configurations and trees by name, and torch only once it is called."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fencepost.config.settings import Config
from fencepost.errors import MissingExtraError, UsageError
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank

if TYPE_CHECKING:
    from fencepost.parsing.parser import Parser


def train(
    config: Config | str | Path,
    train_trees: Sequence[Tree] | str | Path,
    dev_trees: Sequence[Tree] | str | Path,
    out: str | Path,
    *,
    resume: bool = False,
    device: str = "cpu",
    start_from: str | Path | None = None,
) -> Parser:
    """Trains a model into the folder ``out`` and returns the best one. Ctrl-C keeps what was done.

    ``config`` may be a name or a TOML file, trees a file, a folder or a glob. ``start_from`` is a model trained before,
    of the same sizes, whose weights it begins with: on another treebank, say.
    """
    try:
        from fencepost.training import run
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", "training") from error
    return run.train(
        config if isinstance(config, Config) else Config.load(config),
        _trees(train_trees),
        _trees(dev_trees),
        out,
        resume=resume,
        device=device,
        start_from=start_from,
    )


def _trees(given: Sequence[Tree] | str | Path) -> Sequence[Tree]:
    if isinstance(given, str | Path):
        return Treebank.load(given)
    if given and not isinstance(given[0], Tree):
        raise UsageError(f"these are no trees: {given[0]!r}", hint="Treebank.load reads files")
    return given
