"""Arrow arrays without ``pyarrow.array``: the same content, and no pandas."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.corpus.arrow_arrays import ArrowArrays
from tests.corpus.corpus_samples import documents, write_jsonl

ARRAYS = ArrowArrays(pa)
TEXT = st.text(st.characters(codec="utf-8"), max_size=8)


@given(st.lists(st.none() | TEXT, max_size=20))
def test_strings_are_what_pyarrow_makes_of_them(values: list[str | None]) -> None:
    made = ARRAYS.strings(values)
    made.validate(full=True)
    assert made.equals(pa.array(values, pa.string()))


@given(st.lists(st.none() | st.floats(0, 1, width=32), max_size=20))
def test_floats_are_what_pyarrow_makes_of_them(values: list[float | None]) -> None:
    made = ARRAYS.numbers(values, pa.float32())
    made.validate(full=True)
    assert made.equals(pa.array(values, pa.float32()))


@pytest.mark.parametrize("type_", [pa.int16(), pa.int32(), pa.int64()])
@given(values=st.lists(st.integers(-(2**15), 2**15 - 1), max_size=20))
def test_whole_numbers_are_what_pyarrow_makes_of_them(type_: pa.DataType, values: list[int]) -> None:
    expected = pa.array(values, type_)
    for form in (values, np.array(values, np.int64)[::-1][::-1]):
        assert ARRAYS.of(form, type_).equals(expected)


@given(st.data())
def test_chosen_texts_are_what_pyarrow_takes(data: st.DataObject) -> None:
    texts = data.draw(st.lists(TEXT, min_size=1, max_size=5))
    numbers = np.array(data.draw(st.lists(st.integers(0, len(texts) - 1), max_size=20)), np.int32)
    made = ARRAYS.chosen(texts, numbers)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()).take(pa.array(numbers)))


@pytest.mark.parametrize("options", [[], ["--probabilities"]])
def test_writing_parquet_imports_neither_pandas_nor_compute(tmp_path: Path, options: list[str]) -> None:
    path = write_jsonl(tmp_path / "in.jsonl", documents(2))
    program = (
        "import sys; from fencepost.cli.main import main; status = main(sys.argv[1:]); "
        "assert 'pyarrow' in sys.modules; sys.exit(status or bool({'pandas', 'pyarrow.compute'} & set(sys.modules)))"
    )
    settings = ["--out", str(tmp_path / "out"), "--format", "parquet", "--workers", "1", *options]
    subprocess.run([sys.executable, "-c", program, "corpus", str(path), *settings], check=True)
