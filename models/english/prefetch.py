"""Prepares the next batch in a thread while the current one is being computed."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

Item = TypeVar("Item")
Prepared = TypeVar("Prepared")


class Prefetch(Generic[Item, Prepared]):
    """``get(item)`` returns what ``begin(item)`` began to prepare, and prepares any other item on the spot."""

    def __init__(self, prepare: Callable[[Item], Prepared]) -> None:
        self._prepare = prepare
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="prefetch")
        self._next: tuple[Item, Future[Prepared]] | None = None

    def begin(self, item: Item) -> None:
        self._next = item, self._pool.submit(self._prepare, item)

    def get(self, item: Item) -> Prepared:
        if self._next is not None and self._next[0] == item:
            return self._next[1].result()
        return self._prepare(item)
