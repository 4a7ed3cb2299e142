"""The notebooks in examples/ run from beginning to end, and are stored without outputs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

EXAMPLES = Path(__file__).parents[1] / "examples"
NOTEBOOKS = sorted(EXAMPLES.glob("*.ipynb"))


def read(path: Path) -> Any:
    return nbformat.read(path, as_version=4)


def outputs(name: str, folder: Path) -> list[dict[str, Any]]:
    """Runs a notebook in a new folder; what its cells show, by type."""
    notebook = read(EXAMPLES / name)
    client = NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(folder)}})
    client.execute(env={**os.environ, "OMP_NUM_THREADS": "1"})  # torch's threads wait long for each other on busy cores
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return [{"text": each.get("text", ""), **each.get("data", {})} for cell in cells for each in cell.outputs]


def test_parse_and_draw(tmp_path: Path) -> None:
    shown = outputs("parse_and_draw.ipynb", tmp_path)
    assert sum("image/svg+xml" in each for each in shown) == 1
    assert sum("<svg" in each.get("text/html", "") for each in shown) == 3
    assert (tmp_path / "tree.svg").read_text("utf-8").startswith("<svg")


def test_documents_to_pandas(tmp_path: Path) -> None:
    shown = outputs("documents_to_pandas.ipynb", tmp_path)
    assert sum("<table" in each.get("text/html", "") for each in shown) == 4
    assert any("The ferry to the island" in each.get("text/plain", "") for each in shown)


def test_search_and_measure(tmp_path: Path) -> None:
    shown = outputs("search_and_measure.ipynb", tmp_path)
    assert any("the doctor | who treats my father" in each["text"] for each in shown)
    assert any(each["text"].startswith("W ") for each in shown)


def test_train_a_tiny_model(tmp_path: Path) -> None:
    shown = outputs("train_a_tiny_model.ipynb", tmp_path)
    (line,) = [each["text"] for each in shown if each["text"].startswith("precision")]
    assert float(line.split()[-1]) > 80
    assert (tmp_path / "tiny-model" / "config.toml").is_file()


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_stored_without_outputs_and_are_listed_and_tested(path: Path) -> None:
    notebook = read(path)
    nbformat.validate(notebook)
    assert all(not cell.get("outputs") and not cell.get("execution_count") for cell in notebook.cells)
    assert f"[`{path.name}`]({path.name})" in (EXAMPLES / "README.md").read_text("utf-8")
    assert f'outputs("{path.name}"' in Path(__file__).read_text("utf-8")
