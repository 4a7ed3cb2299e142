"""Reads plain and packed files: whole ones, and numbered lines from any place on."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple

from fencepost.errors import EncodingError, InputError, MissingExtraError

if TYPE_CHECKING:
    from fencepost.corpus.inputs import InputFile, Packing

LARGEST: Final = 1 << 26  # bytes of a line or of a whole text: it must fit in memory many times over
_PIECE: Final = 1 << 16


class RawLine(NamedTuple):
    number: int  # from 1
    offset: int  # unpacked bytes before it
    content: bytes | None  # without its line end; None if it is larger than LARGEST
    size: int


class PackedFile:
    """Going on from the last line that was read is free; going back in a packed file unpacks it from its start."""

    def __init__(self, file: InputFile) -> None:
        self._file = file
        self._stream: BinaryIO | None = None
        self._offset = 0

    def close(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def lines(self, number: int = 1, offset: int = 0, end: int | None = None) -> Iterator[RawLine]:
        """The lines from the one at ``offset`` on, which has this number, up to but without line ``end``.

        Raises EncodingError where a packed file is damaged.
        """
        with self._naming_the_file():
            stream = self._at(offset)
            while (end is None or number < end) and (line := stream.readline(LARGEST + 1)):
                begin = self._offset
                self._offset += len(line)
                content: bytes | None = line.removesuffix(b"\n")
                while len(line) > LARGEST and not line.endswith(b"\n"):
                    content = None
                    line = stream.readline(LARGEST + 1)
                    self._offset += len(line)
                yield RawLine(number, begin, content, self._offset - begin)
                number += 1
            if end is None:
                self.close()

    def content(self) -> bytes | None:
        """The whole file; None if it is larger than LARGEST."""
        with self._naming_the_file():
            content = self._at(0).read(LARGEST + 1)
        self.close()
        return content if len(content) <= LARGEST else None

    @contextmanager
    def _naming_the_file(self) -> Iterator[None]:
        try:
            yield
        except _DamagedError as error:
            self.close()
            raise EncodingError(f"damaged {self._file.packing} file: {error}", source=self._file.path) from error
        except OSError as error:
            self.close()
            raise InputError(error.strerror or str(error), source=self._file.path) from error

    def _at(self, offset: int) -> BinaryIO:
        if self._stream is None or offset < self._offset:
            self.close()
            self._stream, self._offset = _open(self._file), 0
        if self._file.packing is None:
            self._stream.seek(offset)
            self._offset = offset
        while self._offset < offset:
            skipped = len(self._stream.read(min(_PIECE, offset - self._offset)))
            if not skipped:
                raise _DamagedError("it is shorter than before")
            self._offset += skipped
        return self._stream


class _DamagedError(Exception):
    pass


def _open(file: InputFile) -> BinaryIO:
    if file.packing is None:
        return open(file.path, "rb")
    begin_frame, damage = unpacker(file.packing)
    return io.BufferedReader(_Unpacked(open(file.path, "rb"), begin_frame, damage), _PIECE)


def unpacker(packing: Packing) -> tuple[Callable[[], Any], type[Exception]]:
    """What unpacks a frame, and the error that it raises at damaged bytes."""
    if packing == "gz":
        return lambda: zlib.decompressobj(31), zlib.error
    try:
        import zstandard  # here: an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError("zstandard", "corpus", "reading .zst files") from error
    return lambda: zstandard.ZstdDecompressor().decompressobj(), zstandard.ZstdError


class _Unpacked(io.RawIOBase):
    """Unpacks one frame after the other.

    The libraries have readers of their own. But zstandard's doesn't notice that a file was cut short, and how much
    gzip's reads before it finds damage depends on the calls; here, the same lines come before the damage every time.
    """

    def __init__(self, packed: BinaryIO, begin_frame: Callable[[], Any], damage: type[Exception]) -> None:
        self._packed = packed
        self._begin_frame = begin_frame
        self._damage = damage
        self._frame: Any = None
        self._ready = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            piece = self._packed.read(_PIECE)
            if not piece:
                if self._frame is not None:
                    raise _DamagedError("it is cut short")
                return 0
            self._ready = memoryview(self._unpack(piece))
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _unpack(self, piece: bytes) -> bytes:
        unpacked = []
        while piece:
            if self._frame is None:
                piece = piece.lstrip(b"\0")  # tapes and some tools fill up the last block of a file
                if not piece:
                    break
                self._frame = self._begin_frame()
            try:
                unpacked.append(self._frame.decompress(piece))
            except self._damage as error:
                raise _DamagedError(str(error)) from error
            piece = self._frame.unused_data if self._frame.eof else b""
            self._frame = None if self._frame.eof else self._frame
        return b"".join(unpacked)
