from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fencepost.chart import packing

LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=6).map(np.array)


def test_a_chart_lists_its_diagonals_from_the_words_to_the_sentence() -> None:
    _, starts, ends = packing.cells(np.array([3]))
    assert list(zip(starts, ends, strict=True)) == [(0, 1), (1, 2), (2, 3), (0, 2), (1, 3), (0, 3)]


def test_charts_follow_each_other() -> None:
    assert packing.offsets(np.array([3, 1, 2])).tolist() == [0, 6, 7]


@given(LENGTHS)
def test_every_cell_has_the_index_of_its_place(lengths: packing.Ints) -> None:
    sentences, starts, ends = packing.cells(lengths)
    indices = packing.offsets(lengths)[sentences] + packing.cell_index(lengths[sentences], starts, ends)
    assert indices.tolist() == list(range(packing.span_count(lengths).sum()))


@given(LENGTHS)
def test_locating_an_index_gives_its_cell(lengths: packing.Ints) -> None:
    cells = packing.cells(lengths)
    found = packing.locate(lengths, np.arange(len(cells.starts)))
    assert all(np.array_equal(a, b) for a, b in zip(cells, found, strict=True))


@given(LENGTHS)
def test_the_root_is_the_span_of_all_words(lengths: packing.Ints) -> None:
    sentences, starts, ends = packing.locate(lengths, packing.roots(lengths))
    assert sentences.tolist() == list(range(len(lengths)))
    assert (starts == 0).all()
    assert (ends == lengths).all()


def test_a_batch_of_no_sentences_has_no_cells() -> None:
    assert len(packing.cells(np.array([], dtype=np.int64)).starts) == 0
