"""Training that begins with another model: it is that model until the first step, and learns what is new."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from fencepost.cli.main import main
from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml
from fencepost.errors import ModelError, UsageError
from fencepost.export.onnx import export_onnx
from fencepost.features.vocab import Labels, Vocab
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.brackets import parse_tree
from fencepost.trees.treebank import Sentence, Treebank
from tests.grammar import toy_trees
from tests.samples import tiny_config

CPU = torch.device("cpu")
CONFIG = replace(tiny_config(), lexical=("words", "char_lstm"))
OTHER = [parse_tree("(TOP (XP (DT Þær) (YP (NEW gjörðir))))"), parse_tree("(TOP (XP (NEW gjörðir)))")]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("start") / "model"
    config = replace(CONFIG, train=replace(CONFIG.train, max_epochs=12, batch_size=5))
    train(config, toy_trees(20), toy_trees(5), folder)
    return folder


def test_the_numbers_of_known_symbols_stay() -> None:
    known, new = Vocab(("b", "a"), (4, 2), 3), Vocab(("c", "a"), (7, 1), 3)
    assert known.extended(new) == Vocab(("b", "a", "c"), (4, 3, 7), 3)
    labels = Labels(((), ("S",), ("NP",)))
    assert labels.extended(Labels(((), ("NP",), ("S", "VP")))).chains == ((), ("S",), ("NP",), ("S", "VP"))


def test_before_the_first_step_it_is_the_model_it_starts_from(trained: Path) -> None:
    trainer = Trainer(CONFIG, OTHER, OTHER, CPU, start=ModelFolder.open(trained))
    assert len(trainer.vocabularies.labels) > len(ModelFolder.open(trained).vocabularies.labels)
    trainer.model.eval()
    sentences = [Sentence.of(tree) for tree in toy_trees(8)]
    parser = Parser(trainer.backend, CONFIG, trainer.vocabularies)
    assert parser.parse(sentences) == load(trained).parse(sentences)


def test_new_labels_tags_and_letters_are_learned(trained: Path, tmp_path: Path) -> None:
    long = replace(CONFIG.train, max_epochs=80, patience_epochs=80, batch_size=2, learning_rate=0.01)
    config = replace(CONFIG, train=long)
    parser = train(config, OTHER, OTHER, tmp_path / "new", start_from=trained)
    assert [tree.label for tree in parser.parse([Sentence.of(tree) for tree in OTHER])] == ["TOP", "TOP"]
    assert parser.parse([Sentence.of(OTHER[0])])[0] == OTHER[0]
    assert {"Þ", "ð"} <= set(parser.vocabularies.letters.symbols)


def test_the_root_is_that_of_the_new_trees(trained: Path) -> None:
    trees = [parse_tree("(ROOT (XP (NEW orð)))")]
    assert Trainer(CONFIG, trees, trees, CPU, start=ModelFolder.open(trained)).vocabularies.root == "ROOT"


def test_it_resumes_with_the_same_arguments(trained: Path, tmp_path: Path) -> None:
    def config(epochs: int) -> Config:
        return replace(CONFIG, train=replace(CONFIG.train, max_epochs=epochs, batch_size=1))

    whole = train(config(4), OTHER, OTHER, tmp_path / "whole", start_from=trained)
    train(config(2), OTHER, OTHER, tmp_path / "parts", start_from=trained)
    parts = train(config(4), OTHER, OTHER, tmp_path / "parts", start_from=trained, resume=True)
    assert (tmp_path / "whole" / "model.safetensors").read_bytes() == (
        tmp_path / "parts" / "model.safetensors"
    ).read_bytes()
    assert whole.vocabularies == parts.vocabularies


@pytest.mark.parametrize(
    ("other", "unlike"),
    [
        (replace(CONFIG, lexical=("char_lstm",)), r"lexical is \('words', 'char_lstm'\), not \('char_lstm',\)"),
        (replace(CONFIG, lexical=("words",)), r"lexical is \('words', 'char_lstm'\), not \('words',\)"),
        (replace(CONFIG, encoder=replace(CONFIG.encoder, d_ff=64)), r"encoder\.d_ff is 32, not 64"),
        (replace(CONFIG, encoder=replace(CONFIG.encoder, heads=4, d_k=4, d_v=4)), r"encoder\.heads is 2, not 4"),
        (replace(CONFIG, char_lstm=replace(CONFIG.char_lstm, size=16)), r"char_lstm\.size is 8, not 16"),
    ],
)
def test_a_model_of_another_form_is_refused(trained: Path, other: Config, unlike: str) -> None:
    with pytest.raises(UsageError, match=unlike) as error:
        Trainer(other, OTHER, OTHER, CPU, start=ModelFolder.open(trained))
    assert str(trained / "config.toml") in (error.value.hint or "")


def test_dropout_may_differ(trained: Path) -> None:
    other = replace(CONFIG, encoder=replace(CONFIG.encoder, relu_dropout=0.5))
    Trainer(other, OTHER, OTHER, CPU, start=ModelFolder.open(trained))


def test_a_model_is_not_overwritten_by_what_starts_from_it(trained: Path) -> None:
    before = (trained / "model.safetensors").read_bytes()
    with pytest.raises(UsageError, match="would be overwritten"):
        train(CONFIG, OTHER, OTHER, trained / ".." / trained.name, start_from=trained, resume=True)
    assert (trained / "model.safetensors").read_bytes() == before


def test_a_temperature_is_not_inherited(trained: Path, tmp_path: Path) -> None:
    fitted = replace(
        CONFIG, eval=replace(CONFIG.eval, temperature=0.3), train=replace(CONFIG.train, max_epochs=1, batch_size=2)
    )
    assert train(fitted, OTHER, OTHER, tmp_path / "new", start_from=trained).config.eval.temperature == 1.0


def test_the_card_says_what_it_started_from(trained: Path, tmp_path: Path) -> None:
    config = replace(CONFIG, train=replace(CONFIG.train, max_epochs=1))
    train(config, OTHER, OTHER, tmp_path / "new", start_from=trained)
    assert f"on 2 trees, starting from `{trained.name}`," in (tmp_path / "new" / "README.md").read_text("utf-8")


def test_training_may_start_from_an_export(trained: Path, tmp_path: Path) -> None:
    export_onnx(trained, tmp_path / "int8", "int8")
    start = ModelFolder.open(tmp_path / "int8")
    trainer = Trainer(CONFIG, OTHER, OTHER, CPU, start=start)
    assert len(trainer.vocabularies.labels) > len(start.vocabularies.labels)
    trainer.model.eval()
    sentences = [Sentence.of(tree) for tree in toy_trees(8)]
    parser = Parser(trainer.backend, CONFIG, trainer.vocabularies)
    assert parser.parse(sentences) == load(start.path, backend="torch").parse(sentences)


def test_a_model_without_weights_is_refused(tmp_path: Path) -> None:
    write_model(tmp_path / "none", CONFIG, Vocabularies.of(OTHER, CONFIG), "a card", {})
    with pytest.raises(ModelError, match=r"neither model\.safetensors nor model\.onnx"):
        Trainer(CONFIG, OTHER, OTHER, CPU, start=ModelFolder.open(tmp_path / "none"))


def test_from_the_command_line(trained: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Treebank(OTHER).save(tmp_path / "trees.txt")
    (tmp_path / "config.toml").write_text(
        config_to_toml(replace(CONFIG, train=replace(CONFIG.train, max_epochs=1))), "utf-8"
    )
    trees = str(tmp_path / "trees.txt")
    arguments = ["--train", trees, "--dev", trees, "--out", str(tmp_path / "out"), "--start-from", str(trained)]
    assert main(["train", str(tmp_path / "config.toml"), *arguments]) == 0
    assert f"; from {trained}\n" in capsys.readouterr().err


def test_training_may_start_from_the_model_that_ships(tmp_path: Path) -> None:
    """It reads a pre-trained encoder, which comes from the model itself: no other copy of the encoder is needed."""
    en = ModelFolder.open("en")
    config = replace(en.config, train=replace(en.config.train, max_epochs=1, batch_size=2, precision="fp32"))
    config = replace(config, scorer=replace(config.scorer, functions=False))  # these trees have none
    trees = [parse_tree("(TOP (S (NP (DT The) (NN cat)) (VP (VBZ sleeps)) (. .)))"), *OTHER]
    parser = train(config, trees, trees, tmp_path / "model", start_from="en")
    assert {"XP", "YP"} <= {label for chain in parser.vocabularies.labels.chains for label in chain}
    assert parser.parse([Sentence.of(trees[0])]) == trees[:1]
    assert load(tmp_path / "model").parse([Sentence.of(trees[0])]) == trees[:1]
