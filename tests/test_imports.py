"""What importing pulls in, and which names are public."""

from __future__ import annotations

import pkgutil
import subprocess
import sys

import pytest

import fencepost
import fencepost.cli
import fencepost.evaluation
import fencepost.trees

PUBLIC = [
    "load",
    "Parser",
    "Document",
    "Sentence",
    "Tree",
    "Treebank",
    "Pattern",
    "Config",
    "train",
    "score",
    "Score",
    "FencepostError",
]
HEAVY = {"torch", "numpy", "onnxruntime", "nltk", "transformers", "matplotlib"}
LIGHT_PACKAGES = (fencepost.trees, fencepost.evaluation, fencepost.cli)


def modules_after(program: str) -> set[str]:
    """The modules that a fresh Python has loaded after a program."""
    result = subprocess.run(
        [sys.executable, "-c", f"{program}\nimport sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        check=True,
        text=True,
    )
    return set(result.stdout.split())


def test_importing_fencepost_pulls_in_nothing_heavy_and_little_else() -> None:
    loaded = modules_after("import fencepost") - modules_after("")
    assert not loaded & HEAVY
    assert {name for name in loaded if name.startswith("fencepost")} == {"fencepost"}
    assert len(loaded) < 40


def test_reading_trees_pulls_in_few_modules() -> None:
    loaded = modules_after("import fencepost; fencepost.Tree, fencepost.Treebank") - modules_after("")
    assert not loaded & HEAVY
    assert len(loaded) < 120


def test_public_names_are_those_of_the_design_and_all_resolve() -> None:
    assert sorted(fencepost.__all__) == sorted(PUBLIC)
    for name in fencepost.__all__:
        assert getattr(fencepost, name).__name__ == name
    assert set(dir(fencepost)) == {*fencepost.__all__, "__version__"}


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'fencepost' has no attribute 'Leave'"):
        _ = fencepost.Leave


@pytest.mark.parametrize("package", LIGHT_PACKAGES, ids=lambda package: package.__name__)
def test_trees_evaluation_and_command_line_import_no_torch(package: object) -> None:
    path, prefix = package.__path__, package.__name__ + "."  # type: ignore[attr-defined]
    names = [module.name for module in pkgutil.walk_packages(path, prefix)]
    assert names
    assert not modules_after("".join(f"import {name}\n" for name in names)) & {"torch", "onnxruntime"}


def test_help_needs_neither_torch_nor_numpy() -> None:
    program = "import sys\nfrom fencepost.cli.main import build_parser\nbuild_parser().format_help()"
    assert not modules_after(program) & HEAVY
