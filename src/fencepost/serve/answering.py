"""Between the event loop and the model's thread: queues the sentences of a request and waits for their analyses."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress

from fencepost.serve.batching import Batcher, Parsed, Placed, Wish, Work
from fencepost.serve.failures import RequestError, UnavailableError


async def parse_sentences(
    batcher: Batcher, sentences: Iterator[Placed], wish: Wish, size: int, timeout: float, *, stream: bool = False
) -> AsyncIterator[list[Parsed]]:
    """The sentences with their analyses, in order, some at a time.

    ``timeout`` is for the whole answer; if it is a stream, for each part of it. Raises a RequestError if the request
    can't be queued, has a sentence that can't be parsed, or takes too long.
    """
    loop = asyncio.get_running_loop()
    results: asyncio.Queue[tuple[list[Parsed], bool] | RequestError] = asyncio.Queue()

    def hand_over(result: tuple[list[Parsed], bool] | RequestError) -> None:
        with suppress(RuntimeError):  # the loop is closed: the server was told twice to stop
            loop.call_soon_threadsafe(results.put_nowait, result)

    def give_up() -> None:
        hint = 'send less text, or ask for a "stream"'
        results.put_nowait(UnavailableError(f"this request takes longer than {timeout:g} seconds", hint=hint))

    work = Work(sentences, wish, lambda parsed, ended: hand_over((parsed, ended)), hand_over, size)
    batcher.submit(work)
    # Not asyncio.wait_for: before Python 3.12 it may lose a cancellation, and the server would not stop.
    timer = loop.call_later(timeout, give_up)
    ended = False
    try:
        while not ended:
            result = await results.get()
            if isinstance(result, RequestError):
                raise result
            parsed, ended = result
            if stream:
                timer.cancel()  # the time that the client takes to read doesn't count
            yield parsed
            batcher.sent(work, len(parsed))
            if stream:
                timer = loop.call_later(timeout, give_up)
    finally:
        timer.cancel()
        if not ended:
            batcher.cancel(work)
