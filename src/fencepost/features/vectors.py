"""Word vectors that another program computed, read from safetensors files: any embedder can feed the parser."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fencepost.errors import InputError, MissingExtraError, ModelError

Floats = npt.NDArray[np.float32]


class VectorFiles:
    """One array [words, size] a sentence, called by its words with blanks between them.

    A file, or a folder of them, to which one may add files with more sentences for a finished model.
    """

    def __init__(self, path: str, size: int) -> None:
        try:
            from safetensors import SafetensorError, safe_open
        except ModuleNotFoundError as error:
            raise MissingExtraError("safetensors", "train", "reading vectors from a file") from error
        self._path, self._size = path, size
        self._file_of: dict[str, Any] = {}
        files = sorted(Path(path).glob("*.safetensors")) if Path(path).is_dir() else [Path(path)]
        for file in files:
            try:
                opened: Any = safe_open(file, framework="np")
            except (OSError, SafetensorError) as error:
                raise ModelError(f"{file}: no vectors can be read: {error}") from error
            self._file_of.update(dict.fromkeys(opened.keys(), opened))

    def __reduce__(self) -> tuple[object, ...]:
        return (VectorFiles, (self._path, self._size))

    def name(self, words: Sequence[str]) -> str:
        """What the vectors of a sentence are called; an error if there are none."""
        name = " ".join(words)
        if name not in self._file_of:
            raise InputError(f"no vectors for the sentence {name!r}", source=self._path)
        return name

    def read(self, names: Sequence[str]) -> Floats:
        """The vectors of all tokens of some sentences, end to end, with zeros for start and stop: [T, size]."""
        none = np.zeros((1, self._size), np.float32)
        return np.concatenate([part for name in names for part in (none, self._of(name), none)])

    def _of(self, name: str) -> Floats:
        vectors: Floats = np.asarray(self._file_of[name].get_tensor(name), np.float32)
        if vectors.shape != (name.count(" ") + 1, self._size):
            raise InputError(
                f"the vectors of {name!r} are an array of {list(vectors.shape)}, "
                f"not of {[name.count(' ') + 1, self._size]}",
                source=self._path,
            )
        return vectors
