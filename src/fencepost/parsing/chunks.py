"""Groups a stream of sentences into chunks: first one sentence, for a quick answer, then enough to fill batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Final, TypeVar

from fencepost.features.batching import cost, pieces

Item = TypeVar("Item")

GROWTH: Final = 4
PATIENCE: Final = 0.1  # seconds to wait for each batch of a chunk; then whatever has arrived is parsed
LARGEST: Final = 100_000  # tokens in memory at once, as ``features.batching`` counts them ...
BATCHES: Final = 8  # ... or this many batches, if that is more: the last batch of a chunk is seldom full


def never() -> bool:
    return False


def growing_chunks(
    items: Iterable[Item],
    length: Callable[[Item], int],
    budget: int,
    largest: int | None = None,
    is_waiting: Callable[[], bool] = never,
) -> Iterator[list[Item]]:
    """Yields one item, then as many as fill 1 batch, 4 batches, 16, … up to ``largest`` tokens, while they come fast.

    From a slow stream it yields what arrived within a moment, so that each line someone types is answered before the
    next is read. ``length`` counts the words of an item, ``budget`` is the number of tokens in a batch. ``is_waiting``
    is true if the next item hasn't arrived yet. If an item can't be read, the items before it come before its error.
    """

    most = max(LARGEST, BATCHES * budget) if largest is None else largest

    def price(item: Item) -> int:
        return min(cost(length(item)), budget)

    chunk: list[Item] = []
    spent, room = 0, 1
    failure: Exception | None = None
    deadline = time.monotonic() + PATIENCE
    try:
        for item in items:
            chunk.append(item)
            spent += price(item)
            late = time.monotonic() > deadline
            if not (late or spent >= room or is_waiting()):
                continue
            count = len(chunk) if late else _count_that_fit(list(map(length, chunk)), budget, max(1, room // budget))
            yield chunk[:count]
            chunk = chunk[count:]
            if chunk and is_waiting():
                yield chunk
                chunk = []
            room = spent if late else _grown(room, budget, most)
            spent = sum(map(price, chunk))
            deadline = time.monotonic() + PATIENCE * max(1, room // budget)
    except Exception as error:  # whatever it is: the items before it can be parsed
        failure = error
    if chunk:
        yield chunk
    if failure is not None:
        raise failure


def _grown(room: int, budget: int, largest: int) -> int:
    return budget if room < budget else max(budget, min(room * GROWTH, largest))


def _count_that_fit(lengths: Sequence[int], budget: int, batches: int) -> int:
    """How many of the first sentences fit in this many batches."""
    count = len(lengths)
    while len(groups := list(pieces(lengths[:count], budget))) > batches:
        excess = sum(cost(lengths[index]) for group in groups[batches:] for index in group)
        while excess > 0:
            count -= 1
            excess -= cost(lengths[count])
    return count


def equal_chunks(items: Iterable[Item], size: int) -> Iterator[list[Item]]:
    """Chunks of ``size`` items, for input that doesn't have to be waited for."""
    rest = iter(items)
    return iter(lambda: list(islice(rest, size)), [])
