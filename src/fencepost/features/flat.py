"""Arrays laid end to end in one array of 64-bit numbers, which another process or a device gets in one copy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from fencepost.features.batch import Array, Ints

_BYTES: Final = {"int64": 8, "float32": 4, "bool": 1}
_NAMES: Final = {np.dtype(name): name for name in _BYTES}  # numpy takes a while to make a name
_NAMES[np.dtype(np.int32)] = "int64"  # numpy 1 counts in 32 bits on Windows


class Form(NamedTuple):
    """What one of the arrays looked like."""

    name: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def items(self) -> int:
        return math.prod(self.shape)

    @property
    def size(self) -> int:
        """How many numbers of 64 bits hold it."""
        return -(-self.items * _BYTES[self.dtype] // 8)


def forms(arrays: Mapping[str, Array]) -> list[Form]:
    return [Form(name, _NAMES[array.dtype], array.shape) for name, array in arrays.items()]


def lay_out(arrays: Sequence[Array], out: Ints) -> None:
    """Copies the arrays into ``out``."""
    np.concatenate([_numbers(array) for array in arrays], out=out)


def _numbers(array: Array) -> Ints:
    if array.dtype.kind == "i":
        return array.ravel()
    data = array.tobytes()
    return np.frombuffer(data + bytes(-len(data) % 8), np.int64)


def split(numbers: Ints, arrays: Sequence[Form]) -> dict[str, Array]:
    """The arrays again, without copying them."""
    found: dict[str, Array] = {}
    first = 0
    for form in arrays:
        own = numbers[first : first + form.size].view(form.dtype)
        found[form.name] = own[: form.items].reshape(form.shape)
        first += form.size
    return found
