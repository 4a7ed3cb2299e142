"""Reads UTF-8 text files line by line, gzipped or not, with line numbers for error messages."""

from __future__ import annotations

import gzip
import io
import shlex
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from fencepost.errors import EncodingError, InputError

STANDARD_INPUT: Final = "-"
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
_FORMATS: Final = {  # the first bytes of files that people give to programs which read text
    b"\xff\xfe": "not UTF-8 but UTF-16",
    b"\xfe\xff": "not UTF-8 but UTF-16",
    b"%PDF-": "not text but a PDF",
    b"PK\x03\x04": "not text but a zip archive, such as a Word or EPUB file",
    b"\xd0\xcf\x11\xe0": "not text but an old Word or Excel file",
    b"{\\rtf": "not plain text but RTF",
    b"\x89PNG": "not text but a picture",
    b"\xff\xd8\xff": "not text but a picture",
}
_GZIP_MARK: Final = b"\x1f\x8b"
UNPACKED: Final = 2**30  # bytes that any gzipped file may unpack to ...
TIMES: Final = 100  # ... and times its own size for larger ones; text shrinks to a tenth at best
_LINE_LIMIT: Final = 2**24  # bytes; a longer line comes in several pieces


class SourceLine(NamedTuple):
    """A line of a file, with its line end and its number."""

    text: str
    number: int


def read_lines(path: str | Path) -> Iterator[SourceLine]:
    """The lines of a UTF-8 file, numbered from 1. Raises EncodingError with the line number if a line isn't UTF-8."""
    with open_binary(path) as file:
        yield from _decode(file, str(path))


@contextmanager
def open_binary(path: str | Path) -> Iterator[BinaryIO]:
    """Opens a file or standard input, and unpacks it if it is gzipped. Errors name the file."""
    try:
        with ExitStack() as stack:
            yield _unpacked(path, stack)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise EncodingError(f"damaged gzip file: {error}", source=str(path)) from error
    except OSError as error:
        raise InputError(error.strerror or str(error), source=str(path)) from error


def _unpacked(path: str | Path, stack: ExitStack) -> BinaryIO:
    if str(path) == STANDARD_INPUT:
        if sys.stdin is None:
            raise InputError("standard input is closed", source=STANDARD_INPUT)
        file = _standard_input(stack)
    else:
        file = stack.enter_context(io.BufferedReader(io.FileIO(path), 2**16))
    if file.peek(2)[:2] == _GZIP_MARK:
        packed = _Packed(file)
        unpacked = stack.enter_context(gzip.GzipFile(fileobj=packed))
        return stack.enter_context(io.BufferedReader(_Unpacked(unpacked, packed, str(path))))
    return file


class _Packed(io.RawIOBase):
    """A gzipped file that counts the bytes read from it."""

    def __init__(self, file: io.BufferedReader[Any]) -> None:
        self.size = 0
        self._file = file

    def readable(self) -> bool:
        return True

    def read(self, size: int | None = -1) -> bytes:
        content = self._file.read(size)
        self.size += len(content)
        return content


class _Unpacked(io.RawIOBase):
    """The content of a gzipped file. A few kilobytes may unpack to any size, so there is a limit."""

    def __init__(self, file: gzip.GzipFile, packed: _Packed, source: str) -> None:
        self._file, self._packed, self._source = file, packed, source
        self._size = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        content = self._file.read1(len(buffer))
        buffer[: len(content)] = content
        self._size += len(content)
        if self._size > max(UNPACKED, TIMES * self._packed.size):
            raise EncodingError(
                f"unpacks to more than {TIMES} times its size, so it isn't unpacked further",
                source=self._source,
                hint="if you trust the file, unpack it first: gunzip",
            )
        return len(content)


def _standard_input(stack: ExitStack) -> io.BufferedReader[Any]:
    """Standard input as bytes. It is never closed: it belongs to the whole program."""
    if isinstance(sys.stdin.buffer, io.BufferedReader):
        return sys.stdin.buffer  # another reader around it would wait for a full buffer before it returned a line
    file: io.BufferedReader[Any] = io.BufferedReader(sys.stdin.buffer)
    stack.callback(file.detach)
    return file


def _decode(file: BinaryIO, source: str) -> Iterator[SourceLine]:
    number = 1
    held = b""  # the start of a character that the line limit cut in two
    while line := held + file.readline(_LINE_LIMIT):
        if number == 1:
            require_text(line, source)
            line = line.removeprefix(BYTE_ORDER_MARK)
        if b"\0" in line:
            raise EncodingError(
                "a NUL byte: this isn't UTF-8 text", source=source, line=number, hint="is it UTF-16, or a binary file?"
            )
        complete = line.endswith(b"\n")
        held = b"" if complete or len(line) < _LINE_LIMIT else cut_character(line)
        try:
            yield SourceLine(line[: len(line) - len(held)].decode("utf-8"), number)
        except UnicodeDecodeError as error:
            raise EncodingError(
                f"not UTF-8: byte 0x{error.object[error.start]:02x} at column {error.start + 1}",
                source=source,
                line=number,
                hint=f"convert it; if it is an old Windows file: iconv -f WINDOWS-1252 -t UTF-8 {shlex.quote(source)}",
            ) from None
        number += complete


def other_format(start: bytes) -> str | None:
    """The format of a file that begins with these bytes if it is a known one that isn't UTF-8 text."""
    return next((kind for mark, kind in _FORMATS.items() if start.startswith(mark)), None)


def require_text(start: bytes, source: str) -> None:
    """Raises EncodingError if the first bytes of a file say that it isn't UTF-8 text."""
    if problem := other_format(start):
        utf16 = f"iconv -f UTF-16 -t UTF-8 {shlex.quote(source)}"
        hint = utf16 if problem.endswith("UTF-16") else "save it as plain text in UTF-8 first"
        raise EncodingError(problem, source=source, line=1, hint=hint)


def cut_character(line: bytes) -> bytes:
    """The last one to three bytes of a line if they begin a character that was cut in two."""
    for size in (1, 2, 3):
        if size >= len(line) or line[-size] < 0x80:
            return b""
        if line[-size] >= 0xC0:
            return line[-size:]
    return b""
