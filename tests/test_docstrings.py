"""The examples in docstrings run and give what they say."""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

import fencepost

SOURCE = Path(fencepost.__file__).parent


def modules_with_examples() -> list[str]:
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
    return [".".join(("fencepost", *path.relative_to(SOURCE).with_suffix("").parts)) for path in paths]


def test_there_are_examples() -> None:
    assert "fencepost.parsing.documents" in modules_with_examples()


@pytest.mark.parametrize("name", modules_with_examples())
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0
