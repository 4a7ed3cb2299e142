"""The treebanks that prepare.py writes, as a corpus with targets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from corpora import TRAINED_ON
from corpus import Corpus
from mixture import Source
from targets import Targets

from fencepost.config.settings import Config
from fencepost.features.subwords import Subwords
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence, Treebank


@dataclass(frozen=True, eq=False)
class Gold:
    """The trees of each treebank of the training data."""

    trees: Mapping[str, Sequence[Tree]]

    @classmethod
    def load(cls, data: Path, first: int | None = None) -> Gold:
        return cls({name: list(Treebank.load(data / f"train.{name}.txt"))[:first] for name in TRAINED_ON})

    def all(self) -> list[Tree]:
        return [tree for trees in self.trees.values() for tree in trees]

    def corpus(self, config: Config, vocabularies: Vocabularies) -> tuple[Corpus, Targets]:
        assert vocabularies.pretrained is not None
        reader = Subwords(config, vocabularies.pretrained)
        sentences = (Sentence.of(tree) for tree in self.all())
        return Corpus.of(sentences, reader), Targets.of_trees(self.all(), vocabularies)

    def sources(self, shares: Mapping[str, float], first: int = 0) -> list[Source]:
        """The default share of a treebank is its size. ``first`` is the place of the first sentence."""
        sources = []
        for name, trees in self.trees.items():
            sources.append(Source(name, shares.get(name, len(trees)), first + np.arange(len(trees))))
            first += len(trees)
        return sources


def named_numbers(given: Sequence[str]) -> dict[str, float]:
    """Numbers by name, from texts such as ``craft=7000``."""
    return {name: float(number) for name, _, number in (item.partition("=") for item in given)}
