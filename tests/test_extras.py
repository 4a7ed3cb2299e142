"""The base install has numpy and ONNX Runtime alone, and most of the program must work with them."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.extras import EXTRAS, ROOT, extras_of

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SOURCES = ROOT / "src" / "fencepost"
BUILT_ON_EXTRAS = {
    "analysis",
    "backends/charts.py",
    "backends/exported_t5.py",
    "backends/exported_weights.py",
    "backends/ruled_out.py",
    "backends/torch.py",
    "backends/weights_in_order.py",
    "experiments",
    "export",
    "integrations",
    "model",
    "serve",
    "training",
}
FILES = sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.py"))
BASE = [file for file in FILES if not {file.parts[0], file.as_posix()} & BUILT_ON_EXTRAS]


@pytest.mark.parametrize("file", BASE, ids=Path.as_posix)
def test_files_of_the_base_install_import_no_extra(file: Path) -> None:
    assert extras_of(SOURCES / file) == set()


def test_extras_are_found_directly_behind_other_files_and_in_functions_that_import_late(tmp_path: Path) -> None:
    (tmp_path / "direct.py").write_text("import torch.nn\n")
    (tmp_path / "behind.py").write_text("from fencepost.model import attention\n")
    (tmp_path / "late.py").write_text("from fencepost.training.train import train\n")
    (tmp_path / "none.py").write_text("from fencepost.trees.tree import Tree\n\ndef f():\n    import torch\n")
    assert [extras_of(tmp_path / f"{name}.py") for name in ("direct", "behind", "late")] == [{"torch"}] * 3
    assert extras_of(tmp_path / "none.py") == set()


def test_every_package_of_an_extra_is_known() -> None:
    optional = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = [wish for extra, wishes in optional.items() if extra not in ("test", "dev") for wish in wishes]
    names = {re.split(r"[\[<>=;]", wish)[0] for wish in wanted} - {"fencepost"}
    assert names - {"protobuf"} <= EXTRAS  # onnxruntime depends on protobuf, so the base install has it
