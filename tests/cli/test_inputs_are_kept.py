"""No command but `treebank normalize` writes over what it was given to read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.trees.treebank import Treebank
from tests.grammar import toy_trees


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    Treebank(toy_trees(20)).save(tmp_path / "train.txt")
    return tmp_path / "train.txt"


@pytest.mark.parametrize(
    "command",
    [
        "evaluate en {trees} --output {trees}",
        "evaluate en {folder} --output {folder}/../{name}/train.txt",
        "tag en {trees} --output {trees}",
        "tag --jackknife 2 {trees} --output {trees}",
        "treebank split {trees} --out {folder}",
        "treebank words {trees} --output {trees}",
        "parse --lines {trees} --output {trees}",
        "treebank split {folder}/*.txt --out {folder} --by file",
    ],
)
def test_an_output_that_is_an_input_is_refused(command: str, trees: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = trees.read_bytes()
    places = {"trees": trees, "folder": trees.parent, "name": trees.parent.name}
    assert main([word.format(**places) for word in command.split()]) == 2
    assert "would be overwritten" in capsys.readouterr().err
    assert trees.read_bytes() == before


@pytest.mark.parametrize("command", ["parse", "parse -", "treebank words -", "evaluate en -", "tag en -"])
def test_an_output_that_is_standard_input_is_refused(command: str, trees: Path) -> None:
    before = trees.read_bytes()
    with trees.open() as file:
        words = [sys.executable, "-m", "fencepost", *command.split(), "--output", str(trees)]
        result = subprocess.run(words, stdin=file, capture_output=True)
    assert (result.returncode, trees.read_bytes()) == (2, before)
    assert b"would be overwritten" in result.stderr


def test_a_device_may_be_both_read_and_written() -> None:
    words = [sys.executable, "-m", "fencepost", "parse", "--output", "/dev/null"]
    assert subprocess.run(words, stdin=subprocess.DEVNULL).returncode == 0


def test_what_is_not_written_is_in_no_danger(trees: Path) -> None:
    test = trees.rename(trees.with_name("test.txt"))
    assert main(["treebank", "split", str(test), "--out", str(test.parent), "--ratio", "8:2"]) == 0
    assert len(Treebank.load(test)) == 20


def test_parts_may_be_written_again_from_the_same_trees(trees: Path) -> None:
    out = trees.parent / "parts"
    for seed in "12":
        assert main(["treebank", "split", str(trees), "--out", str(out), "--seed", seed]) == 0
    assert sum(len(Treebank.load(part)) for part in out.iterdir()) == 20
