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
    """One array [words, size] per sentence, named by the words of the sentence with blanks between them.

    ``path`` is a file or a folder of files. Files with more sentences can be added to the folder of a trained model.
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
            if not file.is_file():
                raise ModelError(f"{file}: can't read vectors: not a plain file")
            try:
                opened: Any = safe_open(file, framework="np")
            except (OSError, SafetensorError) as error:
                raise ModelError(f"{file}: can't read vectors: {error}") from error
            self._file_of.update(dict.fromkeys(opened.keys(), opened))

    def __reduce__(self) -> tuple[object, ...]:
        return (VectorFiles, (self._path, self._size))

    def name(self, words: Sequence[str]) -> str:
        """The name of a sentence's vectors; raises InputError if the files don't have them."""
        name = " ".join(words)
        if name not in self._file_of:
            raise InputError(f"no vectors for the sentence {name!r}", source=self._path)
        return name

    def read(self, names: Sequence[str]) -> Floats:
        """The vectors of all tokens of some sentences, end to end, with zeros for start and stop: [T, size]."""
        zeros = np.zeros((1, self._size), np.float32)
        return np.concatenate([part for name in names for part in (zeros, self._of(name), zeros)])

    def _of(self, name: str) -> Floats:
        vectors: Floats = np.asarray(self._file_of[name].get_tensor(name), np.float32)
        if vectors.shape != (name.count(" ") + 1, self._size):
            raise InputError(
                f"the vectors of {name!r} have shape {list(vectors.shape)}, not {[name.count(' ') + 1, self._size]}",
                source=self._path,
            )
        return vectors
