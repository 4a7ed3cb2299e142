from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import InputError
from fencepost.features.batching import cost, pieces
from fencepost.parsing import chunks
from fencepost.parsing.chunks import equal_chunks, growing_chunks

LENGTH = 10  # words of each item
BATCH = 10  # items that fill a batch
BUDGET = BATCH * cost(LENGTH)


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


def length(_: int) -> int:
    return LENGTH


def test_chunks_of_a_fast_stream_grow_to_the_largest_size(clock: Clock) -> None:
    sizes = [len(chunk) for chunk in growing_chunks(range(250), length, BUDGET, 5 * BUDGET)]
    assert sizes == [1, BATCH, 4 * BATCH, 5 * BATCH, 5 * BATCH, 5 * BATCH, 49]


def test_each_item_of_a_slow_stream_is_a_chunk(clock: Clock) -> None:
    assert list(growing_chunks(coming(clock, 1, 1, 1, 1), length, BUDGET)) == [[0], [1], [2], [3]]


def test_a_pause_in_a_fast_stream_ends_the_chunk_and_starts_small_again(clock: Clock) -> None:
    sizes = [len(chunk) for chunk in growing_chunks(coming(clock, 0, 0, 5, 0, 0, 5, 0), length, BUDGET)]
    assert sizes == [1, 2, 2, 1, 1]


def test_a_large_chunk_has_more_time_to_come(clock: Clock) -> None:
    waits = [0.0] * (1 + BATCH) + [0.3 / (4 * BATCH)] * (4 * BATCH)
    assert [len(chunk) for chunk in growing_chunks(coming(clock, *waits), length, BUDGET)] == [1, BATCH, 4 * BATCH]


def test_time_spent_on_a_chunk_is_not_time_spent_on_reading_the_next(clock: Clock) -> None:
    sizes = []
    for chunk in growing_chunks(range(51), length, BUDGET):
        sizes.append(len(chunk))
        clock.now += 10
    assert sizes == [1, BATCH, 4 * BATCH]


def test_what_has_come_is_a_chunk_as_soon_as_the_stream_waits(clock: Clock) -> None:
    read = 0

    def items() -> Iterator[int]:
        nonlocal read
        while read < 16:
            read += 1
            yield read

    found = list(growing_chunks(items(), length, BUDGET, is_waiting=lambda: read in (3, 9, 10)))
    assert [len(chunk) for chunk in found] == [1, 2, 6, 1, 6]


def test_nothing_is_kept_for_the_next_chunk_while_the_stream_waits(clock: Clock) -> None:
    lengths, read = [5, 40, 40, 40, 90, 5, 5], 0

    def items() -> Iterator[int]:
        nonlocal read
        for item in lengths:
            read += 1
            yield item

    budget = 3 * cost(40) + cost(5)  # so that the one of 90 words needs another batch
    found = growing_chunks(items(), int, budget, is_waiting=lambda: read == 5)
    assert [(read, chunk) for chunk in found] == [(1, [5]), (5, [40, 40, 40]), (5, [90]), (7, [5, 5])]


def test_after_the_first_every_batch_is_full_but_for_those_of_the_last_chunk(clock: Clock) -> None:
    source = random.Random(4)
    lengths = [min(120, 1 + int(source.gammavariate(4, 6))) for _ in range(8_000)]
    budget, largest = 4_000, 40_000
    found = list(growing_chunks(lengths, int, budget, largest))
    batches = [[[chunk[place] for place in group] for group in pieces(chunk, budget)] for chunk in found]
    assert [len(groups) for groups in batches[:5]] == [1, 1, 4, 10, 10]
    assert len(batches[0][0]) == 1
    for groups in batches[1:-1]:
        assert min(sum(map(cost, group)) for group in groups) > 0.9 * budget


@pytest.mark.parametrize("error", [InputError("bad bytes"), ValueError("bad bytes")])
def test_items_before_one_that_cannot_be_read_come_before_its_error(clock: Clock, error: Exception) -> None:
    def items() -> Iterator[int]:
        yield from range(5)
        raise error

    found = growing_chunks(items(), length, BUDGET)
    assert [next(found), next(found)] == [[0], [1, 2, 3, 4]]
    with pytest.raises(type(error), match="bad bytes"):
        next(found)


@given(st.lists(st.integers(0, 200)), st.integers(1, 2_000), st.integers(1, 8_000))
def test_chunks_end_to_end_are_the_stream(lengths: list[int], budget: int, largest: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chunks, "time", Clock())
        found = list(growing_chunks(lengths, int, budget, largest))
    assert [item for chunk in found for item in chunk] == lengths
    assert all(found)
    assert all(len(list(pieces(chunk, budget))) <= max(1, largest // budget) for chunk in found[:-1])


@given(st.lists(st.integers()), st.integers(1, 20))
def test_equal_chunks_end_to_end_are_the_list(items: list[int], size: int) -> None:
    chunks = list(equal_chunks(items, size))
    assert [item for chunk in chunks for item in chunk] == items
    assert all(len(chunk) == size for chunk in chunks[:-1])
    assert all(1 <= len(chunk) <= size for chunk in chunks)
