"""Cuts a stream into chunks: small while someone waits for the first answer or the stream is slow, large for speed."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Final, TypeVar

Item = TypeVar("Item")

GROWTH: Final = 4
PATIENCE: Final = 0.1  # seconds: who reads longer for a chunk parses what there is


def growing_chunks(items: Iterable[Item], largest: int) -> Iterator[list[Item]]:
    """1 item, then 4, 16, … up to ``largest``, as long as they come fast; of a slow stream what came in a moment.

    So each line that someone types is answered before the next is read, and a file is soon cut into large chunks.
    """
    size, chunk, deadline = 1, [], time.monotonic() + PATIENCE
    for item in items:
        chunk.append(item)
        late = time.monotonic() > deadline
        if late or len(chunk) >= size:
            size = len(chunk) if late else min(size * GROWTH, largest)
            yield chunk
            chunk, deadline = [], time.monotonic() + PATIENCE
    if chunk:
        yield chunk
