"""The examples in docstrings and guides run, and every public method of a tree has one."""

from __future__ import annotations

import doctest
import importlib
import inspect
from functools import cached_property
from pathlib import Path

import pytest

import fencepost
from fencepost.trees.leaf import Leaf
from fencepost.trees.tree import Tree
from tests.test_imports import PUBLIC

SOURCE = Path(fencepost.__file__).parent
GUIDES = ("trees.md", "measures.md", "search.md", "from-tregex.md", "from-benepar.md", "from-corenlp.md", "start.md")
NEED_TORCH = {"fencepost.training.train"}
NEED_NLTK = {"from_nltk", "to_nltk"}  # their docstrings show the call; tests/integrations tests it


def modules_with_examples() -> list[str]:
    paths = [path for path in sorted(SOURCE.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
    return [".".join(("fencepost", *path.relative_to(SOURCE).with_suffix("").parts)) for path in paths]


def test_there_are_examples() -> None:
    assert {"fencepost.parsing.documents", "fencepost.trees.tree"} < set(modules_with_examples())


def module(name: str) -> object:
    return pytest.param(name, marks=pytest.mark.extras) if name in NEED_TORCH else name


@pytest.mark.parametrize("name", [module(name) for name in modules_with_examples()])
def test_the_examples_of_a_module_run(name: str) -> None:
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize("name", GUIDES)
def test_the_examples_in_guides_give_what_they_show(name: str) -> None:
    text = (Path(__file__).parents[1] / "docs" / name).read_text("utf-8")
    runner = doctest.DocTestRunner()
    runner.run(doctest.DocTestParser().get_doctest(text, {}, name, name, 0))
    assert runner.summarize() == (0, text.count("\n>>> "))


@pytest.mark.parametrize("name", PUBLIC)
def test_every_public_name_has_an_example(name: str) -> None:
    assert "\n>>> " in inspect.getdoc(getattr(fencepost, name))  # type: ignore[operator]


@pytest.mark.parametrize("name", PUBLIC)
def test_every_method_of_a_public_class_is_described(name: str) -> None:
    members = vars(getattr(fencepost, name)) if isinstance(getattr(fencepost, name), type) else {}
    methods = [member for member, value in members.items() if member[0] != "_" and is_method(value)]
    assert [member for member in methods if not inspect.getdoc(getattr(getattr(fencepost, name), member))] == []


def is_method(value: object) -> bool:
    return inspect.isfunction(value) or isinstance(value, (property, classmethod, staticmethod, cached_property))


def public(kind: type) -> list[str]:
    return [name for name in vars(kind) if not name.startswith("_") and name not in kind.__slots__]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "name"), [(kind, name) for kind in (Tree, Leaf) for name in public(kind) if name not in NEED_NLTK]
)
def test_every_public_method_of_a_tree_has_an_example(kind: type, name: str) -> None:
    assert ">>> " in (inspect.getdoc(getattr(kind, name)) or "")
