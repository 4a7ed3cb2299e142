"""``fencepost.train``: by names and paths, and without torch until it is called."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import fencepost
from fencepost.config.toml import config_to_toml
from fencepost.errors import ConfigError, UsageError
from tests.grammar import toy_trees
from tests.samples import tiny_config


@pytest.mark.extras
def test_configurations_and_trees_may_be_files(tmp_path: Path) -> None:
    fencepost.Treebank(toy_trees(8)).save(tmp_path / "trees.txt")
    (tmp_path / "tiny.toml").write_text(config_to_toml(tiny_config(max_epochs=1)), "utf-8")
    trees = str(tmp_path / "trees.txt")
    by_name = fencepost.train(tmp_path / "tiny.toml", trees, trees, tmp_path / "one")
    given = fencepost.train(tiny_config(max_epochs=1), toy_trees(8), toy_trees(8), tmp_path / "two")
    assert by_name.config == given.config
    assert by_name.parse([["the", "cat"]]) == given.parse([["the", "cat"]])


def test_a_configuration_has_a_name_and_overrides() -> None:
    assert fencepost.Config.load("paper") == fencepost.Config()
    assert fencepost.Config.load("paper", ["train.seed=3"]).train.seed == 3
    with pytest.raises(ConfigError):
        fencepost.Config.load("no-such-configuration")


def test_without_torch_it_says_what_to_install() -> None:
    script = """
import sys
sys.modules["torch"] = None
from fencepost import *
import fencepost
try:
    fencepost.train("small", [], [], "x")
except fencepost.FencepostError as error:
    print(error.hint)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "fencepost[train]" in result.stdout


def test_naming_it_loads_no_torch() -> None:
    script = "import sys, fencepost; fencepost.train; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_list_of_paths_is_not_taken_for_a_pattern() -> None:
    with pytest.raises(UsageError, match="a path is a string or a Path"):
        fencepost.Treebank.load(["one.txt", "two.txt"])  # type: ignore[arg-type]


@pytest.mark.extras
def test_names_of_files_are_no_trees(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"expected trees, got 'train\.txt'"):
        fencepost.train("small", ["train.txt"], ["dev.txt"], tmp_path)  # type: ignore[list-item]


def test_words_in_a_list_become_a_tuple() -> None:
    assert fencepost.Sentence(["a", "b"], ["X", "Y"]) == fencepost.Sentence(("a", "b"), ("X", "Y"))  # type: ignore[arg-type]
