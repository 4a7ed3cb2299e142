"""Splits trees into train, dev and test: at random but repeatably, tree by tree or file by file."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fencepost.errors import InputError, UsageError
from fencepost.trees.treebank import Treebank

PARTS: Final = ("train", "dev", "test")


def assign_parts(sizes: Sequence[int], ratio: Sequence[float], seed: int) -> list[int]:
    """The part (0, 1 or 2) of each unit, so that the parts' sizes are close to ``ratio``.

    A unit is a tree or a file; ``sizes`` are their numbers of trees. In random order, each unit goes to the part that
    is furthest below its share.
    """
    if len(ratio) > len(PARTS) or min(ratio, default=0) < 0 or not 0 < sum(ratio) < math.inf:
        raise UsageError("a ratio must be one to three numbers, 0 or more and not all 0", hint="--ratio 8:1:1")
    missing = [share * sum(sizes) / sum(ratio) for share in ratio]
    order = list(range(len(sizes)))
    random.Random(seed).shuffle(order)
    parts = [0] * len(sizes)
    for unit in order:
        part = missing.index(max(missing))
        parts[unit] = part
        missing[part] -= sizes[unit]
    return parts


def split(units: Sequence[Treebank], ratio: Sequence[float], seed: int = 1) -> list[Treebank]:
    """Splits whole units, such as files, into one treebank for each number in ``ratio``. Trees keep their order."""
    parts = assign_parts([len(unit) for unit in units], ratio, seed)
    banks = [
        Treebank(tree for unit, part in zip(units, parts, strict=True) if part == number for tree in unit)
        for number in range(len(ratio))
    ]
    for name, share, bank in zip(PARTS, ratio, banks, strict=False):
        if share and not bank:
            hint = "give more trees, or fewer parts" if len(units) == sum(map(len, units)) else "split by tree"
            raise InputError(f"{len(units)} pieces are too few: {name} would be empty", hint=hint)
    return banks


def split_trees(bank: Treebank, ratio: Sequence[float], seed: int = 1) -> list[Treebank]:
    return split([Treebank([tree]) for tree in bank], ratio, seed)


def part_files(folder: Path, shares: Sequence[float]) -> list[Path]:
    """The files of the parts whose share isn't 0."""
    return [folder / f"{name}.txt" for name, share in zip(PARTS, shares, strict=False) if share]


def write_parts(banks: Sequence[Treebank], folder: Path) -> list[Path]:
    """Writes ``train.txt``, ``dev.txt`` and ``test.txt`` into a folder. A part without trees gets no file."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"can't create the folder: {error.strerror}", source=str(folder)) from error
    paths = part_files(folder, [len(bank) for bank in banks])
    for bank, path in zip(filter(len, banks), paths, strict=True):
        bank.save(path)
    return paths
