"""Work in a thread, a bounded number of steps ahead: one thread indexes sentences while the device parses others."""

from __future__ import annotations

import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

_POLL: Final = 0.1  # seconds after which a thread looks whether its results are still wanted


class _Thread(Generic[Item]):
    """Reads an iterable in a thread."""

    def __init__(self, items: Iterable[Item], most: int) -> None:
        self._items = items
        self._answers: queue.Queue[tuple[Item] | Exception | None] = queue.Queue(most)
        self._unwanted = threading.Event()
        # A daemon: nobody can wake a thread that waits for someone to type.
        self._thread = threading.Thread(target=self._work, daemon=True, name="fencepost-ahead")
        self._thread.start()

    def results(self) -> Iterator[Item]:
        try:
            while (answer := self._answers.get()) is not None:
                if isinstance(answer, Exception):
                    raise answer
                yield answer[0]
        finally:
            self._unwanted.set()
            self._thread.join(5 * _POLL)

    def _work(self) -> None:
        items = iter(self._items)
        try:
            for item in items:
                if not self._put((item,)):
                    return
            self._put(None)
        except Exception as error:
            self._put(error)
        finally:
            if (close := getattr(items, "close", None)) is not None:
                close()  # so that threads behind it end, too

    def _put(self, answer: tuple[Item] | Exception | None) -> bool:
        """Hands over an answer; False if it is no longer wanted."""
        while not self._unwanted.is_set():
            try:
                self._answers.put(answer, timeout=_POLL)
            except queue.Full:
                continue
            return True
        return False


def ahead(items: Iterable[Item], most: int = 2) -> Iterator[Item]:
    """The items in order, read in a thread that is at most ``most`` of them ahead. An error comes after the items
    before it. Reading begins at once, and ends soon after the caller stops."""
    return _Thread(items, most).results()
