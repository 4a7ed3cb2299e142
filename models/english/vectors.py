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
from fencepost.storage.model_files import ONNX
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.data import gold_tree
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence

Halves = npt.NDArray[np.float16]

TOKENS: Final = 4_000  # read at once


@dataclass(frozen=True)
class Examples:
    """The gold constituents of a treebank, the vectors of its fenceposts, and the functions that each may have."""

    vectors: Tensor  # [F, d_model], in half precision
    starts: Tensor  # [C] fenceposts, counted through the treebank, as are ends
    ends: Tensor
    labels: Tensor
    parents: Tensor
    allowed: Tensor  # [C, functions]

    def __len__(self) -> int:
        return len(self.starts)


class VectorReader:
    """Reads sentences with a finished model: an export on ONNX Runtime, and other models on torch."""

    def __init__(self, folder: ModelFolder, device: str = "cpu", kept: Path | None = None) -> None:
        """``kept`` is a folder for the vectors of sentences that another run needs again."""
        self._folder, self._kept = folder, kept
        self._indexer = Indexer(folder.config, folder.vocabularies)
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
        return Examples(
            torch.from_numpy(self._vectors([tree.words() for tree in trees], lengths.tolist(), name)),
            **{name: torch.cat(parts) for name, parts in columns.items()},
        )

    def _vectors(self, sentences: Sequence[Sequence[str]], lengths: Sequence[int], name: str) -> Halves:
        path = None if self._kept is None else self._kept / f"{name}.npy"
        if path is not None and path.exists():
            kept: Halves = np.load(path)
            if len(kept) != sum(lengths) + len(lengths):
                raise SystemExit(f"{path} has the vectors of other sentences: remove it")
            return kept
        found: list[Halves] = [np.empty((0, 0), np.float16)] * len(sentences)
        for places in pieces(lengths, TOKENS):
            batch = self._indexer.batch([Sentence(tuple(sentences[place])) for place in places])
            ends = np.cumsum(batch.lengths + 1)[:-1]
            for place, vectors in zip(places, np.split(self._backend.vectors(batch), ends), strict=True):
                found[place] = vectors.astype(np.float16)
        joined = np.concatenate(found)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.save(path, joined)
        return joined
