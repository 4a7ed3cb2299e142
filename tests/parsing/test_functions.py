"""Functions of parsed constituents: the same on every backend, and only where they are asked for."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from fencepost.errors import ModelError, UsageError
from fencepost.export.onnx import export_onnx
from fencepost.export.parser import functions_graph
from fencepost.model.scorer import FunctionScorer
from fencepost.parsing.documents import Document
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.parsing.workers import Workers
from fencepost.storage.model_files import FUNCTIONS, VOCABULARIES, file_digest, listed_files
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.training.train import train
from fencepost.trees.functions import split_functions, without_functions
from tests.function_samples import function_trees, random_function_model
from tests.grammar import toy_trees
from tests.samples import tiny_config

SENTENCES = [tree.words() for tree in toy_trees(30, seed=7)]


@pytest.fixture(scope="module", params=[False, True], ids=["ends", "ends and words"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return random_function_model(tmp_path_factory.mktemp("functions") / "model", words=request.param)


@pytest.fixture(scope="module")
def exported(folder: Path) -> Path:
    export_onnx(folder, folder.with_name("exported"))
    return folder.with_name("exported")


@pytest.fixture(scope="module", params=["torch", "onnx"])
def parser(request: pytest.FixtureRequest, folder: Path, exported: Path) -> Parser:
    return load(folder if request.param == "torch" else exported)


def test_the_trees_are_the_same_but_for_their_functions(parser: Parser) -> None:
    plain, with_functions = parser.parse(SENTENCES), parser.parse(SENTENCES, functions=True)
    assert [without_functions(tree) for tree in with_functions] == plain
    assert with_functions != plain
    assert list(parser.iter_parse(SENTENCES, functions=True)) == with_functions
    text = "the cat sleeps . Ada moved a letter ."
    assert [*map(without_functions, parser.parse_text(text, functions=True))] == parser.parse_text(text)


@pytest.mark.parametrize("probabilities", [False, True])
def test_a_document_with_functions_survives_json(parser: Parser, probabilities: bool) -> None:
    text = ". ".join(" ".join(sentence) for sentence in SENTENCES) + "."
    document = parser.parse_document(text, functions=True, probabilities=probabilities)
    assert any("-" in part for tree in document.trees for part in str(tree).split() if part.startswith("("))
    again = Document.from_dict(json.loads(json.dumps(document.to_dict())))
    assert again == document
    assert [each.constituents for each in again.sentences] == [each.constituents for each in document.sentences]


def test_constituents_have_the_functions_of_the_labels_and_their_probabilities(parser: Parser) -> None:
    for analysis in parser.iter_functions(SENTENCES):
        _, marks = split_functions(analysis.tree)
        assert [part.function for part in analysis.constituents] == [mark.function for mark in marks]
        assert all(part.function_probability is not None for part in analysis.constituents)
        assert all(0.2 < (part.function_probability or 0) <= 1 for part in analysis.constituents)
        assert all("-" not in part.label for part in analysis.constituents)


def test_all_of_the_best_trees_have_functions(parser: Parser) -> None:
    plain = parser.analyze(SENTENCES[0], k=4)
    marked = parser.analyze(SENTENCES[0], k=4, functions=True)
    assert [without_functions(one.tree) for one in marked.trees] == [one.tree for one in plain.trees]
    assert marked.tree == marked.trees[0].tree
    assert len({str(split_functions(one.tree)[1]) for one in marked.trees}) > 1
    assert [part.probability for part in marked.constituents] == [part.probability for part in plain.constituents]
    assert all(part.function_probability is None for part in plain.constituents)


def test_functions_of_a_sentence_do_not_depend_on_its_company(parser: Parser) -> None:
    together = parser.parse(SENTENCES, functions=True)
    assert [parser.parse([words], functions=True)[0] for words in SENTENCES] == together
    assert [analysis.tree for analysis in parser.iter_analyze(SENTENCES, k=1, functions=True)] == together


def test_a_sentence_too_long_for_probabilities_has_functions(parser: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.parsing.confidence.LARGEST_CHART", 1)
    analysis = parser.analyze(SENTENCES[0], k=2, functions=True)
    assert analysis.too_long
    assert analysis.tree == parser.parse(SENTENCES[:1], functions=True)[0] == analysis.trees[0].tree


def test_both_backends_give_the_same_functions(folder: Path, exported: Path) -> None:
    pairs = zip(load(folder).iter_functions(SENTENCES), load(exported).iter_functions(SENTENCES), strict=True)
    for ours, theirs in pairs:
        assert ours.tree == theirs.tree
        mine, others = (
            np.array([part.function_probability for part in each.constituents], np.float64) for each in (ours, theirs)
        )
        np.testing.assert_allclose(mine, others, atol=1e-4)


def test_an_export_gives_the_same_functions_on_torch(exported: Path) -> None:
    again = load(exported, backend="torch")
    assert again.backend_name == "torch"
    assert again.parse(SENTENCES, functions=True) == load(exported).parse(SENTENCES, functions=True)


def test_int8_leaves_the_function_scorer_in_single_precision(folder: Path, exported: Path, tmp_path: Path) -> None:
    export_onnx(folder, tmp_path / "int8", "int8")
    assert (tmp_path / "int8" / FUNCTIONS).read_bytes() == (exported / FUNCTIONS).read_bytes()


def test_other_processes_give_the_same(exported: Path) -> None:
    parser = load(exported)
    with Workers(parser, 2) as workers:
        found = [analysis.tree for analysis in workers.iter_functions(SENTENCES)]
    assert found == parser.parse(SENTENCES, functions=True)


def test_a_model_without_functions_refuses(tmp_path: Path) -> None:
    parser = train(tiny_config(max_epochs=1), toy_trees(8), toy_trees(4), tmp_path / "plain")
    for ask in (
        lambda: parser.parse(SENTENCES, functions=True),
        lambda: parser.analyze(SENTENCES[0], functions=True),
        lambda: parser.iter_functions(SENTENCES),
    ):
        with pytest.raises(UsageError, match="doesn't predict functions") as caught:
            ask()
        assert "scorer.functions" in str(caught.value.hint)
    export_onnx(tmp_path / "plain", tmp_path / "exported")
    assert not (tmp_path / "exported" / FUNCTIONS).exists()


def test_a_graph_for_other_functions_is_refused(exported: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(exported, broken)
    vocabularies = json.loads((broken / VOCABULARIES).read_text())
    vocabularies["functions"]["symbols"].append("VOC")
    vocabularies["functions"]["counts"].append(1)
    before = file_digest(broken / VOCABULARIES)
    (broken / VOCABULARIES).write_text(json.dumps(vocabularies))
    checksums = (broken / "checksums").read_text().replace(before, file_digest(broken / VOCABULARIES))
    (broken / "checksums").write_text(checksums)
    with pytest.raises(ModelError, match="functions"):
        load(broken)


@pytest.mark.parametrize("words", [False, True])
def test_a_scorer_that_reads_other_vectors_than_the_configuration_says_is_refused(words: bool, tmp_path: Path) -> None:
    folder = random_function_model(tmp_path / "model", words=True)
    export_onnx(folder, tmp_path / "export")
    opened = ModelFolder.open(tmp_path / "export")
    scorer = FunctionScorer(opened.config.encoder.d_model, 16, 9, 4, words=7 if words else 0)
    files = {name: (opened.path / name).read_bytes() for name in listed_files(opened.path) if name.endswith("onnx")}
    files |= {name: (opened.path / name).read_bytes() for name in listed_files(opened.path) if name.endswith("npy")}
    files[FUNCTIONS] = functions_graph(scorer)
    write_model(tmp_path / "mixed", opened.config, opened.vocabularies, "", files)
    with pytest.raises(ModelError, match="words of size 7" if words else "functions.onnx reads no words"):
        load(tmp_path / "mixed")


def test_the_sample_trees_have_functions() -> None:
    assert {mark.function for tree in function_trees(40) for mark in split_functions(tree)[1]} >= {"SBJ", "LOC", "TMP"}
