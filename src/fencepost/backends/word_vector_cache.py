"""A cache of word vectors made of letters. Without dropout a word's letters alone decide its vector."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Final

import numpy as np

from fencepost.chart.scores import Floats
from fencepost.features.batch import Ints

WORDS_KEPT: Final = 20_000  # 40 MB at the paper's size


class WordVectorCache:
    """Holds up to ``capacity`` words, then starts again from empty. Safe to call from threads."""

    def __init__(self, compute: Callable[[Ints, Ints], Floats], capacity: int = WORDS_KEPT) -> None:
        self._compute = compute  # spellings [U, C] and their lengths [U] -> vectors [U, d]
        self._capacity = capacity
        self._row_of: dict[bytes, int] = {}
        self._vectors: Floats | None = None
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._row_of)

    def vectors(self, spellings: Ints, lengths: Ints) -> Floats:
        """Padded spellings [U, C] and their lengths [U] -> [U, d]."""
        keys = [
            row[:length].tobytes() for row, length in zip(spellings.astype(np.int32), lengths.tolist(), strict=True)
        ]
        with self._lock:
            # Words that differ only in unknown letters have the same spelling, which is computed once.
            new = {key: index for index, key in enumerate(keys) if key not in self._row_of}
            if len(self._row_of) + len(new) > self._capacity:
                self._row_of.clear()
                new = {key: index for index, key in enumerate(keys)}
            if new:
                indices = list(new.values())
                self._remember(list(new), self._compute(spellings[indices], lengths[indices]))
            assert self._vectors is not None
            answer: Floats = self._vectors[[self._row_of[key] for key in keys]]
            if len(self._row_of) > self._capacity:  # this one call had more words than the capacity
                self._row_of.clear()
                self._vectors = None
            return answer

    def _remember(self, keys: list[bytes], vectors: Floats) -> None:
        used = len(self._row_of)
        needed = used + len(keys)
        if self._vectors is None or needed > len(self._vectors):
            larger = np.empty((max(needed, min(2 * needed, self._capacity)), vectors.shape[1]), np.float32)
            if self._vectors is not None:
                larger[:used] = self._vectors[:used]
            self._vectors = larger
        self._vectors[used:needed] = vectors
        self._row_of.update(zip(keys, range(used, needed), strict=True))
