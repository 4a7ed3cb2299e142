"""The best trees of many sentences as columns, for Arrow, Parquet and anything else that stores arrays.

    columns.starts[columns.bounds[i] : columns.bounds[i + 1]]

are the starts of the constituents of sentence i, in tokens: outer before inner, without the root symbol. They have the
same order as ``ParsedSentence.constituents``. Bounds are the offsets of a list column:

    labels = pyarrow.DictionaryArray.from_arrays(columns.labels, columns.label_names)
    pyarrow.ListArray.from_arrays(columns.bounds, labels)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fencepost.features.batch import Ints
from fencepost.parsing.parsed_batch import ParsedBatch, TagTable

Column = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class ParsedColumns:
    """The trees of B sentences with W words and C constituents, in the order of the sentences."""

    brackets: list[str]  # each tree on one line
    scores: npt.NDArray[np.float64]  # [B]
    word_bounds: Column  # [B + 1] sentence i has the words from word_bounds[i] to word_bounds[i + 1]
    tags: Column  # [W] indices into ``tag_names``
    bounds: Column  # [B + 1] sentence i has the constituents from bounds[i] to bounds[i + 1]
    starts: Column  # [C] in words, as ``ends``
    ends: Column  # [C]
    labels: Column  # [C] indices into ``label_names``
    tag_names: Sequence[str]
    label_names: Sequence[str]

    def __len__(self) -> int:
        return len(self.brackets)

    @classmethod
    def of(cls, parts: Sequence[tuple[Sequence[int], ParsedBatch]]) -> ParsedColumns:
        """``parts`` are batches of one model, each with the numbers of its sentences. All numbers run from 0."""
        batches = [batch for _, batch in parts]
        order = np.argsort(np.concatenate([numbers for numbers, _ in parts]))
        brackets = [text for batch in batches for text in batch.brackets]
        table = TagTable(batches[0].notation)
        tags = np.concatenate([batch.tag_numbers(table) for batch in batches])
        word_bounds, tags = _in_order(np.concatenate([batch.lengths for batch in batches]), order, tags)
        spans = map(np.concatenate, zip(*(batch.constituents() for batch in batches), strict=True))
        bounds, starts, ends, labels = _in_order(next(spans), order, *spans)
        return cls(
            [brackets[place] for place in order.tolist()],
            np.concatenate([batch.trees.scores for batch in batches])[order],
            word_bounds,
            tags,
            bounds,
            starts,
            ends,
            labels,
            table.names,
            batches[0].notation.label_names,
        )


def _in_order(counts: Ints, order: Ints, *columns: Ints) -> list[Column]:
    """Columns of lists that are this long, with the lists in another order: their bounds, then the columns."""
    first = (np.cumsum(counts) - counts)[order]
    counts = counts[order]
    bounds = np.concatenate([[0], np.cumsum(counts)])
    rows = np.arange(bounds[-1]) + np.repeat(first - bounds[:-1], counts)
    return [bounds.astype(np.int32), *(column[rows].astype(np.int32) for column in columns)]
