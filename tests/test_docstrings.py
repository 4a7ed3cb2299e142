"""The examples in docstrings and guides run, and every public method of a tree has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import pytest

import fencepost.search
import fencepost.trees
from fencepost.trees.leaf import Leaf
from fencepost.trees.tree import Tree

PACKAGES: tuple[ModuleType, ...] = (fencepost.trees, fencepost.search)
MODULES = [
    f"{package.__name__}.{module.name}" for package in PACKAGES for module in pkgutil.iter_modules(package.__path__)
]
GUIDES = ("trees.md", "search.md", "from-tregex.md")
NEED_NLTK = {"from_nltk", "to_nltk"}  # their docstrings show the call; tests/integrations tests it


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_in_docstrings_give_what_they_show(name: str) -> None:
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize("name", GUIDES)
def test_the_examples_in_guides_give_what_they_show(name: str) -> None:
    text = (Path(__file__).parents[1] / "docs" / name).read_text("utf-8")
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, name, 0))
    assert runner.summarize() == (0, text.count("\n>>> "))


def public(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_") and name not in kind.__slots__]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in (Tree, Leaf) for name in public(kind) if name not in NEED_NLTK]
)
def test_every_public_method_of_a_tree_has_an_example(kind: type, name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(kind, name)) or "")
