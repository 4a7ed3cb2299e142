"""One process at a time: a lock on a file that exists only while a process holds the lock."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from fencepost.errors import UsageError

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock at ``path``. Raises BlockingIOError if another process holds it and ``wait`` is False.

    It has no effect where files can't be locked: on Windows, on some network disks, and in read-only folders.
    """
    descriptor = _acquire(path, wait)
    try:
        yield
    finally:
        if descriptor is not None:
            _release(path, descriptor)


def _acquire(path: Path, wait: bool) -> int | None:
    if sys.platform == "win32":
        return None
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except OSError as error:
            if error.errno == errno.ELOOP:
                raise UsageError(f"{path} is a link, and locks need a file of that name", hint="remove it") from error
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still_at(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:  # a disk without locks
            _release(path, descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_still_at(path: Path, descriptor: int) -> bool:
    """False if the last holder has removed the file: the path may now be another file, locked by another process."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _release(path: Path, descriptor: int) -> None:
    with suppress(OSError):
        path.unlink()
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing isn't enough if a child process has inherited the file
    os.close(descriptor)
