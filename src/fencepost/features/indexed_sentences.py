"""Sentences that are indexed once and batched many times: a treebank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fencepost.features.batch import Array, Batch, Ints
from fencepost.features.lists import Lists, firsts
from fencepost.features.spellings import Spellings
from fencepost.features.subwords import SubwordSentence
from fencepost.features.vectors import VectorFiles


class IndexedSentences:
    """All sentences end to end: picking many small arrays from all over memory would take longer than anything else.

    ``columns`` has one number per token, under the names of ``Batch``'s fields, and as ``letters`` its row in
    ``spellings``.
    """

    def __init__(
        self,
        lengths: Ints,
        columns: dict[str, Array],
        spellings: Spellings | None,
        subwords: Sequence[SubwordSentence] | None,
        vectors: VectorFiles | None,
        names: Sequence[str],
    ) -> None:
        self.lengths = lengths
        self._spellings = spellings
        self._vectors, self._names = vectors, names
        self._subwords: _Subwords | None = None
        if subwords:
            self._subwords = _Subwords(subwords)
            columns = columns | {"rows_of_token": np.concatenate([sentence.rows_of_token for sentence in subwords])}
        self._tokens = Lists(lengths + 2, columns)

    def __len__(self) -> int:
        return len(self.lengths)

    def batch(self, indices: Sequence[int] | Ints) -> Batch:
        """The sentences with these indices, as ``Indexer.batch`` gives them."""
        chosen = np.asarray(indices, np.int64)
        arrays = self._tokens.pick(chosen)
        if self._spellings is not None:
            names = ("spellings", "spelling_lengths", "spelling_of_token")
            arrays |= zip(names, self._spellings.distinct(arrays.pop("letters")), strict=True)
        if self._subwords is not None:
            arrays |= self._subwords.pick(chosen)
        if self._vectors is not None:
            arrays["vectors"] = self._vectors.read([self._names[index] for index in chosen.tolist()])
        return Batch(lengths=self.lengths[chosen], **arrays)


class _Subwords:
    """The sub-tokens of all sentences."""

    def __init__(self, sentences: Sequence[SubwordSentence]) -> None:
        self._ids = _lists("subwords", [sentence.ids for sentence in sentences])
        self._windows = _lists("window_lengths", [sentence.window_lengths for sentence in sentences])
        self._rows = _lists("subword_rows", [sentence.rows for sentence in sentences])

    def pick(self, chosen: Ints) -> dict[str, Array]:
        arrays = self._ids.pick(chosen) | self._windows.pick(chosen) | self._rows.pick(chosen)
        # The rows of a sentence count its own sub-tokens.
        arrays["subword_rows"] += np.repeat(firsts(self._ids.counts[chosen]), self._rows.counts[chosen])
        return arrays


def _lists(name: str, lists: Sequence[Ints]) -> Lists:
    return Lists(np.array([len(each) for each in lists], np.int64), {name: np.concatenate(lists)})
