"""Triton's kernels in its interpreter, which needs no GPU."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run_interpreted(program: str) -> None:
    """In a process of its own: Triton decides between compiling and interpreting when it is imported."""
    pytest.importorskip("triton")
    paths = [str(ROOT), str(ROOT / "tests" / "model"), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "TRITON_INTERPRET": "1", "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, "-c", textwrap.dedent(program)]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
