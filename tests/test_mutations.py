"""The list of deliberate breakages fits the program: benchmarks/mutations.py tries them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[1]


def program() -> ModuleType:
    spec = importlib.util.spec_from_file_location("mutations", ROOT / "benchmarks" / "mutations.py")
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules["mutations"] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


mutations = program()
BREAKAGES = mutations.read_breakages()


@pytest.mark.parametrize("breakage", BREAKAGES, ids=lambda breakage: f"{breakage.module}: {breakage.breaks}")
def test_what_is_broken_stands_in_its_module_once_and_its_tests_exist(breakage: mutations.Breakage) -> None:  # type: ignore[name-defined]
    assert mutations.occurrences(breakage) == 1
    assert breakage.old != breakage.new
    compile((ROOT / breakage.file).read_text("utf-8").replace(breakage.old, breakage.new), breakage.module, "exec")
    assert breakage.tests
    assert all((ROOT / test).exists() for test in breakage.tests)


def test_no_breakage_is_listed_twice() -> None:
    assert len(BREAKAGES) >= 40
    assert len({(breakage.module, breakage.old, breakage.new) for breakage in BREAKAGES}) == len(BREAKAGES)
