"""Ctrl-C and termination that wait until they can be obeyed without loss."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, Final

TOGETHER: Final = 1.0  # seconds


@contextmanager
def interruptions(message: str = "stopping after this step") -> Iterator[list[int]]:
    """Collects Ctrl-C and termination, to be looked at when it suits; a second one strikes at once.

    Not one that comes with the first: some send it to all processes, and our parent sends it on.
    """
    received: list[int] = []
    first = 0.0

    def note(number: int, frame: FrameType | None) -> None:
        nonlocal first
        if received and time.monotonic() - first > TOGETHER:
            raise KeyboardInterrupt
        if received:
            return
        first = time.monotonic()
        received.append(number)
        sys.stderr.write(f"{message}; once more to stop at once\n")

    before: dict[int, Any] = {}
    try:
        for which in (signal.SIGINT, signal.SIGTERM):
            before[which] = signal.signal(which, note)
    except ValueError:
        pass  # not in the main thread: nobody can interrupt us there
    try:
        yield received
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
