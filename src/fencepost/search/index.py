"""An index: the columns of many trees with the files they come from, in memory or in a folder.

A saved index is a folder of plain arrays, which are mapped into memory rather than read: opening it takes milliseconds,
and a search touches only what it needs. ``index.json`` names the files with their sizes and times, so that changes to
them are noticed.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from itertools import accumulate, repeat
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from fencepost.errors import InputError, UsageError
from fencepost.search.build_columns import ColumnsBuilder
from fencepost.search.columns import Columns
from fencepost.search.counts import count
from fencepost.search.pattern import Pattern, Place
from fencepost.search.saved_arrays import ARRAYS, map_arrays, read_text, require_trees
from fencepost.storage.find_files import find_files
from fencepost.storage.text_reader import STANDARD_INPUT, read_lines

if TYPE_CHECKING:
    from fencepost.search.nodes import Nodes
    from fencepost.trees.tree import Tree

_FORMAT: Final = "fencepost index"
_VERSION: Final = 1
_SUMMARY: Final = "index.json"
_VOCABULARY: Final = "vocabulary.json"


@dataclass(frozen=True)
class SourceFile:
    """A file of trees as it was when it was indexed."""

    path: str
    size: int
    modified: int  # nanoseconds
    trees: int

    @classmethod
    def of(cls, path: Path, trees: int) -> SourceFile:
        if str(path) == STANDARD_INPUT or not path.is_file():
            return cls(str(path), -1, -1, trees)
        status = path.stat()
        return cls(str(path), status.st_size, status.st_mtime_ns, trees)

    def is_changed(self) -> bool:
        try:
            now = SourceFile.of(Path(self.path), self.trees)
        except OSError:
            return True
        return (now.size, now.modified) != (self.size, self.modified)


@dataclass(frozen=True)
class Hit:
    """A match in an index: its tree (from 0), the nodes of that tree, and where in it the match is."""

    tree: int
    nodes: Nodes
    place: Place


class Index:
    """Trees that can be searched together."""

    def __init__(self, columns: Columns, files: Iterable[SourceFile] = ()) -> None:
        self.columns = columns
        self.files = tuple(files)
        self._ends = list(accumulate(file.trees for file in self.files))  # the number of the first tree after each file

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Index:
        """An index of trees in memory."""
        builder = ColumnsBuilder()
        for tree in trees:
            builder.add_tree(tree)
        return cls(builder.columns())

    @classmethod
    def read(cls, *paths: str | Path) -> Index:
        """An index of files, folders and globs."""
        builder = ColumnsBuilder()
        files = []
        for path in find_files(paths):
            before = builder.trees
            builder.add_file(path)
            files.append(SourceFile.of(path, builder.trees - before))
        return cls(builder.columns(), files)

    @classmethod
    def stream(cls, *paths: str | Path) -> Iterator[Index]:
        """The trees of files, folders and globs, some megabytes at a time, for a single search."""
        builder = ColumnsBuilder()
        for path in find_files(paths):
            for _ in builder.add_lines(read_lines(path), str(path)):
                trees = builder.trees
                yield cls(builder.take(), [SourceFile(str(path), -1, -1, trees)])

    # Searching

    def count(self, pattern: Pattern, *, once: bool = False) -> int:
        """The number of matches in all trees."""
        if pattern.has_references:
            return sum(1 for _ in self.search(pattern, once=once))
        _, ways = count(pattern.root, self.columns, once=once)
        return int(ways.sum())

    def search(self, pattern: Pattern, *, once: bool = False) -> Iterator[Hit]:
        """The matches in all trees, in Tregex's order."""
        matching, ways = count(pattern.root, self.columns, once=once or bool(pattern.names))
        trees = self.columns.tree_of(matching)
        current, nodes = -1, None
        for tree, node, number in zip(trees.tolist(), matching.tolist(), ways.tolist(), strict=True):
            if tree != current or nodes is None:
                current, nodes = tree, self.columns.nodes(tree)
            local = node - int(self.columns.roots[tree])
            if pattern.has_references or pattern.names:
                places: Iterable[Place] = pattern.places_at(nodes, local, once=once)
            else:
                places = repeat(Place(local, {}), int(number))
            for place in places:
                yield Hit(tree, nodes, place)

    def file_of(self, tree: int) -> tuple[str | None, int]:
        """The file of a tree, and its number in that file from 0."""
        index = bisect_right(self._ends, tree)
        before = self._ends[index - 1] if index else 0
        return self.files[index].path if index < len(self.files) else None, tree - before

    # On disk

    def save(self, folder: str | Path) -> None:
        """Writes the index to a new folder, which appears only when it is complete."""
        target = Path(folder)
        if target.exists():
            raise UsageError(f"{target} already exists", hint="give a new folder, or delete this one")
        target.parent.mkdir(parents=True, exist_ok=True)
        growing = target.with_name(f".{target.name}.{secrets.token_hex(4)}.partial")
        growing.mkdir()
        try:
            for name in ARRAYS:
                np.save(growing / f"{name}.npy", getattr(self.columns, name))
            (growing / _VOCABULARY).write_text(json.dumps(list(self.columns.vocabulary), ensure_ascii=False), "utf-8")
            summary = {
                "format": _FORMAT,
                "version": _VERSION,
                "trees": self.columns.trees,
                "tokens": self.columns.tokens,
                "files": [asdict(file) for file in self.files],
            }
            (growing / _SUMMARY).write_text(json.dumps(summary, indent=1), "ascii")  # names may not be UTF-8
            os.replace(growing, target)
        except BaseException:
            shutil.rmtree(growing, ignore_errors=True)
            raise

    @classmethod
    def open(cls, folder: str | Path) -> Index:
        """Opens a saved index. Its arrays stay on disk until they are needed."""
        source = Path(folder)
        try:
            summary = _read_summary(source / _SUMMARY)
            if not isinstance(summary, dict) or summary.get("format") != _FORMAT:
                raise InputError("this isn't an index", source=str(source), hint="give a new folder, or an index")
            if summary["version"] != _VERSION:
                problem = f"the index has version {summary['version']}; this fencepost reads version {_VERSION}"
                raise InputError(problem, source=str(source), hint="delete the folder to build the index again")
            vocabulary = _strings(read_text(source / _VOCABULARY))
            arrays = map_arrays(source)
            require_trees(arrays, len(vocabulary))
            files = [SourceFile(**file) for file in summary["files"]]
            _require_files(files, len(arrays["roots"]) - 1)
        except (OSError, ValueError, KeyError, TypeError, AttributeError, EOFError) as error:
            hint = "delete the folder to build the index again"
            raise InputError(f"the index is damaged: {error}", source=str(source), hint=hint) from error
        columns = Columns(vocabulary, arrays["label"], arrays["parent"], arrays["end"], arrays["roots"])
        columns.__dict__.update(by_label=arrays["by_label"], head_word=arrays["head_word"])
        return cls(columns, files)

    def require_fresh(self, paths: Iterable[str | Path], folder: str | Path) -> None:
        """Raises InputError if the index isn't one of exactly these files as they are now."""
        hint = f"delete {folder} to build the index again"
        if paths and [str(path) for path in find_files(paths)] != [file.path for file in self.files]:
            raise InputError("the index was built from other files", source=str(folder), hint=hint)
        for file in self.files:
            if file.is_changed():
                raise InputError(f"{file.path} has changed since it was indexed", source=str(folder), hint=hint)


def _read_summary(path: Path) -> Any:
    """None if there is no such file, or if it isn't JSON: never suggest deleting a folder of something else."""
    if not os.path.lexists(path):
        return None
    try:
        return read_text(path)
    except ValueError:
        return None


def _strings(data: object) -> list[str]:
    if not isinstance(data, list) or not all(isinstance(each, str) for each in data):
        raise ValueError(f"{_VOCABULARY} isn't a list of labels")
    return data


def _require_files(files: list[SourceFile], trees: int) -> None:
    """Raises ValueError unless the list of files is made of names and numbers, and accounts for all trees."""
    for file in files:
        numbers = (file.size, file.modified, file.trees)
        if type(file.path) is not str or "\0" in file.path or any(type(each) is not int for each in numbers):
            raise ValueError(f"{_SUMMARY} has a file without a name or a size")
    if files and (any(file.trees < 0 for file in files) or sum(file.trees for file in files) != trees):
        raise ValueError(f"{_SUMMARY} has another number of trees")
