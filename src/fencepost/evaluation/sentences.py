"""Loads the trees to score, from a path or a sequence of trees, NLTK trees, bracket strings and None (no parse)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, Union

from fencepost.errors import InputError, MismatchError, UsageError
from fencepost.storage.find_files import find_files
from fencepost.storage.text_reader import read_lines
from fencepost.trees.brackets import COMMENT_MARKS, DEFAULT_ROOT, parse_trees, read_trees
from fencepost.trees.tree import Tree, as_tree, unchecked_tree

if TYPE_CHECKING:
    import nltk

Parse: TypeAlias = Union[Tree, "nltk.Tree", str, None]
Parses: TypeAlias = str | Path | Iterable[Parse]  # a path, or the parses themselves


def load_pairs(gold: Parses, predicted: Parses) -> list[tuple[Tree | None, Tree | None]]:
    """The gold and the predicted tree of every sentence."""
    gold_trees, predicted_trees = _load(gold, "gold"), _load(predicted, "predicted")
    for parses, trees in ((gold, gold_trees), (predicted, predicted_trees)):
        if isinstance(parses, (str, Path)) and not trees:
            raise InputError("there are no trees", source=str(parses))
    if isinstance(gold, (str, Path)):
        gold_trees = _without_separators(gold_trees, predicted_trees)
    if isinstance(predicted, (str, Path)):
        _drop_blank_end(predicted_trees, len(gold_trees))
    if len(gold_trees) != len(predicted_trees):
        raise MismatchError(
            f"{_name(gold, 'gold')} has {len(gold_trees)} sentences but "
            f"{_name(predicted, 'predicted')} has {len(predicted_trees)}",
            hint="give one tree for every sentence, in the same order, and an empty line for a missing parse",
        )
    return list(zip(gold_trees, predicted_trees, strict=True))


def _load(parses: Parses, side: str) -> list[Tree | None]:
    if isinstance(parses, (str, Path)):
        trees = [tree for path in find_files([parses]) for tree in read_parses(path)]
        if side == "gold":
            _drop_blank_end(trees, 0)
        return trees
    if isinstance(parses, Tree):
        raise UsageError(f"{side} is one tree", hint="score takes lists of trees: score([gold], [predicted])")
    return [_tree(parse, f"{side} sentence {number}") for number, parse in enumerate(parses, 1)]


def _without_separators(gold: list[Tree | None], predicted: Sequence[Tree | None]) -> list[Tree | None]:
    """Drops empty lines between gold trees if there are then as many gold as predicted sentences."""
    last = max((number for number, tree in enumerate(predicted, 1) if tree is not None), default=0)
    trees: list[Tree | None] = [tree for tree in gold if tree is not None]
    return trees if len(trees) == last else gold


def _drop_blank_end(trees: list[Tree | None], least: int) -> None:
    """Drops empty lines at the end of a file, as long as more than ``least`` sentences are left."""
    while len(trees) > least and trees[-1] is None:
        trees.pop()


def read_parses(path: str | Path) -> list[Tree | None]:
    """Reads one sentence per line, empty if its parse is missing; or trees over several lines, ignoring empty lines."""
    lines = list(read_lines(path))
    sentences = [line for line in lines if not line.text.startswith(COMMENT_MARKS)]
    if all(line.text.count("(") == line.text.count(")") for line in sentences):
        return [_forest(list(read_trees((line,), str(path)))) for line in sentences]
    return list(read_trees(lines, str(path)))


def _forest(trees: Sequence[Tree]) -> Tree | None:
    """The tree of a line. Several trees, from a parser that found only pieces, get a common root."""
    if len(trees) > 1:
        return unchecked_tree(DEFAULT_ROOT, tuple(trees))
    return trees[0] if trees else None


def _tree(parse: Parse, source: str) -> Tree | None:
    if parse is None:
        return None
    try:
        return _forest(parse_trees(parse)) if isinstance(parse, str) else as_tree(parse)
    except InputError as error:
        raise type(error)(error.problem, source=source, excerpt=error.excerpt, hint=error.hint) from None
    except UsageError as error:
        raise UsageError(
            f"{source}: {error.message}", hint="give a tree, a bracket string, or None for a missing parse"
        ) from None


def _name(parses: Parses, side: str) -> str:
    return str(parses) if isinstance(parses, (str, Path)) else side
