"""Work beside the model's: searches, and splitting texts that aren't parsed. Bounded, in threads of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import BoundedSemaphore, Event
from typing import TypeVar

from fencepost.serve.failures import BusyError, UnavailableError

Result = TypeVar("Result")


class Aside:
    """A few threads, and a queue of jobs for them."""

    def __init__(self, jobs: str, *, threads: int, most: int, timeout: float) -> None:
        """``jobs`` says in messages what waits; at most ``most`` jobs run and wait, ``timeout`` seconds each."""
        self._threads = ThreadPoolExecutor(threads, thread_name_prefix=f"fencepost-{jobs}")
        self._room = BoundedSemaphore(most)
        self._jobs, self._timeout = jobs, timeout
        self._closing = Event()

    async def run(self, job: Callable[[Callable[[], bool]], Result]) -> Result:
        """What ``job`` returns. It is called with a function that says whether to give up.

        Raises BusyError if too many jobs wait, and UnavailableError if this one takes too long.
        """
        if not self._room.acquire(blocking=False):
            raise BusyError(f"the server is busy: too many {self._jobs} are waiting", hint="try again in a few seconds")
        stop = Event()
        future = self._threads.submit(job, lambda: stop.is_set() or self._closing.is_set())
        future.add_done_callback(lambda _: self._room.release())
        try:
            return await asyncio.wait_for(asyncio.wrap_future(future), self._timeout)
        except (TimeoutError, asyncio.TimeoutError):
            raise UnavailableError(
                f"this request takes longer than {self._timeout:g} seconds", hint="send less text, or try again later"
            ) from None
        finally:
            stop.set()

    def close(self) -> None:
        """Drops the jobs that wait. Doesn't wait for those that run."""
        self._closing.set()
        self._threads.shutdown(wait=False, cancel_futures=True)
