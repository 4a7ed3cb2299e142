"""A batch of sentences as arrays: what every backend reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Array = npt.NDArray[Any]


@dataclass(frozen=True)
class Batch:
    """Sentences laid end to end, without padding. A sentence of n words takes n + 2 tokens: start, words, stop.

    Fields that the model's lexical representations don't read are ``None``.
    """

    lengths: Ints  # [B] words in each sentence
    words: Ints | None = None  # [T] word of each token, T = sum(lengths + 2)
    tags: Ints | None = None  # [T] part-of-speech tag of each token
    spellings: Ints | None = None  # [U, C] letters of each distinct word of the batch, padded with 0
    spelling_lengths: Ints | None = None  # [U] letters of each, word-start and word-stop marks included
    spelling_of_token: Ints | None = None  # [T] row of ``spellings`` for each token

    subwords: Ints | None = None  # [P] sub-tokens of all windows, end to end
    window_lengths: Ints | None = None  # [V] sub-tokens of each window
    subword_rows: Ints | None = None  # [M] indices into ``subwords`` of what each token is made of, token by token
    rows_of_token: Ints | None = None  # [T] how many of these indices each token has

    vectors: npt.NDArray[np.float32] | None = None  # [T, size] precomputed vectors of tokens, zeros for start and stop

    treebanks: Ints | None = None  # [T] treebank of each token's sentence

    def __len__(self) -> int:
        return len(self.lengths)
