"""What the tests and `.ci/run` leave on the disk."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytest_plugins = ("pytester",)
TESTS = """
from pathlib import Path

def test_writes(tmp_path):
    (tmp_path / "model").write_text("x")
    Path("used.txt").write_text(str(tmp_path))

def test_the_folder_of_the_test_before_is_gone():
    assert not Path(Path("used.txt").read_text()).exists()
"""


def test_a_test_that_passed_leaves_no_files(pytester: pytest.Pytester) -> None:
    settings = [line for line in (ROOT / "pyproject.toml").read_text("utf-8").splitlines() if "tmp_path" in line]
    pytester.makepyprojecttoml("\n".join(["[tool.pytest.ini_options]", *settings]))
    pytester.makepyfile(TESTS)
    pytester.runpytest_inprocess().assert_outcomes(passed=2)


def test_ci_says_how_much_space_is_missing(tmp_path: Path) -> None:
    """``df`` is one that finds a full disk."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / ".ci" / "run").write_bytes((ROOT / ".ci" / "run").read_bytes())
    (tmp_path / "df").write_text('#!/bin/sh\necho head\necho "/dev/disk 9000000 6000000 3000000 67% /"\n')
    (tmp_path / "df").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    ended = subprocess.run(["bash", tmp_path / ".ci" / "run"], env=environment, capture_output=True, text=True)
    assert ended.returncode == 1
    assert f"error: 2 GB free in {tmp_path}; this needs 7 GB" in ended.stderr
    assert not (tmp_path / ".venv").exists()
