"""An export runs on torch too: what is read back from its graphs is the model that was exported."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fencepost.backends.exported_weights import load_exported_weights
from fencepost.backends.onnx import OnnxBackend
from fencepost.backends.torch import TorchBackend, load_model, vocab_sizes
from fencepost.config.settings import Config, PretrainedConfig
from fencepost.errors import ModelError
from fencepost.export.embedding import STEPS
from fencepost.export.linear import COLUMN_STEPS
from fencepost.export.onnx import Precision, onnx_graphs
from fencepost.features.encoder_families import ENCODER_FAMILIES
from fencepost.features.indexer import Indexer
from fencepost.features.lexical_kinds import LETTERS, SUBWORDS
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.mpnet import bucket_of
from fencepost.model.parser_model import ParserModel
from fencepost.parsing.load import load
from fencepost.storage.model_files import ONNX, SPANS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_writer import write_model
from fencepost.storage.onnx_graph import read_onnx_graph
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable
from tests.backends.test_onnx import LEXICALS, PLANS, TREES, random_sentences, with_plan
from tests.model.model_samples import VARIANTS, small_config
from tests.pretrained_samples import pretrained_files

LONGEST = json.loads(pretrained_files("mpnet").encoder)["max_position_embeddings"]
ENCODERS = [name for name, family in ENCODER_FAMILIES.items() if family.exportable]


def over_encoder(kind: str, **pretrained: Any) -> tuple[Config, Vocabularies]:
    config = replace(
        small_config(), lexical=("pretrained", "char_lstm"), pretrained=PretrainedConfig(model=kind, **pretrained)
    )
    without = Vocabularies.of(TREES, small_config())
    return config, replace(without, pretrained=pretrained_files(kind))


def from_trees(config: Config) -> tuple[Config, Vocabularies]:
    return config, Vocabularies.of(TREES, config)


MODELS: dict[str, Callable[[], tuple[Config, Vocabularies]]] = (
    {
        f"encoder {name}": lambda variant=variant: from_trees(small_config(**variant))
        for name, variant in VARIANTS.items()
    }
    | {
        f"lexical {'+'.join(lexical)}": lambda lexical=lexical: from_trees(small_config(lexical))
        for lexical in LEXICALS
    }
    | {f"over {kind}": lambda kind=kind: over_encoder(kind) for kind in ENCODERS}
    | {"over a mix of layers": lambda: over_encoder("bert", layers="mix")}
    | {"over an encoder with no layers on top": lambda: from_trees(small_config(layers=0))}
)


@pytest.fixture(params=MODELS.values(), ids=list(MODELS))
def sample(request: pytest.FixtureRequest) -> tuple[Config, Vocabularies, ParserModel]:
    config, vocabularies = request.param()
    return config, vocabularies, random_model(config, vocabularies)


def random_model(config: Config, vocabularies: Vocabularies) -> ParserModel:
    """No weight is 0 or 1, and no two are equal."""
    torch.manual_seed(1)
    model = build_model(config, vocab_sizes(vocabularies)).eval()
    for weight in model.parameters():
        weight.data.add_(0.3 * torch.randn_like(weight))
    return model


def export(
    path: Path, config: Config, vocabularies: Vocabularies, model: ParserModel, precision: Precision
) -> ModelFolder:
    write_model(path, config, vocabularies, "a card\n", onnx_graphs(model, config, precision))
    return ModelFolder.open(path)


def unfolded(model: ParserModel) -> dict[str, Tensor]:
    """A model's weights. Those that an export folds together have the form in which they come back."""
    weights = dict(model.state_dict())
    for name in list(weights):
        if name.endswith("token_type_embeddings.weight"):
            positions = name.replace("token_type", "position")
            weights[positions] = weights[positions] + weights[name][0]
            weights[name] = torch.zeros_like(weights[name])
        if name.endswith("mix.weights"):
            weights[name] = weights[name].log_softmax(0)
        if name.endswith("relative_attention_bias.weight"):  # the graph has no number for a distance that can't occur
            reached = reached_buckets(name, len(weights[name]))
            weights[name] = torch.zeros_like(weights[name]).index_copy(0, reached, weights[name][reached])
    return weights


def reached_buckets(name: str, buckets: int) -> Tensor:
    if ".block." not in name:  # MPNet
        reached: Tensor = bucket_of(torch.arange(1 - LONGEST, LONGEST), buckets).unique()
        return reached
    # T5's encoder has a bucket for sub-tokens that come 0 places after. Its decoder reads nothing that comes after.
    empty = None if ".decoder." in name else buckets // 2
    return torch.tensor([bucket for bucket in range(buckets) if bucket != empty])


def test_in_fp32_every_weight_comes_back(tmp_path: Path, sample: tuple[Config, Vocabularies, ParserModel]) -> None:
    config, vocabularies, model = sample
    found = load_model(export(tmp_path / "out", config, vocabularies, model, "fp32")).state_dict()
    expected = unfolded(model)
    assert found.keys() == expected.keys()
    for name, weight in expected.items():
        # Queries were multiplied with a scale, and a mix is a product with a softmax: they are rounded.
        rounded = any(part in name for part in ("projection.weight", "query", ".q.", "mix."))
        torch.testing.assert_close(found[name], weight, rtol=3e-7 if rounded else 0, atol=1e-6 if "mix." in name else 0)


def test_in_int8_every_weight_comes_back_within_half_a_step(
    tmp_path: Path, sample: tuple[Config, Vocabularies, ParserModel]
) -> None:
    config, vocabularies, model = sample
    found = load_model(export(tmp_path / "out", config, vocabularies, model, "int8")).state_dict()
    changed = 0
    for name, weight in unfolded(model).items():
        inputs = 1 if "lexical" in name and ".encoder.layers." not in name else -2  # the axis of a matrix to sum over
        steps = STEPS if "_embeddings" in name or "shared" in name else COLUMN_STEPS
        step = weight.abs().amax(inputs, keepdim=True) / steps if weight.ndim > 1 else torch.zeros(())
        assert ((found[name] - weight).abs() <= 0.501 * step + 2e-6).all(), name
        changed += not torch.equal(found[name], weight)
    assert changed or config.encoder.layers == 0 or config.encoder.kind == "lstm"  # there nothing is quantised


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_exporting_again_gives_the_same_graphs(
    tmp_path: Path, sample: tuple[Config, Vocabularies, ParserModel], precision: Precision
) -> None:
    config, vocabularies, model = sample
    folder = export(tmp_path / "out", config, vocabularies, model, precision)
    for name, content in onnx_graphs(load_model(folder).eval(), config, precision).items():
        (tmp_path / name).write_bytes(content)
        if name == SUBWORD_TABLE:
            assert_same_table(folder.path / name, tmp_path / name)
            continue
        before, after = read_onnx_graph(folder.path / name), read_onnx_graph(tmp_path / name)
        assert after.nodes == before.nodes
        assert after.constants.keys() == before.constants.keys()
        for constant, values in before.constants.items():
            exact = 0 if values.dtype == np.int8 else 1e-6
            np.testing.assert_allclose(after.constants[constant], values, rtol=exact, atol=1e-12)


def assert_same_table(before: Path, after: Path) -> None:
    tables = [SubwordTable(path) for path in (before, after)]
    assert len(tables[0]) == len(tables[1])
    expected, found = (table.vectors(np.arange(len(table))) for table in tables)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("plan", PLANS, ids=str)
def test_what_a_plan_switches_off_stays_off(tmp_path: Path, plan: Any) -> None:
    config, vocabularies = from_trees(with_plan(plan))
    model = random_model(config, vocabularies)
    folder = export(tmp_path / "out", config, vocabularies, model, "fp32")
    batch = Indexer(config, vocabularies).batch(random_sentences(10))
    expected = TorchBackend(model, config, torch.device("cpu")).score(batch).spans.packed()
    np.testing.assert_allclose(TorchBackend.load(folder).score(batch).spans.packed(), expected, rtol=1e-4, atol=1e-4)


def test_in_int8_only_the_rounding_of_activations_differs_between_backends(tmp_path: Path) -> None:
    config, vocabularies = from_trees(small_config())
    folder = export(tmp_path / "out", config, vocabularies, random_model(config, vocabularies), "int8")
    batch = Indexer(config, vocabularies).batch(random_sentences(30))
    on_torch, on_onnx = (kind.load(folder).score(batch).spans.packed() for kind in (TorchBackend, OnnxBackend))
    assert 0 < np.abs(on_torch - on_onnx).mean() < 0.03 * np.abs(on_onnx).mean()


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_reading_an_export_needs_neither_onnx_nor_onnx_runtime(tmp_path: Path, precision: Precision) -> None:
    config, vocabularies = over_encoder("bert", layers="mix")
    export(tmp_path / "out", config, vocabularies, random_model(config, vocabularies), precision)
    program = f"""
import sys
for name in ("onnx", "onnxruntime", "transformers"):
    sys.modules[name] = None  # importing it is now an error
import fencepost
print(fencepost.load({str(tmp_path / "out")!r}, backend="torch").parse([["the", "cat", "sleeps"]])[0].words())
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert answer.stdout == "['the', 'cat', 'sleeps']\n"


def test_the_random_state_of_the_caller_stays(tmp_path: Path) -> None:
    config, vocabularies = from_trees(small_config())
    folder = export(tmp_path / "out", config, vocabularies, random_model(config, vocabularies), "int8")
    before = torch.get_rng_state()
    load_model(folder)
    assert torch.equal(torch.get_rng_state(), before)


@pytest.fixture
def exported(tmp_path: Path) -> ModelFolder:
    config, vocabularies = over_encoder("mpnet", layers="mix")
    return export(tmp_path / "out", config, vocabularies, random_model(config, vocabularies), "int8")


@pytest.mark.parametrize("name", [ONNX, SPANS, LETTERS, SUBWORDS])
def test_a_file_that_is_no_graph_is_named(tmp_path: Path, exported: ModelFolder, name: str) -> None:
    files = {file: (exported.path / file).read_bytes() for file in (ONNX, SPANS, LETTERS, SUBWORDS)}
    write_model(tmp_path / "bad", exported.config, exported.vocabularies, "", {**files, name: b"no graph"})
    with pytest.raises(ModelError, match=f"{name}: not a graph that fencepost wrote"):
        load(tmp_path / "bad", backend="torch")


@pytest.mark.parametrize("name", [SPANS, LETTERS, SUBWORDS])
def test_a_missing_graph_is_named(tmp_path: Path, exported: ModelFolder, name: str) -> None:
    files = {file: (exported.path / file).read_bytes() for file in (ONNX, SPANS, LETTERS, SUBWORDS) if file != name}
    write_model(tmp_path / "part", exported.config, exported.vocabularies, "", files)
    with pytest.raises(ModelError, match=f"{name} is not listed"):
        load(tmp_path / "part", backend="torch")


OTHERS = {
    "more layers": small_config(layers=3),
    "fewer layers": small_config(layers=1),
    "another width": small_config(d_ff=64),
    "dense matrices": small_config(projection="dense"),
    "an LSTM": small_config(kind="lstm"),
    "no LSTM over letters": replace(small_config(), lexical=("words", "char_concat")),
    "no tags": replace(small_config(), scorer=replace(small_config().scorer, predict_tags=False)),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_graphs_of_another_model_are_refused(tmp_path: Path, other: Config) -> None:
    config, vocabularies = from_trees(small_config())
    graphs = onnx_graphs(random_model(config, vocabularies), config)
    write_model(tmp_path / "mixed", other, vocabularies, "", graphs)
    with pytest.raises(ModelError, match=r"weights, config\.toml and vocab\.json don't agree: \w+\.onnx: "):
        load(tmp_path / "mixed", backend="torch")


@pytest.mark.parametrize("name", [ONNX, SPANS, LETTERS, SUBWORDS])
def test_damage_either_changes_numbers_or_is_an_error_that_names_the_file(exported: ModelFolder, name: str) -> None:
    source, path = random.Random(name), exported.path / name
    whole = path.read_bytes()
    model = load_model(exported)
    messages = []
    for _ in range(150):
        damaged = bytearray(whole[: source.randrange(1, len(whole))] if source.random() < 0.3 else whole)
        for _ in range(source.randint(1, 4)):
            damaged[source.randrange(len(damaged))] = source.randrange(256)
        path.write_bytes(damaged)
        try:
            load_exported_weights(exported, model)
        except ModelError as error:
            messages.append(error.message)
    assert len(messages) > 20
    assert [message for message in messages if name not in message] == []
