from __future__ import annotations

import pickle
import random
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fencepost
from fencepost.backends.torch import TorchBackend
from fencepost.errors import InputError, ModelError, UsageError
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.train import train
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence
from tests.grammar import toy_trees
from tests.samples import tiny_config


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    trees = toy_trees(40)
    path = tmp_path_factory.mktemp("parser") / "model"
    train(tiny_config(max_epochs=4), trees, trees, path)
    return path


@pytest.fixture(scope="module")
def parser(folder: Path) -> Parser:
    return load(folder)


WORDS = st.text(st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc", "Cs"]), min_size=1)
SENTENCES = [tree.words() for tree in toy_trees(60, seed=5)]


def test_trees_come_in_the_order_of_the_sentences_over_their_words(parser: Parser) -> None:
    trees = parser.parse(SENTENCES)
    assert [tree.words() for tree in trees] == SENTENCES
    assert all(tree.label == "TOP" for tree in trees)


def test_a_parser_shows_its_model_and_what_runs_it(parser: Parser) -> None:
    assert repr(parser) == "Parser of model on torch"
    assert repr(fencepost.load()) == "Parser of en on onnx"


def test_a_sentence_gets_the_same_tree_in_any_company(parser: Parser) -> None:
    together = parser.parse(SENTENCES)
    shuffled = random.Random(1).sample(range(len(SENTENCES)), len(SENTENCES))
    assert parser.parse([SENTENCES[place] for place in shuffled]) == [together[place] for place in shuffled]
    assert parser.parse(SENTENCES, batch_tokens=1) == together


def test_the_first_tree_comes_before_the_second_sentence_is_read(parser: Parser) -> None:
    read = 0

    def endless() -> Iterator[list[str]]:
        nonlocal read
        while True:
            read += 1
            yield ["It", "works"]

    first = next(parser.iter_parse(endless()))
    assert first.words() == ["It", "works"]
    assert read == 1


def test_streamed_trees_are_those_of_a_list(parser: Parser) -> None:
    assert list(parser.iter_parse(iter(SENTENCES))) == parser.parse(SENTENCES)


def test_tags_that_are_given_stay_and_others_are_predicted(parser: Parser) -> None:
    given_tags, predicted = parser.parse([Sentence(("the", "cat"), ("A", "B")), ["the", "cat"]])
    assert given_tags.tags() == ["A", "B"]
    assert set(predicted.tags()) <= set(parser.vocabularies.tags.symbols)


def test_a_model_without_a_tag_head_says_that_it_does_not_know(tmp_path: Path) -> None:
    trees = toy_trees(8)
    config = fencepost.Config(
        encoder=tiny_config().encoder, char_lstm=tiny_config().char_lstm, train=tiny_config(max_epochs=1).train
    )
    tree = train(config, trees, trees, tmp_path / "model").parse([["the", "cat"]])[0]
    assert tree.tags() == ["UNK", "UNK"]


def test_penn_escapes_are_real_brackets(parser: Parser) -> None:
    tree = parser.parse([["-LRB-", "a", "-RRB-"]])[0]
    assert tree.words() == ["(", "a", ")"]
    assert Tree.from_string(str(tree)) == tree


@pytest.mark.filterwarnings("ignore::fencepost.errors.LanguageWarning")  # random characters can look like Chinese
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(
        st.lists(st.text(st.characters(exclude_categories=["Zs", "Zl", "Zp", "Cc", "Cs"]), min_size=1), min_size=1)
    )
)
def test_any_words_give_a_tree_that_reads_back_from_its_text(parser: Parser, sentences: list[list[str]]) -> None:
    trees = parser.parse(sentences)
    assert [len(tree.leaves()) for tree in trees] == [len(sentence) for sentence in sentences]
    assert all(Tree.from_string(str(tree)) == tree for tree in trees)


@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ([], "sentence 2 has no words"),
        (["a", ""], "sentence 2: word 2"),
        (["a b"], "sentence 2: word 1"),
        (["a", "nul\0"], "sentence 2: word 2"),
        (["half \ud800 a character"], "sentence 2: word 1"),
        (Sentence(("a", "b"), ("NN", "N N")), "sentence 2: tag 2"),
        (Sentence(("a",), (None,)), "sentence 2: tag 1 is None, not a string"),  # type: ignore[arg-type]
        ("a string", "sentence 2 is a string"),
        (None, "sentence 2 is None, not a list of words"),
        ([1, 2], "sentence 2: word 1 is 1, not a string"),
        (["a", None], "sentence 2: word 2 is None, not a string"),
    ],
)
def test_a_sentence_that_cant_be_parsed_is_named(parser: Parser, sentence: list[str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parser.parse([["fine"], sentence])


def test_an_unknown_choice_is_refused_with_the_known_ones(parser: Parser, folder: Path) -> None:
    with pytest.raises(UsageError, match="mode can't be 'foo'\nhint: use one of text, paragraph, line"):
        parser.parse_text("One.", mode="foo")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="decoding can't be 'foo'\nhint: use one of best, risk"):
        parser.analyze(["One"], decoding="foo")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="backend can't be 'foo'\nhint: use one of onnx, torch"):
        load(folder, backend="foo")  # type: ignore[arg-type]


@pytest.mark.parametrize("device", ["tpu", "mps", "meta", "cuda:x", "cpu:1", ""])
def test_a_device_that_no_model_runs_on_is_refused_before_any_model(device: str) -> None:
    with pytest.raises(UsageError, match=f"device can't be '{device}'\nhint: use cpu, cuda"):
        load("no such model", device=device)


def test_a_precision_that_the_device_lacks_is_refused_before_any_model() -> None:
    with pytest.raises(UsageError, match="bf16 is a precision for GPUs\nhint: use device cuda"):
        load("no such model", precision="bf16")
    with pytest.raises(UsageError, match="precision can't be 'fp8'\nhint: use one of fp32, bf16"):
        load("no such model", device="cuda", precision="fp8")  # type: ignore[arg-type]


def test_a_copy_in_another_process_has_the_device_and_the_precision_of_the_first(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, str]] = []
    load_on_cpu = TorchBackend.load

    def load_as_asked(model: ModelFolder, device: str, precision: str) -> TorchBackend:
        asked.append((device, precision))
        return load_on_cpu(model)

    monkeypatch.setattr(TorchBackend, "load", load_as_asked)
    parser = load(folder, device="cuda:1", precision="bf16")
    pickle.loads(pickle.dumps(parser))
    assert asked == [("cuda:1", "bf16")] * 2


def test_nothing_in_gives_nothing_out(parser: Parser) -> None:
    assert parser.parse([]) == []


def test_a_parser_can_be_pickled(parser: Parser) -> None:
    assert pickle.loads(pickle.dumps(parser)).parse(SENTENCES[:5]) == parser.parse(SENTENCES[:5])


def test_a_pickled_parser_finds_its_model_from_another_folder(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder.parent)
    pickled = pickle.dumps(load(folder.name))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(pickled).parse([["It", "works"]])[0].words() == ["It", "works"]


def test_threads_may_share_a_parser(parser: Parser) -> None:
    expected = parser.parse(SENTENCES)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(parser.parse, [SENTENCES] * 8)) == [expected] * 8


def test_a_long_sentence_is_parsed(parser: Parser) -> None:
    words = ["the", "cat", "sat"] * 100
    assert parser.parse([words])[0].words() == words


def test_a_model_that_reads_tags_asks_for_them(tmp_path: Path) -> None:
    trees = toy_trees(8)
    base = tiny_config(max_epochs=1)
    config = fencepost.Config(lexical=("words", "tags"), encoder=base.encoder, train=base.train)
    parser = train(config, trees, trees, tmp_path / "model")
    assert parser.parse([Sentence.of(trees[0])])[0].words() == trees[0].words()
    with pytest.raises(InputError, match="sentence 1 has no tags"):
        parser.parse([["the", "cat"]])


def test_a_runtime_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("onnx", "onnx_graphs"):
        monkeypatch.delitem(sys.modules, f"fencepost.backends.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(ModelError, match="needs onnxruntime, which is not installed\nhint: pip install onnxruntime"):
        load()


def test_text_is_a_string(parser: Parser) -> None:
    with pytest.raises(InputError, match="text must be a string, got \\['A'"):
        parser.parse_text(["A", "cat"])  # type: ignore[arg-type]


def test_arguments_are_checked_before_the_first_result_is_asked_for(parser: Parser) -> None:
    with pytest.raises(UsageError, match="decoding can't be"):
        parser.iter_analyze([["A", "cat"]], decoding="worst")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="mode can't be"):
        parser.iter_parse_text(["A cat."], mode="verse")  # type: ignore[arg-type]
