"""The English model inside the package: right trees for plain sentences, offline, without torch, whatever comes."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

import fencepost
from fencepost.parsing.parser import Parser
from fencepost.storage.find_model import DEFAULT_MODEL
from fencepost.storage.model_folder import ModelFolder

# Sentences whose trees nobody would argue about, each written for this test.
TREES = [
    "(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))",
    "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat) (PP (IN on) (NP (DT the) (NN mat)))) (. .)))",
    "(TOP (SQ (VBD Did) (NP (PRP you)) (VP (VB see) (NP (PRP$ my) (NNS keys))) (. ?)))",
    "(TOP (S (NP (NNP Mary)) (VP (VBD gave) (NP (PRP him)) (NP (DT a) (NN book))) (. .)))",
    "(TOP (S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))) (. .)))",
]
WITHOUT = ("torch", "transformers", "tokenizers", "safetensors", "onnx", "spacy", "nltk")


@pytest.fixture(scope="module")
def parser() -> Parser:
    return fencepost.load()


@pytest.mark.parametrize("expected", TREES)
def test_plain_sentences_have_the_right_trees(parser: Parser, expected: str) -> None:
    words = fencepost.Tree.from_string(expected).words()
    assert str(parser.parse([words])[0]) == expected


@pytest.mark.extras
def test_it_runs_on_torch_with_the_same_trees() -> None:
    expected = [fencepost.Tree.from_string(text) for text in TREES]
    assert fencepost.load("en", backend="torch").parse([tree.words() for tree in expected]) == expected


def phrases(tree: fencepost.Tree) -> list[tuple[str, int]]:
    return [(phrase.label, len(phrase.words())) for phrase in tree.subtrees()]


@pytest.mark.parametrize("spelled", [str.upper, str.lower])
def test_capitals_change_no_phrase_of_a_plain_sentence(parser: Parser, spelled: type[str]) -> None:
    words = ["The", "cat", "sat", "on", "the", "mat", "."]
    plain, changed = parser.parse([words, [spelled(word) for word in words]])
    assert phrases(plain) == phrases(changed)


def test_quotes_may_be_straight_curly_or_penns(parser: Parser) -> None:
    texts = ('"It works," she said.', "“It works,” she said.", "``It works,'' she said.")
    first, *others = [parser.parse_text(text) for text in texts]
    for other in others:
        assert [phrases(tree) for tree in other] == [phrases(tree) for tree in first]


def test_it_parses_offline_and_without_any_extra() -> None:
    script = f"""
import socket, sys
for name in {WITHOUT}:
    sys.modules[name] = None
socket.socket = None
import fencepost
print(fencepost.load().parse_text("It works.")[0])
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == TREES[0]


def hostile_lines(count: int) -> list[str]:
    """One sentence a line: letters of all scripts, controls, marks of direction, very long words, nothing but stops."""
    draw = random.Random(0)
    alphabets = [
        "abc XYZ.,;!?'\"()",
        "\u202e\u200f\u200d\u0301\u0483",
        "猫が好き。你好",
        "שלום عالم",
        "😀👍🏽🇺🇳",
        "\t\x07\x1b\x7f~`^",
    ]

    def line() -> str:
        letters = draw.choice([*alphabets, "".join(alphabets), "".join(map(chr, range(0x20, 0x2FFF, 37)))])
        return "".join(draw.choices(letters, k=draw.choice([1, 3, 20, 200])))

    special = ["", " ", ".", "!" * 300, "x" * 10_000, "a" * 99 + "-" + "b" * 99, "\ufeff", "-LRB- -RRB-", "( ) ( ("]
    return [*special, *(line() for _ in range(count - len(special)))]


def test_every_line_of_hostile_text_is_answered(parser: Parser) -> None:
    for number, line in enumerate(hostile_lines(120)):
        trees = parser.parse_text(line, mode="line")
        letters = "".join(word for tree in trees for word in tree.words())
        assert bool(trees) == bool(line.strip()), number
        assert len(letters) >= len(trees)


def test_what_ships_is_small_whole_and_says_where_it_comes_from() -> None:
    folder = ModelFolder.open(DEFAULT_MODEL)
    assert sum(file.stat().st_size for file in folder.path.iterdir()) <= 45_000_000
    assert not list(folder.path.glob("*.pkl")) + list(folder.path.glob("*.safetensors"))
    card = (folder.path / "README.md").read_text("utf-8")
    for word in ("GUM", "MASC", "CRAFT", "gte-small", "CC BY", "F1"):
        assert word in card
    assert folder.config.pretrained.model == "thenlper/gte-small"


@pytest.mark.parametrize("text", ["I'm gonna wanna see that.", "Gimme that book, lemme see.", ' "It works" (now). '])
def test_a_text_has_the_same_tree_whether_it_is_parsed_or_analyzed(parser: Parser, text: str) -> None:
    assert [parser.analyze(text).tree] == parser.parse_text(text)
