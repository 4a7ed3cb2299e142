"""A parser warns once if its sentences aren't in the language of its model, whichever way it is called."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pytest

from fencepost.cli.main import main
from fencepost.config.settings import Config
from fencepost.errors import LanguageWarning
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.parsing.workers import Workers
from fencepost.text.tokens import tokenize
from fencepost.training.train import train
from tests.samples import TREES, tiny_config

SENTENCES: Final = ["Ich weiß nicht, ob sie heute noch kommt.", "Wir haben die Katze gestern im Garten gesehen."]
GERMAN: Final = " ".join(SENTENCES)
WORDS: Final = [[token.form for token in tokenize(sentence)] for sentence in SENTENCES]
ENGLISH: Final = "The cat is always on the sofa. We saw it in the garden yesterday. It was there for an hour."
MESSAGE: Final = "^the text looks like German; the model (model )?knows English\nhint: use a model for the language"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("english") / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, path)
    return path


@pytest.fixture(scope="module")
def loaded(folder: Path) -> Parser:
    return load(folder)


@pytest.fixture
def parser(loaded: Parser) -> Parser:
    """One that hasn't warned."""
    return Parser(loaded._backend, loaded.config, loaded.vocabularies, source=loaded._source)


WAYS: Final[dict[str, Callable[[Parser], Any]]] = {
    "parse": lambda parser: parser.parse(WORDS),
    "iter_parse": lambda parser: list(parser.iter_parse(WORDS)),
    "parse_text": lambda parser: parser.parse_text(GERMAN),
    "iter_parse_text": lambda parser: list(parser.iter_parse_text(iter(GERMAN))),
    "parse_document": lambda parser: parser.parse_document(GERMAN),
    "pipe": lambda parser: list(parser.pipe(SENTENCES)),
    "analyze": lambda parser: [parser.analyze(sentence) for sentence in SENTENCES],
    "one word list": lambda parser: parser.parse(WORDS[:1]),
    "iter_scored": lambda parser: list(Workers(parser, 1).iter_scored(WORDS)),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_every_way_to_parse_warns_of_the_caller_and_says_it_once(parser: Parser, way: Callable[[Parser], Any]) -> None:
    with pytest.warns(LanguageWarning, match=MESSAGE) as caught:
        way(parser)
    way(parser)
    assert [each.filename for each in caught] == [__file__]


def test_english_is_parsed_without_a_word(parser: Parser) -> None:
    for _ in range(3):
        parser.parse_text(ENGLISH)
        list(parser.pipe([ENGLISH, f"He said: “{SENTENCES[0]}”"]))


def test_a_german_text_after_english_ones_is_a_part(parser: Parser) -> None:
    parser.parse_text(ENGLISH)
    parser.parse_text(SENTENCES[0])
    with pytest.warns(LanguageWarning, match="^part of the text looks like German"):
        parser.parse_text(f"{GERMAN} Das war aber nicht so schön, weil es schon sehr spät war. Er kommt morgen wieder.")


def test_a_stream_is_noticed_before_it_ends(parser: Parser) -> None:
    def endless() -> Iterator[list[str]]:
        yield from WORDS
        while True:
            yield ["Das", "war", "aber", "schon", "sehr", "schön"]

    trees = parser.iter_parse(endless(), batch_tokens=10)
    with pytest.warns(LanguageWarning, match=MESSAGE):
        assert len(list(islice(trees, 3))) == 3


def test_worker_processes_leave_the_warning_to_this_one(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.warns(LanguageWarning, match=MESSAGE) as caught:
        list(load(folder).pipe([GERMAN] * 4, workers=2, batch_tokens=10))
    assert len(caught) == 1
    assert "looks like" not in capfd.readouterr().err


def test_several_threads_warn_once(parser: Parser) -> None:
    with warnings.catch_warnings(record=True) as caught, ThreadPoolExecutor(4) as threads:
        warnings.simplefilter("always")
        list(threads.map(parser.parse_text, [GERMAN] * 8))
    assert [each.category for each in caught] == [LanguageWarning]


def test_trees_are_the_same_with_the_warning_switched_off(parser: Parser, folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)
        silent = parser.parse_text(GERMAN)
    with pytest.warns(LanguageWarning):
        assert load(folder).parse_text(GERMAN) == silent


def test_a_warning_that_is_an_error_keeps_the_sentences_before_it(parser: Parser) -> None:
    trees = parser.iter_parse([["It", "works"], *WORDS])
    assert next(trees).words() == ["It", "works"]
    with pytest.raises(LanguageWarning):
        list(trees)


def test_a_model_of_another_language_notices_english(tmp_path: Path) -> None:
    config: Config = replace(tiny_config(max_epochs=1), language="fr")
    train(config, TREES[:3], TREES[:3], tmp_path / "french")
    parser = load(tmp_path / "french")
    with pytest.warns(LanguageWarning, match="the text looks like English; the model french knows French"):
        parser.parse_text(ENGLISH)
    again = pickle.loads(pickle.dumps(parser))
    again.parse_text("Je ne sais pas où est le chat. Il n'est pas dans la maison avec nous.")


def test_a_parser_without_a_folder_warns_too(loaded: Parser) -> None:
    with pytest.warns(LanguageWarning, match="the text looks like German; the model knows English"):
        Parser(loaded._backend, loaded.config, loaded.vocabularies).parse_text(GERMAN)


@pytest.mark.filterwarnings("always::fencepost.errors.LanguageWarning")
@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--tokenized"],
        ["--lines"],
        ["--format", "json", "--probabilities"],
        ["--workers", "2", "--batch-tokens", "9"],
    ],
    ids=" ".join,
)
def test_the_command_line_says_it_once_on_standard_error(
    folder: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["parse", "--model", str(folder), *options, "--text", "\n".join(SENTENCES * 2)]) == 0
    found = capsys.readouterr()
    assert found.err.startswith("warning: the text looks like German; the model model knows English\nhint: use a model")
    assert found.err.count("warning:") == 1
    assert "looks like" not in found.out


@pytest.mark.filterwarnings("always::fencepost.errors.LanguageWarning")
@pytest.mark.parametrize("command", ["measure --input text", "search NP --text"])
def test_other_commands_that_parse_text_say_it_too(
    folder: Path, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "german.txt").write_text(GERMAN, "utf-8")
    assert main([*command.split(), "--model", str(folder), str(tmp_path / "german.txt")]) in (0, 1)
    assert capsys.readouterr().err.count("warning: the text looks like German") == 1


def test_the_environment_can_switch_it_off(folder: Path) -> None:
    command = [sys.executable, "-m", "fencepost", "parse", "--model", str(folder), "--text", GERMAN]
    spoken = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "looks like German" in spoken.stderr
    off = {"PYTHONWARNINGS": "ignore::UserWarning"}
    silent = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **off})
    assert silent.stderr == ""
    assert silent.stdout == spoken.stdout


@pytest.mark.parametrize("options", [[], ["--format", "json"], ["--workers", "2"]], ids=" ".join)
def test_the_command_line_keeps_the_trees_of_a_chunk_where_the_warning_is_an_error(
    folder: Path, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    text = " ".join(["It works.", *SENTENCES, "Das ist auch nicht mein Hund, und er war noch nie hier.", "It works."])
    arguments = ["parse", "--model", str(folder), *options, "--text", text]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)
        assert main(arguments) == 0
        trees = capsys.readouterr().out
        warnings.simplefilter("error", LanguageWarning)
        assert main(arguments) == 2
    found = capsys.readouterr()
    assert found.err.startswith("error: the text looks like German; the model model knows English\nhint: use a model")
    assert found.out == trees
