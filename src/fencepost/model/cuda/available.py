"""Whether Triton is installed: where it is not, torch's own kernels do."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec


@cache
def has_triton() -> bool:
    return find_spec("triton") is not None
