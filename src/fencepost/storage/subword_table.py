"""The file with the vectors of sub-tokens, which an exported model keeps apart from its graph.

It is an array in numpy's format with a row for each sub-token: numbers in single precision or, in 8 bits, a scale and
the integers that it multiplies. It stays on disk: only the rows of sub-tokens that occur are read. Models exported by
older versions have the table inside their graph.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fencepost.errors import COPY_AGAIN, ModelError

SUBWORD_TABLE: Final = "subwords.npy"
Floats = npt.NDArray[np.float32]


class SubwordTable:
    """A table of this many ``rows`` with vectors of this ``size``."""

    def __init__(self, path: Path) -> None:
        try:
            self._table: npt.NDArray[Any] = np.lib.format.open_memmap(path, mode="r")
        except Exception as error:  # it reads the header as Python, with whatever errors that has
            raise ModelError(f"{path}: numpy can't read it: {error!s:.200}", hint=COPY_AGAIN) from error
        dtype, axes = self._table.dtype, self._table.ndim
        self._scaled = axes == 1 and dtype.names == ("scale", "numbers")
        if self._scaled:
            size = dtype["numbers"].shape
            is_table = len(size) == 1 and dtype == np.dtype([("scale", "<f4"), ("numbers", "i1", size)])
        else:
            is_table = axes == 2 and dtype == np.float32
        if not is_table:
            raise ModelError(f"{path}: not a table of sub-tokens", hint=COPY_AGAIN)

    def __len__(self) -> int:
        return len(self._table)

    @property
    def size(self) -> int:
        return int(self._table.dtype["numbers"].shape[0] if self._scaled else self._table.shape[1])

    def vectors(self, subtokens: npt.NDArray[np.int64]) -> Floats:
        """The vectors of sub-tokens given by number: [...] -> [..., size]."""
        rows = self._table[subtokens]
        return np.asarray(rows["numbers"] * rows["scale"][..., None] if self._scaled else rows)


def format_table(table: Floats) -> bytes:
    """The file for a table [N, size] in single precision."""
    return _npy(np.ascontiguousarray(table, "<f4"))


def format_scaled_table(integers: npt.NDArray[np.int8], scale: Floats) -> bytes:
    """The file for a table of 8-bit integers [N, size] with a scale for each row [N]."""
    table = np.empty(len(integers), [("scale", "<f4"), ("numbers", "i1", integers.shape[1:])])
    table["scale"], table["numbers"] = scale, integers
    return _npy(table)


def _npy(array: npt.NDArray[Any]) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=False)
    return file.getvalue()
