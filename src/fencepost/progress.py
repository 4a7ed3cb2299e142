"""A progress line on stderr for long commands. Nothing is written unless stderr is a terminal."""

from __future__ import annotations

import os
import shutil
import sys
import time
from types import TracebackType
from typing import Final

_REDRAW_SECONDS: Final = 0.1
_BAR_WIDTH: Final = 20


class Progress:
    """``with Progress("parsing", total=len(sentences)) as bar: bar.advance(64)``; ``total`` may be unknown."""

    def __init__(
        self, what: str, total: int | None = None, unit: str = "sentences", *, hidden: bool = False, done: int = 0
    ) -> None:
        """``done``: how much an earlier run did; it doesn't count for the rate."""
        self.what, self.total, self.unit = what, total, unit
        self.count = self._earlier = done
        self.note = ""  # shown at the end of the line
        self._shown = not hidden and _is_terminal()
        self._began = time.monotonic()
        self._next = self._began + _REDRAW_SECONDS

    def advance(self, count: int = 1) -> None:
        self.count += count
        if self._shown and time.monotonic() >= self._next:
            self._draw(time.monotonic())

    def begin(self) -> None:
        """Draws the line now, for work whose first step takes long."""
        if self._shown:
            self._draw(time.monotonic())

    def clear(self) -> None:
        """Clears the line, so that something else can be written; a later ``advance`` draws it again."""
        if self._shown:
            clear_line()

    def line(self, seconds: float) -> str:
        """The text of the line after this many seconds."""
        rate = (self.count - self._earlier) / seconds if seconds > 0 else 0.0
        note = f", {self.note}" if self.note else ""
        if not self.total:
            return f"{self.what}: {self.count:,} {self.unit}, {_rate(rate)}{note}"
        done = min(self.count / self.total, 1.0)
        bar = "=" * int(done * _BAR_WIDTH)
        left = f", {_clock((self.total - self.count) / rate)} left" if rate > 0 and self.count < self.total else ""
        shown = f"{self.what} [{bar:<{_BAR_WIDTH}}] {self.count:,}/{self.total:,} {self.unit}"
        return f"{shown}, {_rate(rate)}{left}{note}"

    def _draw(self, now: float) -> None:
        width = shutil.get_terminal_size().columns - 1  # the last column would wrap the line
        _control("\r")
        sys.stderr.write(self.line(now - self._began)[:width])
        _control("\x1b[K")
        sys.stderr.flush()
        self._next = now + _REDRAW_SECONDS

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.clear()


def clear_line() -> None:
    """Clears whatever progress is shown, for a message from elsewhere."""
    if _is_terminal():
        _control("\r\x1b[K")
        sys.stderr.flush()


def _is_terminal() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _control(sequence: str) -> None:
    """Sends a control sequence of our own; ``cli.terminal`` makes standard error show all others."""
    getattr(sys.stderr, "control", sys.stderr.write)(sequence)


def _rate(rate: float) -> str:
    return f"{rate:,.0f}/s" if rate >= 10 or rate == 0 else f"{rate:.1f}/s"


def _clock(seconds: float) -> str:
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"
