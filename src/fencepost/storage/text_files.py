"""Text files: found by name, folder or glob; read as numbered lines, gzipped or not; written whole or not at all."""

from __future__ import annotations

import glob
import gzip
import io
import os
import secrets
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, Final, TextIO

from fencepost.errors import EncodingError, InputError, UsageError
from fencepost.trees.brackets import SourceLine

STANDARD_INPUT: Final = "-"
_LINE_LIMIT: Final = 2**24  # bytes; a longer line comes in several pieces
BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"
UTF16_MARKS: Final = (b"\xff\xfe", b"\xfe\xff")
_GZIP_MARK: Final = b"\x1f\x8b"
_PARTIAL: Final = ".partial"


def require_folder(path: str | Path) -> None:
    """Makes a folder for what is to come: better to hear at once that there can't be one."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path} can't be a folder: {error.strerror}", hint="give another folder") from error
    if not os.access(path, os.W_OK):
        raise UsageError(f"nothing can be written to {path}", hint="give another folder")


@contextmanager
def new_folder(path: str | Path) -> Iterator[None]:
    """Makes a folder as ``require_folder`` does, and takes it away again if nothing came to be in it."""
    made = [folder for folder in (Path(path), *Path(path).parents) if not os.path.lexists(folder)]
    require_folder(path)
    try:
        yield
    finally:
        with suppress(OSError):  # there is something in it
            for folder in made:
                folder.rmdir()


def require_other(outputs: Iterable[str | Path], inputs: Iterable[str | Path]) -> None:
    """Refuses to write over what is read: these may be somebody's only trees."""
    found = [str(path) for path in find_files(inputs)]
    read = {os.path.realpath(path) for path in found if path != STANDARD_INPUT}
    for output in outputs:
        if os.path.realpath(output) in read or (STANDARD_INPUT in found and _is_standard_input(Path(output))):
            raise UsageError(f"{output} would be overwritten by what is made of it", hint="give another file")


def _is_standard_input(path: Path) -> bool:
    """Whether a shell's ``<`` has it read; devices, such as /dev/null, can be read and written at once."""
    try:
        return path.is_file() and os.path.samestat(os.fstat(0), path.stat())
    except OSError:  # it is closed
        return False


def find_files(paths: Iterable[str | Path]) -> list[Path]:
    """Files, the files below folders, and what globs match, in a stable order. ``-`` stays: standard input."""
    found: list[Path] = []
    for path in paths:
        try:
            found.extend(_find(str(path)))
        except OSError as error:
            raise InputError(error.strerror or str(error), source=str(path)) from error
    if len([path for path in found if str(path) == STANDARD_INPUT]) > 1:
        raise InputError("standard input can be read only once", source=STANDARD_INPUT)
    return found


def _find(name: str) -> list[Path]:
    if not name:
        raise InputError("the name of a file is empty")
    path = Path(name)
    if path.is_dir():
        return _files_below(path)
    # Not only plain files: pipes, such as a shell's <(zcat …), and devices can be read, too.
    return [path] if name == STANDARD_INPUT or path.exists() else _matches(name)


def _files_below(folder: Path) -> list[Path]:
    files = _walk(folder)
    if not files:
        raise InputError("the folder has no files", source=str(folder))
    return files


def _walk(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file() and not _passed_over(path.relative_to(folder)))


def _passed_over(path: Path) -> bool:
    """Hidden files, files in hidden folders, and what an interrupted run left half written."""
    return _is_partial(path) or any(part.startswith(".") for part in path.parts)


def _is_partial(path: Path) -> bool:
    return path.name.endswith(_PARTIAL)


def _matches(pattern: str) -> list[Path]:
    """Files, and those below folders. A file that both lead to comes once."""
    matches = [Path(name) for name in glob.glob(pattern, recursive=True)]
    below = [path for folder in matches if folder.is_dir() for path in _walk(folder)]
    # Hidden ones are matched only by patterns that ask for them, and then they are wanted.
    named = [path for path in matches if path.is_file() and (pattern.endswith(_PARTIAL) or not _is_partial(path))]
    files = sorted({*named, *below})
    if not files:
        what = "no file matches" if glob.has_magic(pattern) else "no such file or folder"
        raise InputError(what, source=pattern)
    return files


def read_lines(path: str | Path) -> Iterator[SourceLine]:
    """The lines of a UTF-8 file, decoded, numbered from 1, with their line ends."""
    with open_binary(path) as file:
        yield from _decode(file, str(path))


@contextmanager
def open_binary(path: str | Path) -> Iterator[BinaryIO]:
    """A file or standard input, unpacked if gzipped; what can't be read is an error that names it."""
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
        return stack.enter_context(gzip.GzipFile(fileobj=file))  # type: ignore[return-value]
    return file


def _standard_input(stack: ExitStack) -> io.BufferedReader[Any]:
    """Never closed: it belongs to the whole program."""
    if isinstance(sys.stdin.buffer, io.BufferedReader):
        return sys.stdin.buffer  # a reader around it would wait for a full buffer before it gives a line
    file: io.BufferedReader[Any] = io.BufferedReader(sys.stdin.buffer)
    stack.callback(file.detach)
    return file


@contextmanager
def write_atomically(path: str | Path) -> Iterator[TextIO]:
    """A UTF-8 file (gzipped if named ``.gz``) that has its name only when complete.

    If the user interrupts, or after an error, what was written so far is left as ``NAME.partial``.
    A link stays one, and what is no plain file, such as ``/dev/null`` or a pipe, is written to as it is.
    """
    place = _writable(path)
    if place.exists() and not place.is_file():
        with _text_file(place, place) as text:
            yield text
        return
    target = Path(os.path.realpath(place)) if place.is_symlink() else place
    with new_folder(target.parent), _completed(target) as text:
        yield text


@contextmanager
def _completed(target: Path) -> Iterator[TextIO]:
    # A name that no other process has: two that write to one place must not write into one file.
    growing = target.with_name(f"{_cut(target.name)}.{secrets.token_hex(4)}{_PARTIAL}")
    try:
        with _text_file(growing, target) as text:
            yield text
        os.replace(growing, target)
    except BaseException as error:
        if _has_content(growing):
            os.replace(growing, f"{target}{_PARTIAL}")
            after_control_c = "\n" if isinstance(error, KeyboardInterrupt) else ""
            sys.stderr.write(f"{after_control_c}what was written so far is in {target}{_PARTIAL}\n")
        growing.unlink(missing_ok=True)
        raise


def _cut(name: str) -> str:
    """So short that more can be added to it: file systems take 255 bytes."""
    return os.fsencode(name)[:200].decode("utf-8", "ignore")


def _writable(path: str | Path) -> Path:
    if not str(path):
        raise UsageError("the name of the file to write is empty", hint="give it a name")
    place = Path(path)
    if place.is_dir():
        raise InputError("can't be written: it is a folder", source=str(path))
    if os.path.islink(os.path.realpath(place)):
        raise InputError("can't be written: it is a link that leads to itself", source=str(path))
    return place


def _has_content(path: Path) -> bool:
    """Whether there is text in a file; gzipped, even no text has bytes."""
    with suppress(InputError), open_binary(path) as file:
        return bool(file.read(1))
    return False


@contextmanager
def _text_file(place: Path, name: Path) -> Iterator[TextIO]:
    """A new file at ``place``, for what is to be called ``name``."""
    try:
        binary: BinaryIO = open(place, "wb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", source=str(name)) from error
    with binary, ExitStack() as stack:
        if name.suffix == ".gz":
            binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=binary, mtime=0))  # type: ignore[assignment]
        yield stack.enter_context(io.TextIOWrapper(binary, "utf-8", newline="\n"))


def _decode(file: BinaryIO, source: str) -> Iterator[SourceLine]:
    number = 1
    held = b""  # the start of a character that a cut line left behind
    while line := held + file.readline(_LINE_LIMIT):
        if number == 1:
            if line.startswith(UTF16_MARKS):
                raise EncodingError(
                    "not UTF-8 but UTF-16", source=source, line=1, hint=f"iconv -f UTF-16 -t UTF-8 {source}"
                )
            line = line.removeprefix(BYTE_ORDER_MARK)
        if b"\0" in line:
            raise EncodingError(
                "a NUL byte: not UTF-8 text", source=source, line=number, hint="is it UTF-16, or a binary file?"
            )
        complete = line.endswith(b"\n")
        held = b"" if complete else _cut_character(line)
        try:
            yield SourceLine(line[: len(line) - len(held)].decode("utf-8"), number)
        except UnicodeDecodeError as error:
            raise EncodingError(
                f"not UTF-8: byte 0x{error.object[error.start]:02x} at column {error.start + 1}",
                source=source,
                line=number,
                hint="convert the file with iconv",
            ) from None
        number += complete


def _cut_character(line: bytes) -> bytes:
    """The last one to three bytes of a line if they begin a character that the read limit cut in two."""
    if len(line) < _LINE_LIMIT:
        return b""
    for size in (1, 2, 3):
        if line[-size] >= 0xC0:
            return line[-size:]
        if line[-size] < 0x80:
            return b""
    return b""
