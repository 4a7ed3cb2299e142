"""Reads raw text line by line. A line that isn't UTF-8 is marked as bad, and reading continues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from fencepost.errors import EncodingError
from fencepost.storage.text_reader import BYTE_ORDER_MARK, UTF16_MARKS, open_binary

_NUL_BYTE: Final = "a NUL byte: this isn't UTF-8 text (is it UTF-16, or a binary file?)"
_LONGEST_LINE: Final = 2**24  # bytes


class TextLine(NamedTuple):
    """A line with its line end. A bad line has a ``problem``, and U+FFFD in place of bytes that can't be read."""

    text: str
    number: int
    size: int  # bytes
    problem: str | None = None


def read_text_lines(path: str | Path) -> Iterator[TextLine]:
    with open_binary(path) as file:
        yield from _lines(file, str(path))


def _lines(file: BinaryIO, source: str) -> Iterator[TextLine]:
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if number == 1 and line.startswith(UTF16_MARKS):
            hint = f"iconv -f UTF-16 -t UTF-8 {source}"
            raise EncodingError("not UTF-8 but UTF-16", source=source, line=1, hint=hint)
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            yield TextLine("\n", number, len(line) + _skip_line(file), "the line is longer than 16 MB")
        else:
            yield _decoded(line, number)


def _decoded(line: bytes, number: int) -> TextLine:
    start = len(BYTE_ORDER_MARK) if number == 1 and line.startswith(BYTE_ORDER_MARK) else 0
    try:
        text, problem = line[start:].decode("utf-8"), None
    except UnicodeDecodeError as error:
        text = line[start:].decode("utf-8", "replace")
        problem = f"not UTF-8: byte 0x{error.object[error.start]:02x} at column {error.start + 1}"
    if "\0" in text:
        text, problem = text.replace("\0", "\ufffd"), problem or _NUL_BYTE
    return TextLine(text, number, len(line), problem)


def _skip_line(file: BinaryIO) -> int:
    size = 0
    while line := file.readline(_LONGEST_LINE):
        size += len(line)
        if line.endswith(b"\n"):
            break
    return size
