"""Shows control characters on a terminal instead of sending them.

Words, tags, labels and file names may come from a stranger. On a terminal, an escape sequence among them could change
the window's title, hide text, or type a command. Files and pipes get the text as it is.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, TextIO, cast

# All control characters but tabs and line ends, and the marks that reverse the direction of text.
_CONTROLS: Final = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def shown(text: str) -> str:
    """The text with control characters written as escapes: ``\\x1b``."""
    return _CONTROLS.sub(_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class _Terminal:
    """A stream that shows control characters. ``control`` sends those of our own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self.control = stream.write

    def write(self, text: str) -> int:
        self._stream.write(shown(text))
        return len(text)

    def writelines(self, lines: Iterator[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def send(stream: TextIO, text: str) -> None:
    """Writes a text with control sequences of our own, such as colours."""
    getattr(stream, "control", stream.write)(text)


@contextmanager
def shown_on_terminals() -> Iterator[None]:
    """Makes standard output and standard error show control characters where they are terminals."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Terminal(each)) if each.isatty() else each for each in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
