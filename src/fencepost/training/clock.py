"""The time that a run has spent training, over all of its sessions."""

from __future__ import annotations

import time


class Clock:
    """Starts at once; ``seconds`` and ``since_check`` are the times that earlier sessions of the run spent."""

    def __init__(self, seconds: float = 0.0, since_check: float = 0.0) -> None:
        now = time.monotonic()
        self._began, self._checked = now - seconds, now - since_check

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    @property
    def since_check(self) -> float:
        return time.monotonic() - self._checked

    def check(self) -> None:
        """Resets ``since_check`` to 0."""
        self._checked = time.monotonic()
