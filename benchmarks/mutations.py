"""Breaks the program on purpose, in one place at a time, and checks that the tests notice.

    python benchmarks/mutations.py            # all breakages of tests/mutations.toml
    python benchmarks/mutations.py chart loss # those whose module or description contains one of these words

Works on a temporary copy of src and tests. Exits with 1 if a breakage goes unnoticed, if its text is not in the module
exactly once, or if the tests fail without it.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[1]
LIST = ROOT / "tests" / "mutations.toml"
LIMIT = 600  # seconds for the tests of a breakage; tests that hang count as noticing it
# One failing example is enough; hypothesis would spend minutes on finding the smallest.
PLUGIN = """
from hypothesis import Phase, settings

def pytest_sessionstart():
    settings.register_profile("first failure", settings.default, phases=[Phase.explicit, Phase.generate])
    settings.load_profile("first failure")
"""
FAILED = 1  # pytest's exit status if a test failed; anything greater is a mistake in the list


@dataclass(frozen=True)
class Breakage:
    """Replaces ``old``, which occurs in the module once, by ``new``."""

    module: str
    old: str
    new: str
    breaks: str
    tests: tuple[str, ...]  # files or folders that should notice
    select: str = ""  # pytest's -k

    @property
    def file(self) -> Path:
        """The module's path, relative to the root of a checkout."""
        path = Path("src", *self.module.split("."))
        return path / "__init__.py" if (ROOT / path).is_dir() else path.with_suffix(".py")


def read_breakages() -> list[Breakage]:
    entries = tomllib.loads(LIST.read_text("utf-8"))["breakage"]
    return [Breakage(**{**entry, "tests": tuple(entry["tests"])}) for entry in entries]


def occurrences(breakage: Breakage) -> int:
    """How often the text to replace occurs in its module."""
    path = ROOT / breakage.file
    return path.read_text("utf-8").count(breakage.old) if path.exists() else 0


class Checkout:
    """A copy of the program and its tests."""

    def __init__(self, home: Path) -> None:
        self.home = home
        for name in ("src", "tests", "benchmarks"):
            shutil.copytree(ROOT / name, home / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", home)
        (home / "first_failure.py").write_text(PLUGIN, "utf-8")
        self.passes = cache(self._passes)

    def _passes(self, tests: tuple[str, ...], select: str) -> bool:
        """True if the tests pass while nothing is broken."""
        return self.run(tests, select)[0] == 0

    def caught_by(self, breakage: Breakage) -> str | None:
        """The first test that notices, or None."""
        path = self.home / breakage.file
        whole = path.read_text("utf-8")
        path.write_text(whole.replace(breakage.old, breakage.new), "utf-8")
        try:
            status, output = self.run(breakage.tests, breakage.select)
        except subprocess.TimeoutExpired:
            return f"not finished within {LIMIT} s"
        finally:
            path.write_text(whole, "utf-8")
        if status != FAILED:
            return None
        failed = re.search(r"^(?:FAILED|ERROR) tests/(.*?)(?: - .*)?$", output, re.MULTILINE)
        return failed[1].replace("|", "\\|") if failed else "a test without a name"

    def run(self, tests: tuple[str, ...], select: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "first_failure", *tests]
        # Without byte code: Python checks it only by size and by modification time in seconds.
        environment = os.environ | {"PYTHONPATH": str(self.home / "src"), "PYTHONDONTWRITEBYTECODE": "1"}
        ended = subprocess.run(
            command + (["-k", select] if select else []),
            cwd=self.home,
            env=environment,
            capture_output=True,
            text=True,
            timeout=LIMIT,
            check=False,
        )
        return ended.returncode, ended.stdout


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*", help="only breakages whose module or description contains one of these")
    words = parser.parse_args().words
    chosen = [each for each in read_breakages() if not words or any(w in each.module + each.breaks for w in words)]
    unnoticed = 0
    print("| breakage | caught by | caught? |\n|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as home:
        checkout = Checkout(Path(home))
        for breakage in chosen:
            by, caught = _try(checkout, breakage)
            unnoticed += not caught
            row = f"| {breakage.module}: {breakage.breaks} | {by} | {'yes' if caught else 'NO'} |"
            print(row, flush=True)
    print(f"\n{len(chosen) - unnoticed} of {len(chosen)} breakages are noticed")
    return 1 if unnoticed or not chosen else 0


def _try(checkout: Checkout, breakage: Breakage) -> tuple[str, bool]:
    if occurrences(breakage) != 1:
        return f"its text occurs {occurrences(breakage)} times in {breakage.file}", False
    if not checkout.passes(breakage.tests, breakage.select):
        return "its tests fail or are missing although nothing is broken", False
    by = checkout.caught_by(breakage)
    return by or ", ".join(breakage.tests), by is not None


if __name__ == "__main__":
    raise SystemExit(main())
