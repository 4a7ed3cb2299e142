"""Reads the files of a saved index. They may come from a stranger, so nothing in them is used before it is checked.

A number out of place would end a search with an error, or never: walks over trees go from node to node by these
numbers. Checking them takes about as long as reading them once.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fencepost.storage.plain_files import read_plain, size_plain
from fencepost.storage.safe_json import parse_json

if TYPE_CHECKING:
    from fencepost.search.columns import Integers

ARRAYS: Final = ("label", "parent", "end", "roots", "by_label", "head_word")
MOST_TEXT: Final = 2**30  # bytes of a JSON file
MOST_NUMBERS: Final = 2**33 + 2**10  # bytes of an array: more nodes than 32 bits can count, and a header
_AT_ONCE: Final = 2**17  # nodes


def read_text(path: Path) -> Any:
    """A JSON file. Raises OSError or ValueError if it isn't a plain file with JSON in it."""
    return parse_json(read_plain(path, MOST_TEXT).decode("utf-8"))


def map_arrays(folder: Path) -> dict[str, Integers]:
    """The arrays, mapped into memory. Raises OSError or ValueError if one isn't an array of numbers."""
    arrays: dict[str, Integers] = {}
    for name in ARRAYS:
        path = folder / f"{name}.npy"
        size_plain(path, MOST_NUMBERS)
        try:
            found = np.lib.format.open_memmap(path, mode="r")
        except Exception as error:  # it reads the header as Python, with whatever errors that has
            raise ValueError(f"numpy can't read {path.name}: {error!s:.200}") from error
        if not isinstance(found, np.ndarray) or found.dtype != np.int32 or found.ndim != 1:
            raise ValueError(f"{path.name} isn't a list of 32-bit numbers")
        arrays[name] = found
    return arrays


def require_trees(arrays: Mapping[str, Integers], labels: int) -> None:
    """Raises ValueError unless the numbers describe trees one after the other, with this many different labels."""
    arrays = {name: np.asarray(array) for name, array in arrays.items()}  # a part of a mapped array is slow to make
    nodes, roots = len(arrays["label"]), arrays["roots"]
    if any(len(arrays[name]) != nodes for name in ARRAYS if name != "roots"):
        raise ValueError("its arrays have different lengths")
    if len(roots) == 0 or roots[0] != 0 or roots[-1] != nodes or not (roots[1:] > roots[:-1]).all():
        raise ValueError("roots.npy doesn't say where trees begin")
    if (arrays["end"][roots[:-1]] != roots[1:]).any() or (arrays["parent"][roots[:-1]] != -1).any():
        raise ValueError("a tree doesn't end where the next one begins")
    if np.count_nonzero(arrays["parent"] < 0) != len(roots) - 1:
        raise ValueError("parent.npy: a node is in no tree")
    for first in range(0, nodes, _AT_ONCE):
        part = {name: array[first : first + _AT_ONCE] for name, array in arrays.items() if name != "roots"}
        _require_nodes(part, first, nodes, labels, arrays["end"])


def _require_nodes(part: Mapping[str, Integers], first: int, nodes: int, labels: int, ends: Integers) -> None:
    number = np.arange(first, first + len(part["label"]), dtype=np.int32)
    parent, end, head = part["parent"], part["end"], part["head_word"]
    if not _within(part["label"], 0, labels):
        raise ValueError("label.npy: a node has a label that isn't in the vocabulary")
    if not _within(part["by_label"], 0, nodes):
        raise ValueError("by_label.npy: a node doesn't exist")
    if (parent >= number).any() or (parent < -1).any():
        raise ValueError("parent.npy: a node comes before its parent")
    if (end <= number).any() or (end > ends[np.where(parent < 0, number, parent)]).any():
        raise ValueError("end.npy: a node ends before it begins, or after its parent")
    if (head < number).any() or (head >= end).any():
        raise ValueError("head_word.npy: the head of a node isn't below it")


def _within(numbers: Integers, low: int, high: int) -> bool:
    return len(numbers) == 0 or (int(numbers.min()) >= low and int(numbers.max()) < high)
