"""The language of a model decides how text is split, everywhere that text is parsed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.config.settings import CharLSTMConfig, Config
from fencepost.errors import LanguageWarning, UsageError
from fencepost.parsing.load import load
from fencepost.text import languages
from fencepost.training.train import train
from tests.samples import TREES, marked, tiny_config

FRENCH = "L'ami dort. Que dit-il ?"
WORDS = [["L'", "ami", "dort", "."], ["Que", "dit", "-il", "?"]]


def config_of(language: str) -> Config:
    return replace(tiny_config(max_epochs=1), language=language)


@pytest.fixture(scope="module")
def french(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("french") / "model"
    train(config_of("fr"), TREES, TREES, path)
    return path


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("joint") / "model"
    config = replace(config_of("mul"), lexical=("char_lstm", "treebank"), char_lstm=CharLSTMConfig(8, 0.0, 0.0))
    trees = [marked(tree, name) for name in ("fr", "id") for tree in TREES]
    train(config, trees, trees, path)
    return path


def test_every_way_to_parse_text_splits_it_in_the_language_of_the_model(french: Path) -> None:
    parser = load(french)
    assert parser.text_language == "fr"
    assert [tree.words() for tree in parser.parse_text(FRENCH)] == WORDS
    assert [tree.words() for tree in parser.iter_parse_text([FRENCH])] == WORDS
    assert [tree.words() for tree in parser.parse_document(FRENCH).trees] == WORDS
    assert [tree.words() for document in parser.pipe([FRENCH]) for tree in document.trees] == WORDS
    assert parser.analyze("Que dit-il ?").tree.words() == WORDS[1]


def test_the_position_of_a_fixed_expression_includes_its_space(french: Path) -> None:
    document = load(french).parse_document("Il vient afin de dormir.")
    token = document.sentences[0].tokens[2]
    assert token.text == "afin de"
    assert document.sentences[0].tree.words()[2] == "afin_de"
    assert document.text[token.start : token.end] == "afin de"


def test_the_command_line_splits_text_in_the_language_of_the_model(
    french: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.txt").write_text(FRENCH, "utf-8")
    for given in (["--text", FRENCH], [str(tmp_path / "in.txt")]):
        assert main(["parse", "--model", str(french), "--format", "json", *given]) == 0
        lines = map(json.loads, capsys.readouterr().out.splitlines())
        assert [[token["text"] for token in line["tokens"]] for line in lines] == WORDS
    assert main(["parse", "--model", str(french), "--lines", "--text", "Que dit-il ?"]) == 0
    assert "-il)" in capsys.readouterr().out
    assert main(["corpus", str(tmp_path / "in.txt"), "--out", str(tmp_path / "out"), "--model", str(french)]) == 0
    assert "-il)" in (tmp_path / "out" / "part-00000.jsonl").read_text("utf-8")


def test_the_chosen_language_of_a_joint_model_splits_its_text(joint: Path) -> None:
    assert load(f"{joint}:fr").parse_text("Que dit-il ?")[0].words() == ["Que", "dit", "-il", "?"]
    assert load(f"{joint}:id").parse_text("Bukunya hilang.")[0].words() == ["Buku", "nya", "hilang", "."]


def test_a_model_without_rules_warns_once_and_one_without_words_refuses_text(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    languages._find.cache_clear()
    for language in ("pl", "zh"):
        train(config_of(language), TREES, TREES, tmp_path / language)
    parser = load(tmp_path / "pl")
    with pytest.warns(LanguageWarning, match="no rules for splitting text whose language is 'pl'"):
        parser.parse_text("Ala don't.")
    assert parser.parse_text("Ala don't.")[0].words() == ["Ala", "don't", "."]
    with pytest.raises(UsageError, match="words of a text in Chinese"):
        load(tmp_path / "zh").parse_text("我喜欢猫")
    assert main(["parse", "--model", str(tmp_path / "zh"), "--text", "我喜欢猫"]) == 2
    assert "--tokenized" in capsys.readouterr().err
    assert main(["parse", "--model", str(tmp_path / "zh"), "--tokenized", "--text", "我 喜欢 猫"]) == 0


@pytest.mark.filterwarnings("always::fencepost.errors.LanguageWarning")
def test_the_command_line_shows_the_warning_without_code(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    languages._find.cache_clear()
    train(config_of("cs"), TREES, TREES, tmp_path / "cs")
    capsys.readouterr()
    assert main(["parse", "--model", str(tmp_path / "cs"), "--text", "Pes."]) == 0
    assert capsys.readouterr().err.startswith("warning: no rules for splitting text whose language is 'cs'")
