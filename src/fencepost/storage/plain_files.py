"""Opens files that may come from a stranger: plain files of a limited size, not links, pipes, devices or folders.

A link may lead anywhere, a pipe may never answer, and a device or a giant file may fill the memory. All of them are
refused before a byte is read.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO, Final

# Without these flags, opening would follow a link, and wait for the other end of a pipe.
_FLAGS: Final = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_NO_LINKS: Final = getattr(os, "O_NOFOLLOW", 0)
_KINDS: Final = {stat.S_IFLNK: "link", stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe", stat.S_IFSOCK: "socket"}


class NotPlainError(OSError):
    """A file that won't be read; ``strerror`` says why."""


def open_plain(path: Path, most: int, *, follow: bool = False) -> BinaryIO:
    """Opens a plain file of at most ``most`` bytes. ``follow``: it may be at the end of a link."""
    if not follow and path.is_symlink():
        raise _not_plain(path, stat.S_IFLNK)
    descriptor = os.open(path, _FLAGS if follow else _FLAGS | _NO_LINKS)
    try:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise _not_plain(path, stat.S_IFMT(about.st_mode))
        if about.st_size > most:
            raise NotPlainError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def size_plain(path: Path, most: int, *, follow: bool = False) -> int:
    """The size of a plain file of at most ``most`` bytes."""
    with open_plain(path, most, follow=follow) as file:
        return os.fstat(file.fileno()).st_size


def read_plain(path: Path, most: int, *, follow: bool = False) -> bytes:
    """The content of a plain file of at most ``most`` bytes."""
    with open_plain(path, most, follow=follow) as file:
        content = file.read(most + 1)
    if len(content) > most:  # it has grown since it was opened
        raise NotPlainError(errno.EFBIG, f"larger than {most:,} bytes", str(path))
    return content


def _not_plain(path: Path, kind: int) -> NotPlainError:
    return NotPlainError(errno.EINVAL, f"a {_KINDS.get(kind, 'device')}, not a plain file", str(path))
