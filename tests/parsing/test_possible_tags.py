"""Impossible tags are replaced on every backend and in every kind of result, and nothing else in a tree changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import save

from fencepost.backends.torch import vocab_sizes
from fencepost.export.onnx import onnx_graphs
from fencepost.features.batch import Ints
from fencepost.features.possible_tags import PossibleTags, TagCorrector, is_sign
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import change_possible_tags, write_model
from fencepost.training.tagging import retag
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence
from tests.samples import tiny_config

TREES = [
    Tree.from_string("(TOP (S (NP (PRP It)) (, ,) (VP (VBZ works)) (: --) (. .)))"),
    Tree.from_string("(TOP (NP (NP (NN Tea)) (: --) (NP (JJ hot) (CC and) (JJ sweet)) (. !)))"),
] * 10
SENTENCES = [
    "Tea , it works .",
    "-- , . ! , --",
    "Old dogs -- and new tricks -- , of course ? !",
    "It 's 42 % , * not * more .",
    "no signs at all",
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A model with random weights, which predicts impossible tags all the time: without the table, and with it."""
    plain, constrained = (tmp_path_factory.mktemp(name) for name in ("plain", "constrained"))
    config = tiny_config()
    vocabularies = replace(Vocabularies.of(TREES, config), possible_tags=None)
    torch.manual_seed(3)
    model = build_model(config, vocab_sizes(vocabularies)).eval()
    files = onnx_graphs(model, config, "int8") | {WEIGHTS: save(model.state_dict())}
    for path in (plain, constrained):
        write_model(path, config, vocabularies, "a card", files)
    change_possible_tags(constrained, possible_tags())
    return [plain, constrained]


@pytest.fixture(params=["onnx", "torch"])
def parsers(request: pytest.FixtureRequest, folders: list[Path]) -> list[Parser]:
    """The model without the table and with it."""
    return [load(folder, backend=request.param) for folder in folders]


def possible_tags() -> PossibleTags:
    return PossibleTags.of(leaf for tree in TREES for leaf in tree.leaves())


def is_possible(word: str, tag: str) -> bool:
    possible = possible_tags()
    return tag in (possible.signs.get(word, possible.rare_signs) if is_sign(word) else possible.words)


def words_of_sentences() -> list[list[str]]:
    return [sentence.split() for sentence in SENTENCES]


def require_corrected(before: Tree, after: Tree) -> int:
    """Checks the corrected tree, and gives the number of tags that changed."""
    assert str(retag(after, before.tags())) == str(before)
    changed = 0
    for old, new in zip(before.leaves(), after.leaves(), strict=True):
        assert is_possible(new.word, new.tag)
        assert new.tag == old.tag or not is_possible(old.word, old.tag)
        changed += new.tag != old.tag
    return changed


def test_best_trees_change_only_in_impossible_tags(parsers: list[Parser]) -> None:
    plain, constrained = parsers
    before, after = plain.parse(words_of_sentences()), constrained.parse(words_of_sentences())
    assert sum(map(require_corrected, before, after)) > 0


def test_the_tags_of_a_batch_are_looked_at_once(parsers: list[Parser], monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at: list[int] = []
    correct = TagCorrector.correct

    def counted(self: TagCorrector, words: Sequence[str], tags: Ints) -> Ints:
        looked_at.append(len(words))
        return correct(self, words, tags)

    monkeypatch.setattr(TagCorrector, "correct", counted)
    trees = parsers[1].parse([["The", "cat", "sat", "."], ["It", "slept", "."]])
    assert [len(tree.tags()) for tree in trees] == [4, 3]
    assert [str(tree) for tree in trees]
    assert looked_at == [7]


def test_analyses_change_only_in_impossible_tags(parsers: list[Parser]) -> None:
    before, after = (list(parser.iter_analyze(words_of_sentences(), k=3)) for parser in parsers)
    for one, other in zip(before, after, strict=True):
        assert [part.probability for part in one.constituents] == [part.probability for part in other.constituents]
        require_corrected(one.tree, other.tree)
        for old, new in zip(one.trees, other.trees, strict=True):
            require_corrected(old.tree, new.tree)


def test_given_tags_are_kept_even_if_they_are_impossible(parsers: list[Parser]) -> None:
    _, constrained = parsers
    (tree,) = constrained.parse([Sentence(("Tea", ","), (",", "NN"))])
    assert tree.tags() == [",", "NN"]
