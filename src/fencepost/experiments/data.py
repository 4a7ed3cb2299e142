"""The treebank that a table is run on: training, development and test trees, and digests that identify them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final

from fencepost.errors import InputError
from fencepost.storage.fingerprint import fingerprint
from fencepost.trees.treebank import Treebank

SUFFIXES: Final = (".txt", ".txt.gz")


@dataclass(frozen=True)
class Data:
    """The parts of a treebank. Scores are against ``gold_dev`` and ``gold_test``, whatever tags the model reads."""

    name: str  # the language, perhaps with the name of the treebank: he, he/htb
    train: Treebank
    dev: Treebank
    test: Treebank
    gold_dev: Treebank
    gold_test: Treebank

    @classmethod
    def load(cls, folder: Path, name: str, sentences: int | None = None) -> Data:
        """Loads train, dev and test from a folder; only the first ``sentences`` of each, if given."""
        train, dev, test = (Treebank.load(find_part(folder, part))[:sentences] for part in ("train", "dev", "test"))
        return cls(name, train, dev, test, dev, test)

    @cached_property
    def training_fingerprint(self) -> str:
        """A digest of all trees that a trained model depends on."""
        return fingerprint(map(str, (*self.train, "", *self.dev)))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all trees that a measured figure depends on."""
        return fingerprint(
            [self.training_fingerprint, *map(str, (*self.gold_dev, "", *self.gold_test, "", *self.test))]
        )


def find_treebanks(folder: Path) -> list[tuple[str, Path]]:
    """The treebanks in ``folder/LANGUAGE`` and ``folder/LANGUAGE/NAME``, each with that name."""
    folders = {path.parent for depth in ("*", "*/*") for end in SUFFIXES for path in folder.glob(f"{depth}/train{end}")}
    return sorted((path.relative_to(folder).as_posix(), path) for path in folders)


def find_part(folder: Path, part: str) -> Path:
    for suffix in SUFFIXES:
        if (path := folder / f"{part}{suffix}").is_file():
            return path
    names = " or ".join(f"{part}{suffix}" for suffix in SUFFIXES)
    raise InputError(
        f"the file {names} is missing", source=str(folder), hint="docs/data.md explains how to make the files"
    )
