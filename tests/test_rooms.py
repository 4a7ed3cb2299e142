"""The order of the rooms: a module imports only from its own room and from those before it (docs/architecture.md)."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

import fencepost

SOURCE = Path(fencepost.__file__).parent
# From the rooms that import nothing to the command line. A module belongs to the longest prefix of its name.
ORDER = (
    "errors",
    "progress",
    "storage",
    "config",
    "trees",
    "search",
    "measures",
    "text",
    "features",
    "storage.model_folder",
    "storage.model_writer",
    "model",
    "chart",
    "backends",
    "drawing",
    "parsing",
    "corpus",
    "evaluation",
    "export",
    "training",
    "analysis",
    "experiments",
    "integrations",
    "serve",
    "cli",
)
# A tree draws itself and becomes NLTK's: the rooms that do it are loaded only when it is asked to.
LATE = {("trees.tree", "drawing"), ("trees.tree_list", "drawing"), ("trees.tree", "integrations")}
ADAPTED = {"spacy", "nltk", "benepar"}  # libraries that only ``integrations`` imports


class Import(NamedTuple):
    module: str  # that imports
    imported: str
    late: bool  # inside a function

    def __str__(self) -> str:
        return f"{self.module} imports {self.imported}"


def modules() -> dict[str, Path]:
    paths = [path for path in SOURCE.rglob("*.py") if path.parent != SOURCE or not path.name.startswith("__")]
    return {".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}


def imports(module: str, path: Path) -> Iterator[Import]:
    """Every import of a file but those for type checkers alone."""
    waiting: list[tuple[ast.AST, bool]] = [(ast.parse(path.read_text("utf-8")), False)]
    while waiting:
        node, late = waiting.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.ImportFrom) and node.module is not None:
            assert node.level == 0, f"{module} imports by dots"
            yield Import(module, node.module, late)
        elif isinstance(node, ast.Import):
            yield from (Import(module, name.name, late) for name in node.names)
        late = late or isinstance(node, ast.FunctionDef)
        waiting.extend((child, late) for child in ast.iter_child_nodes(node))


IMPORTS = [found for module, path in modules().items() for found in imports(module, path)]


def room(module: str) -> str:
    return max((name for name in ORDER if f"{module}.".startswith(f"{name}.")), key=len)


def inside(found: Import) -> str | None:
    """The module of fencepost that is imported."""
    return found.imported.removeprefix("fencepost.") if found.imported.startswith("fencepost.") else None


@pytest.mark.parametrize("module", sorted(modules()))
def test_every_module_is_in_a_room(module: str) -> None:
    assert room(module)


def test_nothing_imports_against_the_order_of_the_rooms() -> None:
    against = [
        str(found)
        for found in IMPORTS
        if (imported := inside(found)) is not None
        and ORDER.index(room(imported)) > ORDER.index(room(found.module))
        and not (found.late and (found.module, room(imported)) in LATE)
    ]
    assert not against


def test_charts_know_numpy_alone() -> None:
    of_charts = {found.imported for found in IMPORTS if room(found.module) == "chart"}
    assert not {
        name for name in of_charts if name.startswith(("torch", "onnx", "fencepost.model", "fencepost.features"))
    }


def test_only_integrations_import_the_libraries_they_adapt_to() -> None:
    assert not [
        str(found)
        for found in IMPORTS
        if found.imported.partition(".")[0] in ADAPTED and room(found.module) != "integrations"
    ]


@pytest.mark.parametrize("package", sorted(path.parent for path in SOURCE.rglob("*/__init__.py")), ids=lambda p: p.name)
def test_every_room_says_what_it_is_for_and_what_is_not(package: Path) -> None:
    text = ast.get_docstring(ast.parse((package / "__init__.py").read_text("utf-8"))) or ""
    assert len(text.splitlines()) >= 3, f"{package}/__init__.py: what is it for, and what does not belong there?"
