from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.features.batching import cost, pieces

LENGTHS = st.lists(st.integers(1, 60), max_size=40)


@given(LENGTHS, st.integers(1, 500))
def test_every_sentence_is_in_one_piece_and_longer_ones_come_first(lengths: list[int], budget: int) -> None:
    places = [place for piece in pieces(lengths, budget) for place in piece]
    assert sorted(places) == list(range(len(lengths)))
    assert [lengths[place] for place in places] == sorted(lengths, reverse=True)


@given(LENGTHS, st.integers(1, 500))
def test_a_piece_costs_no_more_than_its_budget_unless_it_is_one_sentence(lengths: list[int], budget: int) -> None:
    for piece in pieces(lengths, budget):
        assert len(piece) == 1 or sum(cost(lengths[place]) for place in piece) <= budget


def test_a_piece_takes_as_many_sentences_as_its_budget_allows() -> None:
    assert list(pieces([4, 4, 4, 4, 4], 2 * cost(4))) == [[0, 1], [2, 3], [4]]


@pytest.mark.parametrize(("length", "tokens"), [(1, 3), (14, 22), (100, 417)])
def test_a_sentence_costs_its_tokens_and_a_sixteenth_of_its_spans(length: int, tokens: int) -> None:
    assert cost(length) == tokens
