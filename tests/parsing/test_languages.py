"""A model of several treebanks: one is chosen when it is loaded, and only its labels and tags come out."""

from __future__ import annotations

import json
import pickle
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.config.settings import CharLSTMConfig, Config
from fencepost.errors import TrainingError, UsageError
from fencepost.export.onnx import export_onnx
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.load import load
from fencepost.storage.find_model import split_language
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank
from tests.samples import marked, tiny_config

# The same words have other labels, tags and bracketings in the other treebank.
LEFT, RIGHT = (
    list(map(Tree.from_string, lines))
    for lines in (
        ["(TOP (S (NP (D a) (N b)) (V c)))", "(TOP (S (NP (D a) (N c)) (V b)))", "(TOP (S (N b) (V c)))"],
        ["(TOP (X (D a) (Y (Q b) (Q c))))", "(TOP (X (D a) (Y (Q c) (Q b))))", "(TOP (Y (Q b) (Q c)))"],
    )
)
JOINT = [marked(tree, name) for name, trees in (("left", LEFT), ("right", RIGHT)) for tree in trees]


def joint_config() -> Config:
    config = tiny_config(max_epochs=6, learning_rate=0.01, checks_per_epoch=1, warmup_batches=0, patience_epochs=99)
    return replace(
        config,
        lexical=("char_lstm", "treebank"),
        char_lstm=CharLSTMConfig(8, 0.0, 0.0),
        encoder=replace(config.encoder, attention_dropout=0.0, relu_dropout=0.0, residual_dropout=0.0),
        scorer=replace(config.scorer, predict_tags=True),
        train=replace(config.train, shortest_epoch=20),
    )


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model and its exports."""
    path = tmp_path_factory.mktemp("joint")
    train(joint_config(), JOINT, JOINT, path / "model")
    export_onnx(path / "model", path / "exported")
    export_onnx(path / "model", path / "int8", "int8")
    return path


@pytest.mark.parametrize("name", ["model", "exported", "int8"])
@pytest.mark.parametrize(("language", "gold"), [("left", LEFT), ("right", RIGHT)])
def test_each_language_has_its_own_trees(folder: Path, name: str, language: str, gold: list[Tree]) -> None:
    words = [tree.words() for tree in gold]
    parser = load(folder / name, language=language)
    assert parser.parse(words) == gold
    assert load(f"{folder / name}:{language}").parse(words) == gold
    assert load(folder / name, language=language, backend="torch").parse(words) == gold
    assert pickle.loads(pickle.dumps(parser)).parse(words) == gold


def test_no_tree_has_a_label_of_another_language(folder: Path) -> None:
    for name, labels, tags in (("left", {"S", "NP"}, {"D", "N", "V"}), ("right", {"X", "Y"}, {"D", "Q"})):
        parser = load(folder / "exported", language=name)
        assert {label for chain in parser.vocabularies.labels.chains for label in chain} == labels
        analysis = parser.analyze(["c", "a", "b"], k=50)
        assert {each.label for scored in analysis.trees for each in scored.constituents} <= labels
        assert {leaf.tag for scored in analysis.trees for leaf in scored.tree.leaves()} <= tags


def test_a_language_must_be_chosen_and_must_be_one_of_the_model(folder: Path) -> None:
    with pytest.raises(UsageError, match="exported parses several languages: left, right") as error:
        load(folder / "exported")
    assert error.value.hint is not None
    assert "exported:left" in error.value.hint
    with pytest.raises(UsageError, match="exported doesn't parse 'up'") as error:
        load(folder / "exported", language="up")
    assert error.value.hint == "it parses left, right"


def test_a_model_of_one_language_may_be_asked_for_it() -> None:
    assert str(load(language="en").parse([["It", "works", "."]])[0]) == str(load().parse([["It", "works", "."]])[0])
    with pytest.raises(UsageError, match="en doesn't parse 'fo'"):
        load("en", language="fo")


def test_a_language_comes_after_the_last_colon(tmp_path: Path) -> None:
    assert split_language("multi:fo") == ("multi", "fo")
    assert split_language("C:\\models\\multi") == ("C:\\models\\multi", None)
    assert split_language("C:\\models\\multi:fo") == ("C:\\models\\multi", "fo")
    assert split_language(None) == (None, None)
    (tmp_path / "a:b").mkdir()
    (tmp_path / "a:b" / "config.toml").touch()
    assert split_language(str(tmp_path / "a:b")) == (str(tmp_path / "a:b"), None)


def test_training_trees_must_say_which_treebank_they_are_of() -> None:
    with pytest.raises(TrainingError, match="needs a treebank's name after each label and tag; D has none"):
        Vocabularies.of(LEFT, joint_config())


def test_possible_tags_are_those_of_the_language() -> None:
    vocabularies = Vocabularies.of(JOINT, joint_config())
    assert vocabularies.treebanks == ("left", "right")
    right = vocabularies.of_treebank("right")
    assert right.tags.symbols == ("Q", "D")
    assert right.possible_tags is not None
    assert right.possible_tags.words == ("Q", "D")
    assert right.labels.chains == ((), ("Y",), ("X",))
    assert Vocabularies.from_json(vocabularies.to_json()).of_treebank("right").labels == right.labels


def test_a_corpus_is_parsed_in_the_language_that_was_asked_for(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("a b c\n")
    command = ["corpus", str(tmp_path / "in.txt"), "--out", str(tmp_path / "out"), "--workers", "1", "--model"]
    assert main([*command, f"{folder / 'exported'}:right"]) == 0
    record = json.loads((tmp_path / "out" / "part-00000.jsonl").read_text())
    assert record["tree"] == str(RIGHT[0])
    assert main([*command, f"{folder / 'exported'}:left"]) == 2


def test_every_language_is_verified_unless_one_is_named(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    exported = str(folder / "exported")
    for name, languages in ((exported, ("left", "right")), (f"{exported}:right", ("right",))):
        assert main(["models", "verify", name]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert [line.partition(": every file")[0] for line in lines] == [f"{exported}:{each}" for each in languages]


def test_the_speed_of_one_language_is_measured(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    name = f"{folder / 'exported'}:left"
    assert main(["bench", "--model", name, "--seconds", "0.1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["model"] == name
    assert main(["bench", "--model", str(folder / "exported")]) == 2


def test_one_language_is_calibrated(folder: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(folder / "exported", tmp_path / "copy")
    Treebank(LEFT * 2).save(tmp_path / "dev.txt")
    assert main(["calibrate", f"{copy}:left", str(tmp_path / "dev.txt")]) == 0
    assert load(copy, language="left").config.eval.temperature != 1.0
