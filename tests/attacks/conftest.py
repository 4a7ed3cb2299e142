"""Every attack has ten seconds, or the ``SECONDS`` of its module: no program may wait for ever."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from typing import Final, NoReturn

import pytest

SECONDS: Final = 10


class LateError(Exception):
    """Not a TimeoutError: that is an OSError, which programs expect and handle."""


@pytest.fixture(autouse=True)
def _in_time(request: pytest.FixtureRequest) -> Iterator[None]:
    seconds: int = getattr(request.module, "SECONDS", SECONDS)

    def late(*_: object) -> NoReturn:
        raise LateError(f"not done after {seconds} seconds")

    before = signal.signal(signal.SIGALRM, late)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
