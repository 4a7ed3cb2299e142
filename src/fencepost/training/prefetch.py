"""Prepares the next batch in a thread while the device and the host are busy with this one."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")


class Prefetch(Generic[Item, Prepared]):
    """``get(item)`` gives what ``begin(item)`` began; an item that was not foreseen is prepared on the spot."""

    def __init__(self, prepare: Callable[[Item], Prepared]) -> None:
        self._prepare = prepare
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="ahead")
        self._begun: tuple[Item, Future[Prepared]] | None = None

    def begin(self, item: Item) -> None:
        self._begun = item, self._pool.submit(self._prepare, item)

    def get(self, item: Item) -> Prepared:
        if self._begun is not None and self._begun[0] == item:
            return self._begun[1].result()
        return self._prepare(item)
