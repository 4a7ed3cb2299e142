"""The arrays that torch reads of a batch, besides those of ``Batch`` the positions of tokens, spans and letters.

They are made on the host, so that nothing in the model has to wait for a number from the device.
"""

from __future__ import annotations

import numpy as np

from fencepost.features.batch import Array, Batch, Ints
from fencepost.features.constituents import Constituents

_AS_THEY_ARE = (
    *("words", "tags", "treebanks", "spelling_of_token"),
    *("subwords", "subword_rows", "rows_of_token", "vectors"),
)


def batch_arrays(batch: Batch) -> dict[str, Array]:
    """The arrays that make up a ``TorchBatch``."""
    lengths = batch.lengths
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    numbers = np.arange(len(sentence))
    word = numbers - (np.cumsum(lengths) - lengths)[sentence]
    count = lengths[sentence] - word
    arrays: dict[str, Array] = {
        "lengths": lengths,
        "word_tokens": numbers + 2 * sentence + 1,
        "fencepost_tokens": np.arange(len(word) + len(lengths)) + np.repeat(np.arange(len(lengths)), lengths + 1),
        # Each word has one diagonal of the chart: how many spans it has, and their width. The first of them starts at
        # the first fencepost of its sentence; "shift" is that fencepost minus the number of the first span.
        "diagonals.count": count,
        "diagonals.width": word + 1,
        "diagonals.shift": numbers - word + sentence - (np.cumsum(count) - count),
        **layout_arrays(lengths + 2, "tokens."),
    }
    for name in _AS_THEY_ARE:
        array = getattr(batch, name)
        if array is not None:
            arrays[name] = array
    if batch.spellings is not None and batch.spelling_lengths is not None:
        arrays |= layout_arrays(batch.spelling_lengths, "letters.")
        is_letter = np.arange(batch.spellings.shape[1]) < batch.spelling_lengths[:, None]
        arrays["letter_ids"] = batch.spellings[is_letter]
    if batch.window_lengths is not None and batch.rows_of_token is not None:
        arrays |= layout_arrays(batch.window_lengths, "windows.")
        arrays["token_of_row"] = np.repeat(np.arange(len(batch.rows_of_token)), batch.rows_of_token)
    return arrays


def layout_arrays(lengths: Ints, name: str = "") -> dict[str, Array]:
    """The arrays of a ``Layout``; each is called ``name`` plus the name of its field."""
    starts = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=starts[1:])
    sequence = np.repeat(np.arange(len(lengths)), lengths)
    return {
        name + "lengths": lengths,
        name + "position": np.arange(len(sequence)) - starts[sequence],
        name + "sequence": sequence,
        name + "starts": starts,
        name + "longest_first": longest_first(lengths),
    }


def constituent_arrays(constituents: Constituents, lengths: Ints, name: str = "") -> dict[str, Array]:
    """The arrays of ``TorchConstituents``, in a batch with these lengths."""
    starts, ends = constituents.fenceposts(lengths)
    arrays = {"starts": starts, "ends": ends, "labels": constituents.labels, "parents": constituents.parents}
    return {name + field: array for field, array in arrays.items()}


def longest_first(lengths: Ints) -> Ints:
    return np.argsort(-lengths, kind="stable")
