"""``fencepost parse --functions`` and ``fencepost evaluate --functions``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.export.random_model import write_random_model
from fencepost.parsing.load import load
from fencepost.trees.brackets import parse_tree
from fencepost.trees.functions import split_functions, without_functions
from fencepost.trees.treebank import Treebank
from tests.function_samples import function_trees, random_function_model

TEXT = "the cat sleeps in the garden ."


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    return str(random_function_model(tmp_path_factory.mktemp("functions") / "model"))


def test_brackets_have_functions(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--model", model, "--tokenized", "--functions", "--text", TEXT]) == 0
    tree = parse_tree(capsys.readouterr().out)
    assert main(["parse", "--model", model, "--tokenized", "--text", TEXT]) == 0
    assert without_functions(tree) == parse_tree(capsys.readouterr().out) != tree


@pytest.mark.parametrize("options", [[], ["--probabilities"], ["--kbest", "3"], ["--decoding", "risk"]])
def test_json_has_functions_and_their_probabilities(
    model: str, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    main(["parse", "--model", model, "--tokenized", "--functions", "--format", "json", "--text", TEXT, *options])
    record = json.loads(capsys.readouterr().out)
    functions = [part["function"] for part in record["constituents"]]
    assert functions == [mark.function for mark in split_functions(parse_tree(record["tree"]))[1]]
    assert any(functions)
    assert all(0 < part["function_probability"] <= 1 for part in record["constituents"])
    assert ("probability" in record["constituents"][0]) == ("--probabilities" in options)
    if "--kbest" in options:
        assert record["kbest"][0]["tree"] == record["tree"]


def test_without_the_option_json_has_no_functions(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    main(["parse", "--model", model, "--tokenized", "--format", "json", "--text", TEXT])
    assert "function" not in capsys.readouterr().out


def test_drawings_show_functions(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = [TEXT.split()]
    marks = split_functions(load(model).parse(words, functions=True)[0])[1]
    main(["parse", "--model", model, "--tokenized", "--functions", "--format", "svg", "--text", TEXT])
    drawing = capsys.readouterr().out
    assert all(f"-{mark.function}<" in drawing for mark in marks if mark.function is not None)


@pytest.fixture(scope="module")
def plain_model(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("plain") / "plain"
    write_random_model("small", folder, exported=False)
    return str(folder)


def test_a_model_without_functions_is_a_clear_error(plain_model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["parse", "--model", plain_model, "--functions", "--text", TEXT]) == 2
    error = capsys.readouterr().err
    assert "plain doesn't predict functions" in error
    assert "hint: " in error


def test_evaluate_scores_functions_beside_the_baseline(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # The model's own trees as gold, so that all of its functions are right.
    words = [tree.words() for tree in function_trees(20)]
    Treebank(load(model).parse(words, functions=True)).save(tmp_path / "gold.txt")
    gold, output = str(tmp_path / "gold.txt"), str(tmp_path / "predicted.txt")
    options = ["--functions", "--training", gold, "--tags", "predicted"]
    assert main(["evaluate", model, gold, *options, "--json", "--output", output]) == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["f1"] == figures["functions"]["f1"] == 100
    assert 0 < figures["function_baseline"]["f1"] < 100
    assert {row["name"] for row in figures["functions"]["by_function"]} <= {"SBJ", "LOC", "TMP"}
    assert Path(output).read_text() == Path(gold).read_text()
    assert main(["evaluate", model, gold, *options]) == 0
    text = capsys.readouterr().out
    assert "function        gold" in text
    assert "baseline        gold" in text


def test_gold_functions_do_not_disturb_the_score_of_brackets(
    model: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trees = load(model).parse([tree.words() for tree in function_trees(5)], functions=True)
    Treebank(trees).save(tmp_path / "gold.txt")
    main(["evaluate", model, str(tmp_path / "gold.txt"), "--json"])
    figures = json.loads(capsys.readouterr().out)
    assert figures["f1"] == 100
    assert "functions" not in figures


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--functions"], "doesn't predict functions"), (["--training", "x.txt"], "--training is for --functions")],
)
def test_evaluate_explains_what_does_not_fit(
    plain_model: str, options: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Treebank(function_trees(2)).save(tmp_path / "gold.txt")
    assert main(["evaluate", plain_model, str(tmp_path / "gold.txt"), *options]) == 2
    assert message in capsys.readouterr().err
