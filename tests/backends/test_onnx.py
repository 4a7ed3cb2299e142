from __future__ import annotations

import dataclasses
import pickle
import random
import string
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
import torch
from onnx import numpy_helper
from safetensors.torch import save

from fencepost.backends.onnx import OnnxBackend, attention_mask
from fencepost.backends.torch import TorchBackend, vocab_sizes
from fencepost.backends.word_vector_cache import WordVectorCache
from fencepost.config.settings import Config, EvalConfig, PlanConfig
from fencepost.errors import ModelError, UsageError
from fencepost.export.onnx import Precision, export_onnx, onnx_graphs
from fencepost.features.indexer import Indexer
from fencepost.features.lexical_kinds import LETTERS
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.parser_model import ParserModel
from fencepost.model.plan import AttentionPlan
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.storage.model_files import ONNX, SPANS, WEIGHTS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.trees.treebank import Sentence
from tests.grammar import toy_trees
from tests.model.model_samples import VARIANTS, small_config

TREES = toy_trees(80)
TAGS = sorted({tag for tree in TREES for tag in tree.tags()})
LEXICALS = (
    ("words",),
    ("words", "tags"),
    ("char_lstm",),
    ("char_concat",),
    ("char_attention",),
    ("words", "char_lstm", "char_concat", "char_attention"),
)
PLANS = (
    PlanConfig(window=2),
    PlanConfig(window=1, relaxed=True),
    PlanConfig(content=(1,)),
    PlanConfig(position=(), window=3),
)


def random_sentences(count: int, seed: int = 0, longest: int = 24) -> list[Sentence]:
    """Of words that were met in training and of others, with tags."""
    source = random.Random(seed)
    known = [word for tree in TREES for word in tree.words()]

    def word() -> str:
        if source.random() < 0.5:
            return source.choice(known)
        return "".join(source.choices(string.ascii_letters + "éß", k=source.randint(1, 12)))

    lengths = [source.randint(1, longest) for _ in range(count)]
    return [Sentence(tuple(word() for _ in range(n)), tuple(source.choices(TAGS, k=n))) for n in lengths]


def strong_model(config: Config, vocabularies: Vocabularies) -> ParserModel:
    """Random weights that attend and label as firmly as trained ones."""
    torch.manual_seed(1)
    model = build_model(config, vocab_sizes(vocabularies)).eval()
    for name, weight in model.named_parameters():
        if name.startswith("encoder.") and "attention" in name and "norm" not in name:
            weight.data.mul_(50)
        if name.startswith("span_scorer.output"):
            weight.data.mul_(10)
    return model


def write_folder(path: Path, config: Config) -> Path:
    vocabularies = Vocabularies.of(TREES, config)
    weights = save(strong_model(config, vocabularies).state_dict())
    write_model(path, config, vocabularies, "a card\n", {WEIGHTS: weights})
    return path


def changed(config: Config, **sections: Any) -> Config:
    return dataclasses.replace(config, **sections)


def with_plan(plan: PlanConfig) -> Config:
    return changed(small_config(), eval=EvalConfig(plan=plan))


def forcing_roots() -> Config:
    config = small_config()
    return changed(config, scorer=dataclasses.replace(config.scorer, force_root=True, predict_tags=False))


CONFIGS = (
    {f"encoder {name}": small_config(**variant) for name, variant in VARIANTS.items()}
    | {f"lexical {'+'.join(lexical)}": small_config(lexical) for lexical in LEXICALS}
    | {f"plan {plan}": with_plan(plan) for plan in PLANS}
    | {"a root without tags": forcing_roots()}
    | {"long sentences": changed(small_config(), eval=EvalConfig(longest=10, plan=PlanConfig(window=4)))}
)


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_every_variant_scores_spans_and_tags_words_as_on_torch(tmp_path: Path, config: Config) -> None:
    vocabularies = Vocabularies.of(TREES, config)
    model = strong_model(config, vocabularies)
    write_model(tmp_path / "model", config, vocabularies, "a card", onnx_graphs(model, config))
    batch = Indexer(config, vocabularies).batch(random_sentences(30, seed=2))
    on_onnx = OnnxBackend.load(ModelFolder.open(tmp_path / "model"))
    on_torch = TorchBackend(model, config, torch.device("cpu"))
    expected, scored = on_torch.score(batch), on_onnx.score(batch)
    assert np.abs(scored.spans.packed() - expected.spans.packed()).max() < 1e-4
    assert (scored.tags is None) == (not config.scorer.predict_tags)
    np.testing.assert_array_equal(scored.tags, expected.tags)
    for tree, other in zip(on_onnx.launch(batch)().trees, on_torch.launch(batch)().trees, strict=True):
        np.testing.assert_array_equal([tree.starts, tree.ends, tree.labels], [other.starts, other.ends, other.labels])


def test_a_root_that_is_forced_has_a_label_where_every_label_costs(tmp_path: Path) -> None:
    config = forcing_roots()
    vocabularies = Vocabularies.of(TREES, config)
    model = strong_model(config, vocabularies)
    torch.nn.init.constant_(model.span_scorer.output.bias, -1e4)
    write_model(tmp_path / "model", config, vocabularies, "a card", onnx_graphs(model, config))
    batch = Indexer(config, vocabularies).batch(random_sentences(10, seed=6))
    for backend in (
        OnnxBackend.load(ModelFolder.open(tmp_path / "model")),
        TorchBackend(model, config, torch.device("cpu")),
    ):
        trees = backend.launch(batch)().trees
        assert [(tree.starts.tolist(), tree.ends.tolist()) for tree in trees] == [([0], [n]) for n in batch.lengths]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("onnx") / "model", small_config(("char_lstm",), max_length=40))


@pytest.fixture(scope="module")
def exported(folder: Path) -> Callable[[Precision], Path]:
    def export(precision: Precision) -> Path:
        path = folder.with_name(precision)
        if not path.exists():
            export_onnx(folder, path, precision)
        return path

    return export


@pytest.fixture(scope="module", params=["fp32", "int8"])
def parser(request: pytest.FixtureRequest, exported: Callable[[Precision], Path]) -> Parser:
    return load(exported(request.param))


def test_a_thousand_trees_are_those_of_torch(folder: Path, exported: Callable[[Precision], Path]) -> None:
    sentences = [sentence.words for sentence in random_sentences(1_000, seed=3)]
    assert load(exported("fp32")).parse(sentences) == load(folder).parse(sentences)


def test_eight_bits_give_nearly_the_scores_of_thirty_two(exported: Callable[[Precision], Path]) -> None:
    folders = ModelFolder.open(exported("fp32")), ModelFolder.open(exported("int8"))
    batch = Indexer(folders[0].config, folders[0].vocabularies).batch(random_sentences(50))
    exact, rounded = (OnnxBackend.load(folder).score(batch).spans.packed() for folder in folders)
    assert 0 < np.abs(rounded - exact).mean() < 0.03 * np.abs(exact).mean()


def test_two_products_of_eight_bits_fit_in_sixteen(exported: Callable[[Precision], Path]) -> None:
    """Processors without VNNI add two products of a row (0 to 255) and a column in 16 bits, and cut what is beyond."""
    largest = [
        int(np.abs(numpy_helper.to_array(constant).astype(np.int64)).max())
        for name in (ONNX, SPANS, LETTERS)
        for constant in onnx.load(exported("int8") / name).graph.initializer
        if constant.data_type == onnx.TensorProto.INT8
    ]
    assert len(largest) > 3
    assert 2 * 255 * max(largest) <= np.iinfo(np.int16).max
    assert min(largest) > 50  # and they use the room there is


def test_a_sentence_gets_the_same_tree_in_any_company(parser: Parser) -> None:
    sentences = [sentence.words for sentence in random_sentences(150, seed=4)]
    together = parser.parse(sentences)
    assert parser.parse(sentences, batch_tokens=1) == together
    assert parser.parse(sentences[::-1]) == together[::-1]


@pytest.mark.parametrize("length", [1, 300])
def test_one_word_and_more_words_than_positions_are_parsed_as_on_torch(
    folder: Path, exported: Callable[[Precision], Path], length: int
) -> None:
    words = (["the", "cat", "saw", "Oslo"] * 75)[:length]
    assert load(exported("fp32")).parse([words]) == load(folder).parse([words])


def test_a_parser_can_be_pickled_and_shared_by_threads(parser: Parser) -> None:
    sentences = [sentence.words for sentence in random_sentences(60, seed=5)]
    expected = parser.parse(sentences)
    copy = pickle.loads(pickle.dumps(parser))
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(copy.parse, [sentences] * 6)) == [expected] * 6


def test_parsing_needs_neither_torch_nor_what_writes_models(exported: Callable[[Precision], Path]) -> None:
    program = f"""
import sys
for name in ("torch", "transformers", "safetensors", "onnx"):
    sys.modules[name] = None  # importing it is now an error
import fencepost
print(fencepost.load({str(exported("int8"))!r}).parse([["the", "cat", "sleeps"]])[0].words())
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert answer.stdout == "['the', 'cat', 'sleeps']\n"


def test_an_export_is_a_whole_model_folder(exported: Callable[[Precision], Path]) -> None:
    folder = exported("int8")
    assert {path.name for path in folder.iterdir()} == {
        "config.toml", "vocab.json", "README.md", "checksums", ONNX, SPANS, LETTERS,
    }  # fmt: skip
    card = (folder / "README.md").read_text()
    assert card.startswith("a card\n")
    assert "int8" in card


@pytest.mark.parametrize("name", [ONNX, SPANS, LETTERS])
def test_a_file_that_is_no_graph_is_refused(tmp_path: Path, folder: Path, name: str) -> None:
    opened = ModelFolder.open(folder)
    graphs = onnx_graphs(TorchBackend.load(opened).model, opened.config)
    write_model(tmp_path / "model", opened.config, opened.vocabularies, "", {**graphs, name: b"no graph"})
    with pytest.raises(ModelError, match=f"{name}: not a graph that fencepost wrote"):
        load(tmp_path / "model")


def test_a_missing_graph_is_named(tmp_path: Path, folder: Path) -> None:
    export_onnx(folder, tmp_path / "model")
    (tmp_path / "model" / SPANS).unlink()
    with pytest.raises(ModelError, match=f"{SPANS} is missing"):
        load(tmp_path / "model")


def test_the_backend_can_be_chosen(folder: Path, exported: Callable[[Precision], Path]) -> None:
    assert load(exported("fp32")).backend_name == "onnx"
    assert load(exported("fp32"), backend="torch").backend_name == "torch"
    with pytest.raises(ModelError, match=f"no {ONNX}"):
        load(folder, backend="onnx")
    with pytest.raises(UsageError, match="not on cuda"):
        load(exported("fp32"), device="cuda", backend="onnx")


def test_an_export_never_takes_the_place_of_its_model(folder: Path) -> None:
    with pytest.raises(UsageError, match="can't overwrite its own model"):
        export_onnx(folder, folder / ".." / folder.name)


@pytest.mark.parametrize("longest", [None, 5, 9])
@pytest.mark.parametrize("plan", [PlanConfig(), *PLANS[:2]], ids=str)
def test_the_mask_is_that_of_torch(plan: PlanConfig, longest: int | None) -> None:
    lengths = np.array([3, 9, 6])
    allowed = AttentionPlan.of(plan, longest).mask(torch.tensor(lengths), 9)
    expected = allowed.numpy() if allowed.dtype == torch.bool else np.isfinite(allowed.numpy())
    np.testing.assert_array_equal(np.isfinite(attention_mask(lengths, 9, plan, longest)), expected)


class Counting:
    """Computes a word's vector as the sum of its letters, and counts the words."""

    def __init__(self) -> None:
        self.words = 0

    def __call__(self, spellings: Any, lengths: Any) -> Any:
        self.words += len(lengths)
        real = np.arange(spellings.shape[1]) < lengths[:, None]
        return np.where(real, spellings, 0).sum(axis=1, keepdims=True).astype(np.float32)


def spell(*words: tuple[int, ...]) -> tuple[Any, Any]:
    spellings = np.zeros((len(words), max(map(len, words))), np.int64)
    for row, word in zip(spellings, words, strict=True):
        row[: len(word)] = word
    return spellings, np.array([len(word) for word in words])


def test_a_word_is_computed_once_whatever_stands_beside_it() -> None:
    compute = Counting()
    cache = WordVectorCache(compute)
    assert cache.vectors(*spell((1, 2), (3,))).tolist() == [[3], [3]]
    assert cache.vectors(*spell((3,), (1, 2, 5, 6), (1, 2))).tolist() == [[3], [14], [3]]
    assert compute.words == 3


def test_words_that_are_spelled_alike_share_a_vector() -> None:
    cache = WordVectorCache(Counting())
    assert cache.vectors(*spell((1, 1), (1, 1), (2,))).tolist() == [[2], [2], [2]]
    assert cache.vectors(*spell((4,), (1, 1), (2, 5))).tolist() == [[4], [2], [7]]
    assert len(cache) == 4


@pytest.mark.parametrize("at_once", [1, 7, 25])
def test_the_cache_keeps_no_more_words_than_it_may(at_once: int) -> None:
    cache = WordVectorCache(Counting(), capacity=10)
    for first in range(0, 100, at_once):
        words = [(first + more, 1) for more in range(at_once)]
        assert cache.vectors(*spell(*words)).tolist() == [[sum(word)] for word in words]
        assert len(cache) <= 10
