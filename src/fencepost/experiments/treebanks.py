"""Treebanks for the tables, read once: with their own tags, and with predicted tags."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from fencepost.config.toml import load_config
from fencepost.experiments.data import Data
from fencepost.experiments.options import SMOKE, SMOKE_SENTENCES, Options
from fencepost.training.tagging import fold_files, jackknife, tag_fold, tag_unseen, unseen_file

FOLDS: Final = 10


class TreebankCache:
    """Keeps the treebank that was read last, as it is and with predicted tags, so that tables can share it."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.tagger = load_config("tagger", SMOKE if options.smoke else ())
        self.folds = 2 if options.smoke else FOLDS
        self.work = options.out / "tags"
        self._gold: dict[str, Data] = {}
        self._tagged: dict[str, Data] = {}

    def gold(self, name: str, folder: Path) -> Data:
        if name not in self._gold:
            self._gold = {name: Data.load(folder, name, SMOKE_SENTENCES if self.options.smoke else None)}
        return self._gold[name]

    def tagged(self, gold: Data) -> Data:
        if gold.name not in self._tagged:
            device = self.options.device
            train = jackknife(self.tagger, gold.train, self.folds, self.work, device)
            dev, test = (
                tag_unseen(self.tagger, gold.train, trees, self.work, device) for trees in (gold.dev, gold.test)
            )
            self._tagged = {gold.name: replace(gold, train=train, dev=dev, test=test)}
        return self._tagged[gold.name]

    def parts_to_tag(self, gold: Data) -> list[int]:
        """The parts that ``tag_part`` has not tagged yet."""
        folds = fold_files(self.tagger, gold.train, self.folds, self.work)
        others = [unseen_file(self.tagger, gold.train, trees, self.work) for trees in (gold.dev, gold.test)]
        parts = [[fold] for fold in folds] + [others]
        return [part for part, files in enumerate(parts) if not all(file.is_file() for file in files)]

    def tag_part(self, gold: Data, part: int) -> None:
        """Tags one part of what ``tagged`` needs: a fold of the training trees or, after the last, dev and test."""
        if part < self.folds:
            tag_fold(self.tagger, gold.train, self.folds, part, self.work, self.options.device)
        else:
            for trees in (gold.dev, gold.test):
                tag_unseen(self.tagger, gold.train, trees, self.work, self.options.device)
