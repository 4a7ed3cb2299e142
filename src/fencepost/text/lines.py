"""Reads raw text line by line. A line that isn't UTF-8 is marked as bad, and reading continues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple

from fencepost.storage.text_reader import BYTE_ORDER_MARK, cut_character, open_binary, require_text

_NUL_BYTE: Final = "a NUL byte: this isn't UTF-8 text (is it UTF-16, or a binary file?)"
_LONGEST_LINE: Final = 2**24  # bytes of a line that must stay whole
_PIECE: Final = 2**16  # bytes of running text, in which a longer line comes in pieces


class TextLine(NamedTuple):
    """A line with its line end. A bad line has a ``problem``, and U+FFFD in place of bytes that can't be read."""

    text: str
    number: int
    size: int  # bytes
    problem: str | None = None


def read_text_lines(path: str | Path, *, whole: bool = True) -> Iterator[TextLine]:
    """The lines of a file. If they needn't be ``whole``, a long line comes in pieces, of which only the last ends."""
    with open_binary(path) as file:
        yield from _lines(file, str(path)) if whole else _pieces(file, str(path))


def _lines(file: BinaryIO, source: str) -> Iterator[TextLine]:
    number = 0
    while line := file.readline(_LONGEST_LINE):
        number += 1
        if number == 1:
            require_text(line, source)
        if len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
            yield TextLine("\n", number, len(line) + _skip_line(file), "the line is longer than 16 MB")
        else:
            yield _decoded(line, number)


def _pieces(file: BinaryIO, source: str) -> Iterator[TextLine]:
    number, before, is_bad = 1, 0, False  # the line, its bytes before this piece, and whether it has been reported
    held = b""  # the start of a character that was cut in two
    while piece := held + file.readline(_PIECE):
        if number == 1 and before == 0:
            require_text(piece, source)
        is_end = piece.endswith(b"\n") or len(piece) - len(held) < _PIECE
        held = b"" if is_end else cut_character(piece)
        line = _decoded(piece[: len(piece) - len(held)], number, before)
        yield line._replace(problem=None) if is_bad else line
        before, is_bad = before + line.size, is_bad or line.problem is not None
        if is_end:
            number, before, is_bad = number + 1, 0, False


def _decoded(line: bytes, number: int, before: int = 0) -> TextLine:
    """``before`` is the number of bytes of the same line that came before these."""
    start = len(BYTE_ORDER_MARK) if number == 1 and before == 0 and line.startswith(BYTE_ORDER_MARK) else 0
    try:
        text, problem = line[start:].decode("utf-8"), None
    except UnicodeDecodeError as error:
        text = line[start:].decode("utf-8", "replace")
        problem = f"not UTF-8: byte 0x{error.object[error.start]:02x} at column {before + error.start + 1}"
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
