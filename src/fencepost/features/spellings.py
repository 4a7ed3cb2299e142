"""The letters of words: a table of the distinct ones, and those of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from fencepost.features.batch import Ints
from fencepost.features.vocabularies import (
    PADDING,
    SENTENCE_START,
    SENTENCE_STOP,
    UNKNOWN_LETTER,
    WORD_START,
    WORD_STOP,
    Vocabularies,
)

LETTERS_KEPT: Final = 32  # at each end of a word: a longer word loses its middle
_ROW: Final = 2 * LETTERS_KEPT + 2


class Spellings(NamedTuple):
    """The letters of some words, one row per word."""

    letters: npt.NDArray[np.integer[Any]]  # [words, _ROW] padded with 0
    lengths: Ints  # [words]

    def distinct(self, rows: npt.NDArray[np.integer[Any]]) -> tuple[Ints, Ints, Ints]:
        """The letters [U, C] and lengths [U] of the distinct rows, and the index of each row among these U."""
        seen = np.zeros(len(self.lengths), np.bool_)  # not np.unique, which sorts
        seen[rows] = True
        distinct = np.flatnonzero(seen)
        index = np.empty(len(seen), np.int64)
        index[distinct] = np.arange(len(distinct))
        lengths = self.lengths[distinct]
        longest = int(lengths.max(initial=PADDING + 1))
        return self.letters[distinct, :longest].astype(np.int64), lengths, index[rows]


class SpellingTable:
    """The letters of each distinct word seen so far, one row per word; rows 0 and 1 are the start and stop tokens."""

    def __init__(self, vocabularies: Vocabularies) -> None:
        self._ids = vocabularies.letters.ids
        self._rows = np.zeros((1024, _ROW), np.int16 if len(vocabularies.letters) < 2**15 else np.int32)
        self._lengths: Ints = np.zeros(1024, np.int64)
        self._row_of: dict[str, int] = {}
        self._used = 0
        # Start and stop are spelled like words, with a mark three times in place of letters.
        for mark in (SENTENCE_START, SENTENCE_STOP):
            self._append([WORD_START, mark, mark, mark, WORD_STOP])

    def rows(self, words: Sequence[str]) -> list[int]:
        try:
            return list(map(self._row_of.__getitem__, words))
        except KeyError:  # a word that has no row yet
            return list(map(self._row, words))

    def _row(self, word: str) -> int:
        row = self._row_of.get(word)
        if row is None:
            letters = word if len(word) <= 2 * LETTERS_KEPT else word[:LETTERS_KEPT] + word[-LETTERS_KEPT:]
            ids = [self._ids.get(letter, UNKNOWN_LETTER) for letter in letters]
            row = self._row_of[word] = self._append([WORD_START, *ids, WORD_STOP])
        return row

    def _append(self, letters: list[int]) -> int:
        row = self._used
        if row == len(self._lengths):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._lengths = np.concatenate([self._lengths, np.zeros_like(self._lengths)])
        self._rows[row, : len(letters)] = letters
        self._lengths[row] = len(letters)
        self._used += 1
        return row

    def __len__(self) -> int:
        return self._used

    def spellings(self) -> Spellings:
        """The words so far."""
        return Spellings(self._rows[: self._used], self._lengths[: self._used])
