"""One process at a time: a lock on a file that is there only while somebody holds it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":
    import fcntl


@contextmanager
def locked(path: Path, *, wait: bool = True) -> Iterator[None]:
    """Holds the lock at ``path``. Where another process does and is not waited for, that is a ``BlockingIOError``.

    Nobody is kept out where there are no locks: on Windows, on some network disks, in folders that are read only.
    """
    descriptor = _take(path, wait)
    try:
        yield
    finally:
        if descriptor is not None:
            _give_back(path, descriptor)


def _take(path: Path, wait: bool) -> int | None:
    if sys.platform == "win32":
        return None
    while True:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
            if _is_still_at(path, descriptor):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:  # a disk without locks
            _give_back(path, descriptor)
            return None
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


def _is_still_at(path: Path, descriptor: int) -> bool:
    """Whoever held the lock before has removed the file: another one may be there by now, and be another's lock."""
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def _give_back(path: Path, descriptor: int) -> None:
    with suppress(OSError):
        path.unlink()
    if sys.platform != "win32":
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_UN)  # closing is not enough where a child process has it, too
    os.close(descriptor)
