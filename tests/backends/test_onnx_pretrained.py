"""Models that read a pre-trained encoder, exported."""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
import pytest
import torch
from onnx import helper, numpy_helper
from safetensors.torch import save

from fencepost.backends import onnx as onnx_module
from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend, vocab_sizes
from fencepost.config.settings import Config, LexicalKind, PretrainedConfig
from fencepost.errors import ModelError, UsageError
from fencepost.export.builder import FLOAT, INT64, Graph
from fencepost.export.embedding import InInt8
from fencepost.export.onnx import export_onnx
from fencepost.features.encoder_families import ENCODER_FAMILIES
from fencepost.features.indexer import Indexer
from fencepost.features.lexical_kinds import SUBWORDS
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.parsing.load import load
from fencepost.storage.model_files import ONNX, SPANS, WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable, format_table
from fencepost.trees.treebank import Sentence
from tests.model.model_samples import small_config
from tests.pretrained_samples import pretrained_files
from tests.samples import TREES

WORDS = ["the", "cats", "sleeping", "cannot", "``", "a", "ab", ".", "Ωmega", "\u200b"]
PARSING_NEEDS = {"config.toml", "vocab.json", "README.md", "checksums", "encoder.json", "tokenizer.json"}


def config_with(number: int = 2, lexical: tuple[LexicalKind, ...] = ("pretrained",), **pretrained: Any) -> Config:
    chosen: dict[str, Any] = {"model": "small", "overlap": 6} | pretrained
    section = PretrainedConfig(**chosen)
    return dataclasses.replace(small_config(layers=number), lexical=lexical, pretrained=section)


def vocabularies_with(files: PretrainedFiles) -> Vocabularies:
    return dataclasses.replace(Vocabularies.of(TREES, small_config()), pretrained=files)


def write_folder(path: Path, config: Config, files: PretrainedFiles | None = None) -> Path:
    """Random weights, larger than fresh ones, so that no part of the encoder is without effect."""
    vocabularies = vocabularies_with(files or pretrained_files())
    torch.manual_seed(1)
    model = build_model(config, vocab_sizes(vocabularies)).eval()
    for name, weight in model.named_parameters():
        if "norm" not in name.lower():
            weight.data.add_(0.3 * torch.randn_like(weight))
    write_model(path, config, vocabularies, "a card\n", {WEIGHTS: save(model.state_dict())})
    return path


def sentences(count: int, longest: int = 20, seed: int = 0) -> list[Sentence]:
    source = random.Random(seed)
    return [Sentence(tuple(source.choices(WORDS, k=source.randint(1, longest)))) for _ in range(count)]


def assert_scores_are_those_of_torch(folder: Path, out: Path, longest: int = 20) -> None:
    export_onnx(folder, out)
    opened = ModelFolder.open(out)
    batch = Indexer(opened.config, opened.vocabularies).batch(sentences(20, longest))
    expected, scored = TorchBackend.load(ModelFolder.open(folder)).score(batch), OnnxBackend.load(opened).score(batch)
    np.testing.assert_allclose(scored.spans.packed(), expected.spans.packed(), atol=2e-4)
    np.testing.assert_array_equal(scored.tags, expected.tags)


@pytest.mark.parametrize("kind", [name for name, family in ENCODER_FAMILIES.items() if family.exportable])
def test_every_kind_of_encoder_gives_the_scores_of_torch(tmp_path: Path, kind: str) -> None:
    folder = write_folder(tmp_path / "model", config_with(), pretrained_files(kind))
    assert_scores_are_those_of_torch(folder, tmp_path / "out")


WAYS: dict[str, dict[str, Any]] = {
    "first sub-tokens": {"words": "first"},
    "all sub-tokens": {"words": "mean"},
    "a mix of layers": {"layers": "mix"},
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("number", [0, 1], ids=["no layers on top", "a layer on top"])
def test_every_way_of_reading_an_encoder_gives_the_scores_of_torch(
    tmp_path: Path, way: dict[str, Any], number: int
) -> None:
    folder = write_folder(tmp_path / "model", config_with(number, **way))
    assert_scores_are_those_of_torch(folder, tmp_path / "out")


@pytest.mark.parametrize("kind", ["bert", "mpnet", "t5", "umt5"])
def test_sentences_of_many_windows_give_the_scores_of_torch(tmp_path: Path, kind: str) -> None:
    folder = write_folder(tmp_path / "model", config_with(words="mean", window=40), pretrained_files(kind))
    assert_scores_are_those_of_torch(folder, tmp_path / "out", longest=200)


def test_distances_beyond_the_farthest_give_the_scores_of_torch(tmp_path: Path) -> None:
    files = pretrained_files("t5", relative_attention_max_distance=20, relative_attention_num_buckets=12)
    folder = write_folder(tmp_path / "model", config_with(), files)
    assert_scores_are_those_of_torch(folder, tmp_path / "out", longest=100)


def test_an_encoder_may_stand_beside_words_and_letters(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", config_with(lexical=("words", "char_lstm", "pretrained")))
    assert_scores_are_those_of_torch(folder, tmp_path / "out")


@pytest.mark.parametrize("feed_forward", ["relu", "gelu", "gelu_new", "gated-relu", "gated-gelu"])
@pytest.mark.parametrize("layers", ["last", "mix"])
def test_every_t5_gives_the_scores_of_torch(tmp_path: Path, feed_forward: str, layers: str) -> None:
    files = pretrained_files("t5", feed_forward_proj=feed_forward, num_decoder_layers=3)
    folder = write_folder(tmp_path / "model", config_with(layers=layers), files)
    assert_scores_are_those_of_torch(folder, tmp_path / "out")


def test_another_activation_gives_the_scores_of_torch(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "model", config_with(), pretrained_files(hidden_act="relu"))
    assert_scores_are_those_of_torch(folder, tmp_path / "out")


@pytest.mark.parametrize("kind", ["bert", "t5"])
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_sentence_gets_the_same_tree_in_any_company(tmp_path: Path, precision: Any, kind: str) -> None:
    export_onnx(write_folder(tmp_path / "model", config_with(), pretrained_files(kind)), tmp_path / "out", precision)
    parser, given = load(tmp_path / "out"), sentences(60)
    together = parser.parse(given)
    assert parser.parse(given, batch_tokens=1) == together


# T5 doesn't scale q · k: with large random weights, attention and its errors are extreme.
@pytest.mark.parametrize(("kind", "most"), [("bert", 0.05), ("t5", 0.1), ("mt5", 0.2)])
def test_eight_bits_give_nearly_the_scores_of_thirty_two(tmp_path: Path, kind: str, most: float) -> None:
    folder = write_folder(tmp_path / "model", config_with(), pretrained_files(kind))
    scores = []
    for precision in ("fp32", "int8"):
        export_onnx(folder, tmp_path / precision, precision)
        scores.append(load(tmp_path / precision).span_scores(sentences(30)).packed())
    exact, rounded = scores
    assert 0 < np.abs(rounded - exact).mean() < most * np.abs(exact).mean()


def test_a_table_in_eight_bits_is_a_fourth_as_large_and_nearly_the_same() -> None:
    from onnxruntime import InferenceSession

    graph = Graph()
    table = np.random.default_rng(0).normal(size=(50, 64)).astype(np.float32) * np.arange(50)[:, None]
    rows = InInt8().gather(graph, table.astype(np.float32), graph.input("ids", INT64, ["N"]))
    model = graph.model({"rows": (rows, FLOAT, ["N", 64])})
    assert len(model) < 0.35 * table.nbytes / 2
    (found,) = InferenceSession(model).run(None, {"ids": np.arange(50)})
    assert (np.abs(found - table).max(axis=1) <= np.abs(table).max(axis=1) / 250).all()


def test_an_export_has_what_parsing_needs_and_no_more(tmp_path: Path) -> None:
    export_onnx(write_folder(tmp_path / "model", config_with()), tmp_path / "out", "int8")
    graphs = {ONNX, SPANS, SUBWORDS, SUBWORD_TABLE}
    assert {path.name for path in (tmp_path / "out").iterdir()} == PARSING_NEEDS | graphs


def with_files(source: Path, out: Path, changes: dict[str, bytes | None]) -> Path:
    """A copy of an export with other files; None leaves a file out."""
    opened = ModelFolder.open(source)
    names = (ONNX, SPANS, SUBWORDS, SUBWORD_TABLE)
    files = {name: (source / name).read_bytes() for name in names} | changes
    kept = {name: content for name, content in files.items() if content is not None}
    write_model(out, opened.config, opened.vocabularies, "a card\n", kept)
    return out


def with_table_inside(graph: bytes, table: npt.NDArray[np.float32]) -> bytes:
    """A graph that finds the rows of sub-tokens by itself, as exports of older versions did."""
    model = onnx.load_from_string(graph)
    kept = [value for value in model.graph.input if value.name not in ("embedded", "subwords")]
    del model.graph.input[:]
    model.graph.input.extend([*kept, helper.make_tensor_value_info("subwords", INT64, ["V", "W"])])
    model.graph.initializer.append(numpy_helper.from_array(table, "table"))
    model.graph.node.insert(0, helper.make_node("Gather", ["table", "subwords"], ["embedded"]))
    return bytes(model.SerializeToString())


@pytest.mark.parametrize("kind", ["bert", "mpnet"])
@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_model_with_the_table_inside_its_graph_parses_alike(tmp_path: Path, kind: str, precision: Any) -> None:
    export_onnx(write_folder(tmp_path / "model", config_with(), pretrained_files(kind)), tmp_path / "out", precision)
    table = SubwordTable(tmp_path / "out" / SUBWORD_TABLE)
    graph = with_table_inside((tmp_path / "out" / SUBWORDS).read_bytes(), table.vectors(np.arange(len(table))))
    old = with_files(tmp_path / "out", tmp_path / "old", {SUBWORDS: graph, SUBWORD_TABLE: None})
    assert load(old).parse(sentences(20)) == load(tmp_path / "out").parse(sentences(20))


def test_a_table_that_does_not_belong_to_the_graph_is_refused(tmp_path: Path) -> None:
    export_onnx(write_folder(tmp_path / "model", config_with()), tmp_path / "out", "int8")
    for number, table in enumerate([None, format_table(np.zeros((50, 3), np.float32))]):
        wrong = with_files(tmp_path / "out", tmp_path / str(number), {SUBWORD_TABLE: table})
        with pytest.raises(ModelError, match="don't belong together"):
            load(wrong)


@pytest.mark.parametrize("kind", ["bert", "t5"])
def test_parsing_needs_nothing_of_what_trains_encoders(tmp_path: Path, kind: str) -> None:
    export_onnx(write_folder(tmp_path / "model", config_with(), pretrained_files(kind)), tmp_path / "out", "int8")
    program = f"""
import sys
for name in ("torch", "transformers", "tokenizers", "safetensors", "onnx", "huggingface_hub"):
    sys.modules[name] = None  # importing it is now an error
import fencepost
print(fencepost.load({str(tmp_path / "out")!r}).parse([["the", "cat", "sleeps"]])[0].words())
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert answer.stdout == "['the', 'cat', 'sleeps']\n"


REFUSED = {
    "an encoder of type deberta-v2": pretrained_files("deberta-v2"),
    "hidden_act = 'silu'": pretrained_files(hidden_act="silu"),
    "feed_forward_proj = 'gated-silu'": pretrained_files("t5", feed_forward_proj="gated-silu"),
    "bert with relative_key positions": PretrainedFiles(
        "", json.dumps({**json.loads(pretrained_files("bert").encoder), "position_embedding_type": "relative_key"})
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_an_encoder_that_cant_be_exported_is_refused(tmp_path: Path, what: str) -> None:
    vocabularies = vocabularies_with(REFUSED[what])
    write_model(tmp_path / "model", config_with(), vocabularies, "a card\n", {WEIGHTS: b""})
    with pytest.raises(UsageError, match=what) as refusal:
        export_onnx(tmp_path / "model", tmp_path / "out")
    assert refusal.value.hint
    assert "run it on torch, or use" in refusal.value.hint


def test_a_token_is_the_mean_of_its_rows_bit_by_bit() -> None:
    source = np.random.default_rng(0)
    vectors = source.normal(size=(40, 5)).astype(np.float32)
    counts = np.array([1, 3, 1, 12, 2, 1])
    rows = source.integers(0, 40, counts.sum())
    expected = np.add.reduceat(vectors[rows], np.cumsum(counts) - counts) / counts[:, None].astype(np.float32)
    assert onnx_module._means(vectors, rows, counts).tolist() == expected.tolist()
    assert onnx_module._means(vectors, rows[:2], np.array([1, 1])).tolist() == vectors[rows[:2]].tolist()
