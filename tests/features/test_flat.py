"""Arrays laid end to end come back as they were, as numpy's and as tensors."""

from __future__ import annotations

import numpy as np
import torch

from fencepost.features.flat import forms, lay_out, split
from fencepost.model import sequences

ARRAYS = {
    "numbers": np.arange(5),
    "odd": np.array([[True, False, True]] * 3),
    "none": np.zeros((0, 4), np.float32),
    "vectors": np.arange(15, dtype=np.float32).reshape(5, 3),
    "table": np.arange(6).reshape(2, 3)[:, ::2],
}


def laid_out() -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    numbers = np.empty(sum(form.size for form in forms(ARRAYS)), np.int64)
    lay_out(list(ARRAYS.values()), numbers)
    return numbers


def test_arrays_of_every_type_and_shape_come_back() -> None:
    assert len(laid_out()) == 5 + 2 + 0 + 8 + 4
    found = split(laid_out(), forms(ARRAYS))
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        np.testing.assert_array_equal(found[name], array, strict=True)


def test_the_same_arrays_come_back_as_tensors() -> None:
    for found in (
        sequences.split(torch.from_numpy(laid_out()), forms(ARRAYS)),
        sequences.send(ARRAYS, torch.device("cpu")),
    ):
        for name, array in ARRAYS.items():
            np.testing.assert_array_equal(found[name].numpy(), array, strict=True)


def test_numbers_of_32_bits_become_numbers_of_64() -> None:
    arrays = {"numbers": np.arange(3, dtype=np.int32)}
    numbers = np.empty(3, np.int64)
    lay_out(list(arrays.values()), numbers)
    np.testing.assert_array_equal(split(numbers, forms(arrays))["numbers"], np.arange(3, dtype=np.int64), strict=True)
