"""Python's garbage collector, paused while many trees are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    # Trees hold no cycles, and the collector would walk all earlier ones again and again: two thirds of the time.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:
                gc.freeze()  # and thawed, what was made in the pause is old, and nobody walks it as if it were young
                gc.unfreeze()
            gc.enable()
