"""Which modules need a package that the base install lacks, read from their import statements without running them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
EXTRAS: Final = frozenset(
    {
        "torch",
        "triton",
        "safetensors",
        "onnx",
        "transformers",
        "tokenizers",
        "sentencepiece",
        "nltk",
        "spacy",
        "srsly",
        "matplotlib",
        "pyarrow",
        "zstandard",
        "sudachipy",
        "sudachidict-core",
        "ray",
        "fastapi",
        "starlette",
        "pydantic",
        "uvicorn",
        "httptools",
        "uvloop",
        "requests",
        "playwright",
        "axe_playwright_python",
        "mkdocs",
        "pymdown-extensions",
        "mkdocs-material",
        "mkdocstrings",
        "ruff",
        "griffe",
        "yaml",
        "nbclient",
        "nbformat",
    }
)
LATE: Final = {"fencepost.training.train.train": "torch"}  # names whose import is cheap, but not their use


def extras_of(path: Path) -> set[str]:
    """The packages of extras that importing this file of ours imports, whether directly or through other files."""
    found: set[str] = set()
    files, waiting = {path}, [path]
    while waiting:
        for name in _imported(waiting.pop()):
            found |= {name.partition(".")[0], LATE.get(name, "")} & EXTRAS
            file = _file(name)
            if file and file not in files:
                files.add(file)
                waiting.append(file)
    return found


def _imported(path: Path) -> Iterator[str]:
    """The names in a module's top-level import statements; those in functions or under ``if`` run later or never."""
    for statement in ast.parse(path.read_text("utf-8")).body:
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def _file(module: str) -> Path | None:
    """The file of a module of ours."""
    folders = {"fencepost": ROOT / "src", "tests": ROOT}
    folder = folders.get(module.partition(".")[0])
    if folder is None:
        return None
    stem = folder.joinpath(*module.split("."))
    return next((file for file in (stem.with_suffix(".py"), stem / "__init__.py") if file.is_file()), None)
