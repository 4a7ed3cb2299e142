"""How many cores this process may use: those it is bound to, and the quota of its container."""

from __future__ import annotations

import math
import os
from pathlib import Path, PurePosixPath


def usable_cores(root: Path = Path("/")) -> int:
    """At least 1: a container with half a core gets one process. ``root`` is where the system's files are."""
    bound = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, math.ceil(min(bound, _quota(root))))


def _quota(root: Path) -> float:
    """The cores that the control groups of this process allow, which may be a fraction; infinity without a limit."""
    try:
        groups = [line.split(":", 2) for line in (root / "proc/self/cgroup").read_text().splitlines()]
    except OSError:
        return math.inf
    quotas = [math.inf]
    for _, controllers, path in (group for group in groups if len(group) == 3):
        inner = PurePosixPath(path.lstrip("/"))
        if not controllers:
            folder, read = root / "sys/fs/cgroup", _max
        elif "cpu" in controllers.split(","):
            folder, read = root / "sys/fs/cgroup/cpu", _cfs
        else:
            continue
        quotas += [read(folder / group) for group in (inner, *inner.parents)]  # a group can't exceed those around it
    return min(quotas)


def _max(folder: Path) -> float:
    """The quota of a group in cgroup v2: ``50000 100000`` is half a core, ``max 100000`` has no limit."""
    return _cores(_content(folder / "cpu.max").split())


def _cfs(folder: Path) -> float:
    """The quota of a group in cgroup v1; -1 is no limit."""
    return _cores([_content(folder / "cpu.cfs_quota_us"), _content(folder / "cpu.cfs_period_us")])


def _cores(numbers: list[str]) -> float:
    try:
        quota, period = map(int, numbers)
    except ValueError:
        return math.inf
    return quota / period if quota > 0 and period > 0 else math.inf


def _content(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""
