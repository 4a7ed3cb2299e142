from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.parsing import chunks
from fencepost.parsing.chunks import growing_chunks


class Clock:
    """Time that passes only when a test says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(chunks, "time", clock)
    return clock


def coming(clock: Clock, *seconds: float) -> Iterator[int]:
    """Items that each take so long to come."""
    for item, wait in enumerate(seconds):
        clock.now += wait
        yield item


def test_chunks_of_a_fast_stream_grow_to_the_largest_size(clock: Clock) -> None:
    assert [len(chunk) for chunk in growing_chunks(range(200), 50)] == [1, 4, 16, 50, 50, 50, 29]


def test_each_item_of_a_slow_stream_is_a_chunk(clock: Clock) -> None:
    assert list(growing_chunks(coming(clock, 1, 1, 1, 1), 50)) == [[0], [1], [2], [3]]


def test_a_pause_in_a_fast_stream_ends_the_chunk_and_starts_small_again(clock: Clock) -> None:
    sizes = [len(chunk) for chunk in growing_chunks(coming(clock, 0, 0, 5, 0, 0, 5, 0), 50)]
    assert sizes == [1, 2, 2, 1, 1]


def test_time_spent_on_a_chunk_is_not_time_spent_on_reading_the_next(clock: Clock) -> None:
    sizes = []
    for chunk in growing_chunks(range(21), 50):
        sizes.append(len(chunk))
        clock.now += 10
    assert sizes == [1, 4, 16]


@given(st.lists(st.integers()), st.integers(1, 20))
def test_chunks_end_to_end_are_the_stream(items: list[int], largest: int) -> None:
    chunks = list(growing_chunks(items, largest))
    assert [item for chunk in chunks for item in chunk] == items
    assert all(1 <= len(chunk) <= largest for chunk in chunks)
