"""Writes text files that are either complete or missing: text goes to a temporary file, which is renamed at the end."""

from __future__ import annotations

import gzip
import io
import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, Final, TextIO

from fencepost.errors import InputError, UsageError
from fencepost.storage.folders import new_folder
from fencepost.storage.text_reader import open_binary

PARTIAL: Final = ".partial"  # the suffix of a file that an interrupted run left


@contextmanager
def write_atomically(path: str | Path) -> Iterator[TextIO]:
    """Opens a UTF-8 file (gzipped if named ``.gz``) that gets its name only when it is complete.

    After an error or an interruption the text written so far is kept as ``NAME.partial``. A symbolic link stays a link.
    A pipe or a device, such as ``/dev/null``, is written to directly.
    """
    output = _writable(path)
    if output.exists() and not output.is_file():
        with _text_file(output, output) as text:
            yield text
        return
    target = Path(os.path.realpath(output)) if output.is_symlink() else output
    with new_folder(target.parent), _renamed_when_complete(target) as text:
        yield text


@contextmanager
def _renamed_when_complete(target: Path) -> Iterator[TextIO]:
    # The name is random because two processes may write to the same target.
    growing = target.with_name(f"{_shortened(target.name)}.{secrets.token_hex(4)}{PARTIAL}")
    try:
        with _text_file(growing, target) as text:
            yield text
        os.replace(growing, target)
    except BaseException as error:
        if _has_content(growing):
            os.replace(growing, f"{target}{PARTIAL}")
            after_control_c = "\n" if isinstance(error, KeyboardInterrupt) else ""
            sys.stderr.write(f"{after_control_c}the output so far is in {target}{PARTIAL}\n")
        growing.unlink(missing_ok=True)
        raise


def _shortened(name: str) -> str:
    """Cuts a name to leave room for a suffix: file systems allow 255 bytes."""
    return os.fsencode(name)[:200].decode("utf-8", "ignore")


def _writable(path: str | Path) -> Path:
    if not str(path):
        raise UsageError("the output file has an empty name", hint="give a file name")
    output = Path(path)
    if output.is_dir():
        raise InputError("can't be written: it is a folder", source=str(path))
    if os.path.islink(os.path.realpath(output)):
        raise InputError("can't be written: it is a link that points to itself", source=str(path))
    return output


def _has_content(path: Path) -> bool:
    """True if the file contains any text. A gzipped file has bytes even when it contains none."""
    with suppress(InputError), open_binary(path) as file:
        return bool(file.read(1))
    return False


@contextmanager
def _text_file(path: Path, final_name: Path) -> Iterator[TextIO]:
    """Opens a new file at ``path``. ``final_name`` decides whether it is gzipped, and errors mention ``final_name``."""
    try:
        binary: BinaryIO = open(path, "wb")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"can't be written: {error.strerror}", source=str(final_name)) from error
    with binary, ExitStack() as stack:
        if final_name.suffix == ".gz":
            binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=binary, mtime=0))  # type: ignore[assignment]
        # File names may be in the text, in messages, and needn't be UTF-8.
        yield stack.enter_context(io.TextIOWrapper(binary, "utf-8", "backslashreplace", newline="\n"))
