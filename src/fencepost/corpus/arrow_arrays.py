"""Arrow arrays made of numpy arrays and lists of strings.

``pyarrow.array`` would import pandas wherever it is installed, which takes a third of a CPU-second; ``take``,
``cast`` and the like would import ``pyarrow.compute``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class ArrowArrays:
    def __init__(self, pyarrow: Any) -> None:
        self._pa = pyarrow

    def of(self, values: Any, type_: Any) -> Any:
        """An array of this type: strings, or numbers."""
        return self.strings(values) if self._pa.types.is_string(type_) else self.numbers(values, type_)

    def numbers(self, values: npt.ArrayLike | Sequence[float | None], type_: Any) -> Any:
        """``None`` is null, in an array of floats."""
        array = np.ascontiguousarray(values, type_.to_pandas_dtype())  # the type that numpy has for it
        valid = ~np.isnan(array) if array.dtype.kind == "f" else np.ones(len(array), np.bool_)
        return self._pa.Array.from_buffers(type_, len(array), [self._validity(valid), self._pa.py_buffer(array)])

    def strings(self, values: Sequence[str | None]) -> Any:
        """``None`` is null."""
        texts = [text or "" for text in values]
        joined = "".join(texts)
        encoded = joined.encode()
        sizes = list(map(len, texts if len(encoded) == len(joined) else map(str.encode, texts)))
        bounds = np.zeros(len(texts) + 1, np.int32)
        np.cumsum(sizes, out=bounds[1:])
        buffers = self._pa.py_buffer(bounds), self._pa.py_buffer(encoded)
        valid = np.array([text is not None for text in values], np.bool_)
        return self._pa.StringArray.from_buffers(len(texts), *buffers, self._validity(valid))

    def chosen(self, texts: Sequence[str], numbers: npt.NDArray[np.integer[Any]]) -> Any:
        """The text for each number: few different texts, and many numbers."""
        encoded = [text.encode() for text in texts]
        sizes = np.array(list(map(len, encoded)), np.int64)
        bounds = np.zeros(len(numbers) + 1, np.int32)
        np.cumsum(sizes[numbers], out=bounds[1:])
        joined = b"".join(map(encoded.__getitem__, numbers.tolist()))
        return self._pa.StringArray.from_buffers(len(numbers), self._pa.py_buffer(bounds), self._pa.py_buffer(joined))

    def _validity(self, valid: npt.NDArray[np.bool_]) -> Any:
        """The bits that mark nulls, or ``None`` if there are no nulls."""
        return None if valid.all() else self._pa.py_buffer(np.packbits(valid, bitorder="little"))
