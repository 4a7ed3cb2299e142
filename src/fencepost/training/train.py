"""``fencepost.train``: takes configurations and trees by name, and imports torch only when it is called."""

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
    """Trains a model, writes it to the folder ``out`` and returns the best one. Ctrl-C keeps the work done so far.

    ``config`` may be a name or a TOML file; trees may be a file, a folder or a glob. ``start_from`` names a model of
    the same form, trained or exported: training starts with its weights, for example to continue on another treebank.

    A tiny model, trained on two trees:

    >>> from tempfile import TemporaryDirectory
    >>> trees = [Tree.from_string(f"(TOP (S (NP (NNS {word})) (VP (VBP sleep))))") for word in ("Cats", "Dogs")]
    >>> settings = ["encoder.layers=1", "encoder.d_model=32", "encoder.heads=2", "train.max_epochs=3"]
    >>> with TemporaryDirectory() as folder:
    ...     parser = train(Config.load("small", settings), trees, trees, folder)
    >>> parser.parse([["Cats", "sleep"]])[0].words()
    ['Cats', 'sleep']
    """
    try:  # here and not above: this module must be importable without torch
        from fencepost.training.run import run_training
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", "training") from error
    return run_training(
        config if isinstance(config, Config) else Config.load(config),
        _load_trees(train_trees),
        _load_trees(dev_trees),
        Path(out),
        resume=resume,
        device=device,
        start_from=start_from,
    )


def _load_trees(trees: Sequence[Tree] | str | Path) -> Sequence[Tree]:
    if isinstance(trees, str | Path):
        return Treebank.load(trees)
    if isinstance(trees, Tree):
        raise UsageError("expected a list of trees, got one tree", hint="Treebank.load reads trees from files")
    if trees and not isinstance(trees[0], Tree):
        raise UsageError(f"expected trees, got {trees[0]!r}", hint="Treebank.load reads trees from files")
    return trees
