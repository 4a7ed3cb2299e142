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
BUILT_ON_EXTRAS = {"analysis", "backends/torch.py", "experiments", "export", "integrations", "model", "training"}
FILES = sorted(path.relative_to(SOURCES) for path in SOURCES.rglob("*.py"))
BASE = [file for file in FILES if not {file.parts[0], file.as_posix()} & BUILT_ON_EXTRAS]


@pytest.mark.parametrize("file", BASE, ids=Path.as_posix)
def test_files_of_the_base_install_import_no_extra(file: Path) -> None:
    assert extras_of(SOURCES / file) == set()


def test_extras_are_found_directly_and_behind_other_files() -> None:
    assert extras_of(SOURCES / "model" / "attention.py") == {"torch"}
    assert extras_of(ROOT / "tests" / "cli" / "test_evaluate.py") >= {"torch", "safetensors"}


def test_every_package_of_an_extra_is_known() -> None:
    optional = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    wanted = [wish for extra, wishes in optional.items() if extra not in ("test", "dev") for wish in wishes]
    names = {re.split(r"[\[<>=;]", wish)[0] for wish in wanted} - {"fencepost"}
    assert names - {"protobuf"} <= EXTRAS  # onnxruntime depends on protobuf, so the base install has it
