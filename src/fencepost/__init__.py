"""fencepost: a constituency parser. Names are imported when first used, so that importing the package is cheap."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from fencepost.config.settings import Config as Config
    from fencepost.errors import FencepostError as FencepostError
    from fencepost.evaluation.score import Score as Score
    from fencepost.evaluation.score import score as score
    from fencepost.parsing.documents import Document as Document
    from fencepost.parsing.load import load as load
    from fencepost.parsing.parser import Parser as Parser
    from fencepost.search.pattern import Pattern as Pattern
    from fencepost.training.train import train as train
    from fencepost.trees.tree import Tree as Tree
    from fencepost.trees.treebank import Sentence as Sentence
    from fencepost.trees.treebank import Treebank as Treebank

__version__: Final = "0.2.0"

_HOMES: Final = {
    "Config": "fencepost.config.settings",
    "Document": "fencepost.parsing.documents",
    "FencepostError": "fencepost.errors",
    "Parser": "fencepost.parsing.parser",
    "Pattern": "fencepost.search.pattern",
    "load": "fencepost.parsing.load",
    "train": "fencepost.training.train",
    "Score": "fencepost.evaluation.score",
    "Sentence": "fencepost.trees.treebank",
    "Tree": "fencepost.trees.tree",
    "Treebank": "fencepost.trees.treebank",
    "score": "fencepost.evaluation.score",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'fencepost' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
