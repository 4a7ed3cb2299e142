"""Both backends decode as if a span of nouns, numbers and articles alone couldn't be a prepositional phrase."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend
from fencepost.chart import cky, packing
from fencepost.config.settings import Config
from fencepost.export.onnx import onnx_graphs
from fencepost.features.impossible_labels import ImpossibleLabels
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.parser_model import ParserModel
from fencepost.parsing.load import load
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.trees.tree import Tree
from tests.backends.test_onnx import random_sentences, strong_model
from tests.grammar import toy_trees
from tests.samples import tiny_config

PENN = Tree.from_string(
    "(TOP (S (NP (PRP He)) (VP (VBD gave) (NP (CD two)) (PP (TO to) (NP (PRP$ his) (NNS friends)))) (. .)))"
)
TREES = [*toy_trees(40), PENN]
SENTENCES = random_sentences(40, seed=4, longest=12)


def with_root(force_root: bool) -> Config:
    config = tiny_config()
    return dataclasses.replace(config, scorer=dataclasses.replace(config.scorer, force_root=force_root))


def fond_of_prepositions(config: Config, vocabularies: Vocabularies) -> ParserModel:
    """A model of random weights with many different tags, and prepositional phrases wherever they are possible."""
    model = strong_model(config, vocabularies)
    assert model.tag_scorer is not None
    last = model.tag_scorer.layers[-1]
    assert isinstance(last, nn.Linear)
    last.weight.data.mul_(100)
    for number in (number for number, chain in enumerate(vocabularies.labels.chains) if "PP" in chain):
        model.span_scorer.output.bias.data[number - 1] += 50
    return model


@pytest.fixture(scope="module", params=[False, True], ids=["free root", "forced root"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = with_root(request.param)
    vocabularies = Vocabularies.of(TREES, config)
    path = tmp_path_factory.mktemp("impossible") / "model"
    graphs = onnx_graphs(fond_of_prepositions(config, vocabularies), config)
    write_model(path, config, vocabularies, "a card", graphs)
    return path


@pytest.mark.parametrize("kind", [OnnxBackend, TorchBackend])
def test_impossible_labels_are_ruled_out_and_no_other_score_changes(
    folder: Path, kind: type[OnnxBackend | TorchBackend]
) -> None:
    opened = ModelFolder.open(folder)
    config, vocabularies = opened.config, opened.vocabularies
    batch = Indexer(config, vocabularies).batch(SENTENCES)
    backend = kind.load(opened)
    scored = backend.score(batch)
    assert scored.tags is not None
    free = TorchBackend(fond_of_prepositions(config, vocabularies), config, torch.device("cpu"))
    impossible = np.zeros((packing.span_count(batch.lengths).sum(), len(vocabularies.labels)), np.bool_)
    first = np.cumsum(batch.lengths) - batch.lengths
    for cell, (sentence, start, end) in enumerate(zip(*packing.cells(batch.lengths), strict=True)):
        tags = {vocabularies.tags.symbol(tag) for tag in scored.tags[first[sentence] + start : first[sentence] + end]}
        for label, chain in enumerate(vocabularies.labels.chains):
            impossible[cell, label] = "PP" in chain and tags <= {"CD", "DT", "NN", "NNS", "PRP", "PRP$"}
    expected = free.score(batch).spans.packed()
    assert 0 < impossible.sum() < impossible.size / 10
    assert (expected[impossible] > expected[:, 0].max()).all()  # they would be chosen otherwise
    assert np.isneginf(scored.spans.packed()[impossible]).all()
    assert np.abs(scored.spans.packed() - expected)[~impossible].max() < 1e-4
    best = cky.decode(scored.spans.reduce(config.scorer.force_root))
    for tree, other in zip(backend.launch(batch)().trees, best, strict=True):
        np.testing.assert_array_equal([tree.starts, tree.ends, tree.labels], [other.starts, other.ends, other.labels])


def test_best_trees_probabilities_and_lists_agree_on_what_is_impossible(folder: Path) -> None:
    parser = load(folder)
    words = [sentence.words for sentence in SENTENCES if len(sentence) > 1]
    for tree, analysis in zip(parser.parse(words), parser.iter_analyze(words, 3), strict=True):
        assert analysis.trees[0].tree == tree
        assert all(np.isfinite(each.score) for each in analysis.trees)
        probabilities = [each.probability for each in analysis.constituents]
        assert all(each is not None and 0 <= each <= 1 for each in probabilities)
        for each in analysis.trees:
            for phrase in each.tree.subtrees("PP"):
                assert not set(phrase.tags()) <= {"CD", "DT", "NN", "NNS", "PRP", "PRP$"}


def test_models_with_other_tags_are_not_restricted() -> None:
    other = Tree.from_string("(TOP (S (NP (NN Katze)) (PP (APPR in) (NP (NN Haus)))))")
    assert ImpossibleLabels.of(Vocabularies.of([other], tiny_config())) is None
    assert ImpossibleLabels.of(Vocabularies.of(TREES, tiny_config())) is not None


def test_imported_models_which_have_no_table_of_tags_are_not_restricted() -> None:
    imported = dataclasses.replace(Vocabularies.of(TREES, tiny_config()), possible_tags=None)
    assert ImpossibleLabels.of(imported) is None
