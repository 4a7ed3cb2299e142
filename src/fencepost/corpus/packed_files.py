"""Reads plain and packed files: whole ones, and numbered lines from any place on."""

from __future__ import annotations

import io
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, BinaryIO, Final, NamedTuple, Protocol

from fencepost.errors import EncodingError, InputError, MissingExtraError
from fencepost.storage.text_reader import TIMES, UNPACKED

if TYPE_CHECKING:
    from fencepost.corpus.inputs import InputFile, Packing

LARGEST: Final = 1 << 26  # bytes of a line or of a whole text: it must fit in memory many times over
_PIECE: Final = 1 << 16
_ZSTD_PIECE: Final = 1 << 10  # packed bytes, which unpack to 32 MB at most


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
    def __init__(self, problem: str, before: bytes = b"") -> None:
        super().__init__(problem)
        self.before = before  # bytes that could still be unpacked


def _open(file: InputFile) -> BinaryIO:
    if file.packing is None:
        return open(file.path, "rb")
    return io.BufferedReader(_Unpacked(open(file.path, "rb"), unpacker(file.packing)), _PIECE)


def unpacker(packing: Packing) -> Callable[[], Frame]:
    """A function that starts a new frame."""
    if packing == "gz":
        return GzipFrame
    try:
        import zstandard  # here: an extra
    except ModuleNotFoundError as error:
        raise MissingExtraError("zstandard", "corpus", "reading .zst files") from error
    return lambda: ZstdFrame(zstandard)


class Frame(Protocol):
    """One packed stream. A file may have several, one after the other."""

    ended: bool

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        """Some unpacked bytes, and the packed bytes that are left. Raises _DamagedError at damage."""
        ...


class GzipFrame:
    def __init__(self) -> None:
        self._unpacker = zlib.decompressobj(31)
        self.ended = False

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        before = self._unpacker.copy()
        try:
            content = self._unpacker.decompress(packed, _PIECE)
        except zlib.error as error:
            raise _DamagedError(str(error), _before_damage(before, packed)) from error
        self.ended = self._unpacker.eof
        return content, self._unpacker.unused_data if self.ended else self._unpacker.unconsumed_tail


def _before_damage(unpacker: Any, packed: bytes) -> bytes:
    """All bytes that can be unpacked. If a call finds damage, zlib returns none of the bytes unpacked in that call."""
    content = []
    with suppress(zlib.error):
        for place in range(len(packed)):
            content.append(unpacker.decompress(packed[place : place + 1]))
    return b"".join(content)


class ZstdFrame:
    def __init__(self, zstandard: Any) -> None:
        self._unpacker = zstandard.ZstdDecompressor().decompressobj()
        self._error = zstandard.ZstdError
        self.ended = False

    def unpack(self, packed: bytes) -> tuple[bytes, bytes]:
        # It unpacks all that it gets, and four bytes may unpack to 128 kB.
        now, later = packed[:_ZSTD_PIECE], packed[_ZSTD_PIECE:]
        try:
            content = self._unpacker.decompress(now)
        except self._error as error:
            raise _DamagedError(str(error)) from error
        self.ended = self._unpacker.eof
        return content, self._unpacker.unused_data + later if self.ended else later


class _Unpacked(io.RawIOBase):
    """Unpacks one frame after the other.

    The libraries have readers of their own. But zstandard's doesn't notice that a file was cut short, and how much
    gzip's reads before it finds damage depends on the calls; here, the same lines come before the damage every time.
    """

    def __init__(self, packed: BinaryIO, begin_frame: Callable[[], Frame]) -> None:
        self._packed = packed
        self._begin_frame = begin_frame
        self._frame: Frame | None = None
        self._left = b""  # packed bytes that were read
        self._ready = memoryview(b"")
        self._damage: _DamagedError | None = None
        self._read = self._size = 0  # packed and unpacked bytes so far

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._ready:
            if self._damage is not None:
                raise self._damage
            if not self._left:
                self._left = self._packed.read(_PIECE)
                self._read += len(self._left)
            if not self._left:
                if self._frame is not None:
                    raise _DamagedError("it is cut short")
                return 0
            self._ready = memoryview(self._unpack())
        size = min(len(buffer), len(self._ready))
        buffer[:size] = self._ready[:size]
        self._ready = self._ready[size:]
        return size

    def close(self) -> None:
        self._packed.close()
        super().close()

    def _unpack(self) -> bytes:
        """The next bytes, which may be none. Returns everything before the damage, then raises an error."""
        if self._frame is None:
            self._left = self._left.lstrip(b"\0")  # tapes and some tools fill up the last block of a file
            if not self._left:
                return b""
            self._frame = self._begin_frame()
        try:
            content, self._left = self._frame.unpack(self._left)
        except _DamagedError as error:
            self._damage = error
            return error.before
        self._size += len(content)
        if self._size > max(UNPACKED, TIMES * self._read):
            self._damage = _DamagedError(f"it unpacks to more than {TIMES} times its size")
        if self._frame.ended:
            self._frame = None
        return content
