"""The pause of the garbage collector leaves no garbage behind."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from weakref import ref

import pytest

from fencepost.trees import garbage_collection
from fencepost.trees.garbage_collection import no_garbage_collection


class Cycle:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def _clean_start(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(garbage_collection, "_skipped", 0)
    gc.collect()
    yield
    gc.collect()


def left_of_garbage(calls: int, made_in_a_call: int) -> int:
    """How much is still there of what others left, a piece before each call."""
    garbage = []
    for _ in range(calls):
        garbage.append(ref(Cycle()))
        with no_garbage_collection():
            made = [[number] for number in range(made_in_a_call)]
        del made
    return sum(piece() is not None for piece in garbage)


def is_old(thing: object) -> bool:
    return any(old is thing for old in gc.get_objects(generation=2))


def test_garbage_between_many_small_calls_is_collected() -> None:
    assert left_of_garbage(calls=5_000, made_in_a_call=20) < 4_000


def test_garbage_between_large_calls_is_collected_in_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "MANY_OBJECTS", 1_000)
    monkeypatch.setattr(garbage_collection, "FULL_COLLECTION", 20_000)
    assert left_of_garbage(calls=50, made_in_a_call=2_000) < 20


def test_what_a_large_call_makes_is_not_walked_as_if_it_were_young(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "MANY_OBJECTS", 1_000)
    with no_garbage_collection():
        made = [[number] for number in range(2_000)]
    assert is_old(made[0])


def test_what_others_have_frozen_stays_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(garbage_collection, "MANY_OBJECTS", 1_000)
    gc.freeze()
    try:
        with no_garbage_collection():
            made = [[number] for number in range(2_000)]
        assert gc.get_freeze_count() > 0
        assert not is_old(made[0])
    finally:
        gc.unfreeze()
