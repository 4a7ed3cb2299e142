"""The file with the vectors of sub-tokens."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest

from fencepost.errors import ModelError
from fencepost.storage.subword_table import SubwordTable, format_scaled_table, format_table

TABLE = np.arange(12, dtype=np.float32).reshape(4, 3)


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def test_vectors_in_single_precision_are_those_of_the_table(tmp_path: Path) -> None:
    table = SubwordTable(written(tmp_path / "table", format_table(TABLE)))
    assert (len(table), table.size) == (4, 3)
    subtokens = np.array([[3, 0], [1, 1]])
    np.testing.assert_array_equal(table.vectors(subtokens), TABLE[subtokens])


def test_integers_are_multiplied_by_the_scale_of_their_row(tmp_path: Path) -> None:
    integers = np.array([[-127, 0, 127], [1, 2, 3]], np.int8)
    content = format_scaled_table(integers, np.array([0.5, 2], np.float32))
    table = SubwordTable(written(tmp_path / "table", content))
    assert (len(table), table.size) == (2, 3)
    vectors = table.vectors(np.array([[1, 0]]))
    assert vectors.dtype == np.float32
    np.testing.assert_array_equal(vectors, [[[2, 4, 6], [-63.5, 0, 63.5]]])


def npy(array: np.ndarray[tuple[int, ...], np.dtype[np.generic]], **options: bool) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


DAMAGED = {
    "empty": b"",
    "text": b"no array at all",
    "cut short": format_table(TABLE)[:-1],
    "of another type": npy(TABLE.astype(np.float64)),
    "of another shape": npy(TABLE[0]),
    "with other fields": npy(np.zeros(3, [("scale", "<f4"), ("other", "i1", 3)])),
    "of Python objects": npy(np.array([{}, {}]), allow_pickle=True),
}


@pytest.mark.parametrize("content", DAMAGED.values(), ids=DAMAGED)
def test_another_file_is_refused(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ModelError, match=r"table: (numpy can't read it|not a table of sub-tokens)"):
        SubwordTable(written(tmp_path / "table", content))
