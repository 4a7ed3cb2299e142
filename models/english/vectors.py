"""A finished model's vectors of the fenceposts of sentences, and the functions of their gold constituents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.lexical_kinds import reads
from fencepost.storage.model_files import ONNX
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.data import gold_tree
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence

Halves = npt.NDArray[np.float16]

TOKENS: Final = 4_000  # read at once


@dataclass(frozen=True)
class Examples:
    """The constituents of some sentences, the vectors of their fenceposts, and the functions that each may have."""

    vectors: Tensor  # [F, d_model], in half precision
    words: Tensor | None  # [F, hidden] those of the word to the right, if the model has a pre-trained encoder
    starts: Tensor  # [C] fenceposts, counted through the treebank, as are ends
    ends: Tensor
    labels: Tensor
    parents: Tensor
    allowed: Tensor  # [C, functions] true or false, or the probabilities that a teacher gives

    def __len__(self) -> int:
        return len(self.starts)


class VectorReader:
    """Reads sentences with a finished model: an export on ONNX Runtime, and other models on torch."""

    def __init__(self, folder: ModelFolder, device: str = "cpu", kept: Path | None = None) -> None:
        """``kept`` is a folder for the vectors of sentences that another run needs again."""
        self._folder, self._kept = folder, kept
        self._indexer = Indexer(folder.config, folder.vocabularies)
        self._ends = (".words",) if reads(folder.config, "subwords") else ()  # of the second file of vectors
        self._backend = OnnxBackend.load(folder) if folder.has(ONNX) else TorchBackend.load(folder, device)

    def examples(self, trees: Sequence[Tree], name: str) -> Examples:
        """``name`` is that of the file in which the vectors are kept."""
        gold = [gold_tree(tree, self._folder.vocabularies).functions for tree in trees]
        lengths = np.array([len(tree.words()) for tree in trees])
        first = np.cumsum(lengths + 1) - lengths - 1
        columns: dict[str, list[Tensor]] = {"starts": [], "ends": [], "labels": [], "parents": [], "allowed": []}
        for functions, post in zip(gold, first.tolist(), strict=True):
            assert functions is not None
            own = functions.constituents
            arrays = (own.starts + post, own.ends + post, own.labels, own.parents, functions.allowed)
            for column, array in zip(columns.values(), arrays, strict=True):
                column.append(torch.from_numpy(array))
        vectors, words = self.vectors([tree.words() for tree in trees], name)
        return Examples(vectors, words, **{name: torch.cat(parts) for name, parts in columns.items()})

    def vectors(self, sentences: Sequence[Sequence[str]], name: str) -> tuple[Tensor, Tensor | None]:
        """Both kinds of vectors of all fenceposts, as ``Examples`` has them."""
        vectors, words = self._vectors(sentences, [len(words) for words in sentences], name)
        return torch.from_numpy(vectors), None if words is None else torch.from_numpy(words)

    def _vectors(
        self, sentences: Sequence[Sequence[str]], lengths: Sequence[int], name: str
    ) -> tuple[Halves, Halves | None]:
        """Both kinds of vectors of all fenceposts, from their files if they are kept."""
        paths = [] if self._kept is None else [self._kept / f"{name}{end}.npy" for end in ("", *self._ends)]
        if paths and all(path.exists() for path in paths):
            kept = [np.load(path) for path in paths]
            if any(len(rows) != sum(lengths) + len(lengths) for rows in kept):
                raise SystemExit(f"{paths[0]} has the vectors of other sentences: remove it")
        else:
            kept = self._read(sentences, lengths)
            for path, rows in zip(paths, kept, strict=bool(paths)):
                path.parent.mkdir(parents=True, exist_ok=True)
                np.save(path, rows)
        return kept[0], kept[1] if self._ends else None

    def _read(self, sentences: Sequence[Sequence[str]], lengths: Sequence[int]) -> list[Halves]:
        found: list[list[Halves]] = [[] for _ in sentences]
        for places in pieces(lengths, TOKENS):
            batch = self._indexer.batch([Sentence(tuple(sentences[place])) for place in places])
            ends = np.cumsum(batch.lengths + 1)[:-1]
            for rows in self._backend.vectors(batch)[: 1 + len(self._ends)]:
                assert rows is not None
                for place, own in zip(places, np.split(rows, ends), strict=True):
                    found[place].append(own.astype(np.float16))
        return [np.concatenate(kind) for kind in zip(*found, strict=True)]
