"""Python's garbage collector, paused while many trees are made."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MANY: Final = 100_000  # objects: more than that are not worth walking when they are young
FULL_COLLECTION: Final = 5_000_000  # objects that grew old unwalked, after which all are walked

_unwalked = 0


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    # Trees hold no cycles, and the collector would walk all earlier ones again and again: two thirds of the time.
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            made = gc.get_count()[0]
            if made > MANY and gc.get_freeze_count() == 0:
                _make_old(made)
            gc.enable()


def _make_old(made: int) -> None:
    """Spares the collector two walks over what is young."""
    # Others' garbage grows old with it, and Python forgets when its next full collection was due. So small calls must
    # not come here, where a program that makes nothing else would keep its garbage for ever, and large ones add up.
    global _unwalked
    gc.freeze()
    gc.unfreeze()
    _unwalked += made
    if _unwalked > FULL_COLLECTION:
        _unwalked = 0
        gc.collect()
