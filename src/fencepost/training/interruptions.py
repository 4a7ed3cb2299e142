"""Holds back Ctrl-C and SIGTERM until the run can stop without losing anything."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

from fencepost.errors import TerminatedError

TOGETHER: Final = 1.0  # seconds


def interruption(number: int) -> KeyboardInterrupt:
    """The exception for a signal that stops a run."""
    return TerminatedError() if number == signal.SIGTERM else KeyboardInterrupt()


@contextmanager
def interruptions(message: str = "stopping after this step") -> Iterator[list[int]]:
    """Collects the signals for the caller to check between steps. A second one stops the run at once.

    A second signal within ``TOGETHER`` seconds doesn't count: a terminal signals all processes, and our parent may
    pass its own signal on to us.
    """
    received: list[int] = []
    first = 0.0

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if received and time.monotonic() - first > TOGETHER:
            raise interruption(number)
        if received:
            return
        first = time.monotonic()
        received.append(number)
        sys.stderr.write(f"{message}; interrupt again to stop at once\n")

    before: dict[int, Any] = {}
    try:
        for which in (signal.SIGINT, signal.SIGTERM):
            before[which] = signal.signal(which, note)
    except ValueError:
        pass  # only the main thread can receive signals
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
