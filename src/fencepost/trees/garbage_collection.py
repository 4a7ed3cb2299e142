"""Python's garbage collector, paused while many trees are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY_OBJECTS: Final = 100_000  # after making more than this, the collector skips its first two walks over them
FROZEN_BY_PYTHON: Final = 1_000  # Python 3.12 starts with a few hundred frozen objects; gc.freeze() freezes thousands
FULL_COLLECTION: Final = 5_000_000  # after skipping more objects than this, a full collection walks them all

_skipped = 0


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """Pauses the collector. Trees have no cycles, and walking them again and again takes two thirds of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            made = gc.get_count()[0]
            if made > MANY_OBJECTS and gc.get_freeze_count() < FROZEN_BY_PYTHON:
                _skip_young_generations(made)
            gc.enable()


def _skip_young_generations(made: int) -> None:
    """Moves all new objects to the oldest generation, which saves the collector two walks over them."""
    # The caller's garbage moves with them, and Python forgets when its next full collection was due. If small calls did
    # this, a program that only makes small calls would never free its garbage. Large calls are counted up instead.
    global _skipped
    gc.freeze()
    gc.unfreeze()
    _skipped += made
    if _skipped > FULL_COLLECTION:
        _skipped = 0
        gc.collect()
