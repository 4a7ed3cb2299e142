"""Imported weights against benepar's sums, written out naively for one short sentence."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

from fencepost.backends.torch import TorchBackend
from fencepost.features.indexer import Indexer
from fencepost.integrations.benepar import import_benepar
from fencepost.integrations.benepar_weights import interleaved
from fencepost.model.parser_model import ParserModel, TorchBatch
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.treebank import Sentence
from tests.integrations.benepar_samples import char_lstm_file

WORDS = ("the", "cat", "sleeps")
LAYER = "encoder.layers.0."
Weights = dict[str, Tensor]


def norm(x: Tensor, name: str, weights: Weights) -> Tensor:
    return F.layer_norm(x, x.shape[-1:], weights[f"{name}.weight"], weights[f"{name}.bias"])


def attended(x: Tensor, weights: Weights) -> Tensor:
    halves = x.chunk(2, -1)
    total = torch.zeros_like(x)
    for head in range(2):
        per_half = [
            torch.einsum("td,dks->kts", half, weights[f"{LAYER}self_attn.w_qkv_{name}"][head])
            for name, half in zip("cp", halves, strict=True)
        ]
        query, key, _ = torch.cat(per_half, -1)
        share = (query @ key.T / 4**0.5).softmax(-1)
        outputs = [
            share @ value @ weights[f"{LAYER}self_attn.w_o_{name}"][head]
            for name, (_, _, value) in zip("cp", per_half, strict=True)
        ]
        total = total + torch.cat(outputs, -1)
    return total


def fed_forward(x: Tensor, weights: Weights) -> Tensor:
    outputs = []
    for name, half in zip("cp", x.chunk(2, -1), strict=True):
        inner, outer = (f"{LAYER}linear{number}.linear_{name}" for number in (1, 2))
        hidden = F.linear(half, weights[f"{inner}.weight"], weights[f"{inner}.bias"]).relu()
        outputs.append(F.linear(hidden, weights[f"{outer}.weight"], weights[f"{outer}.bias"]))
    return torch.cat(outputs, -1)


def scored(x: Tensor, name: str, weights: Weights) -> Tensor:
    hidden = norm(F.linear(x, weights[f"{name}.0.weight"], weights[f"{name}.0.bias"]), f"{name}.1", weights).relu()
    return F.linear(hidden, weights[f"{name}.3.weight"], weights[f"{name}.3.bias"])


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[ParserModel, TorchBatch, Weights, Tensor]:
    """Our model, a batch of one sentence, benepar's weights, and y_t as benepar arranges it: even, then odd."""
    torch.manual_seed(0)
    folder, saved = tmp_path_factory.mktemp("benepar"), char_lstm_file()
    torch.save(saved, folder / "benepar.pt")
    import_benepar(folder / "benepar.pt", folder / "model")
    opened = ModelFolder.open(folder / "model")
    model = TorchBackend.load(opened).model.eval().requires_grad_(False)
    batch = TorchBatch.of(Indexer(opened.config, opened.vocabularies).batch([Sentence(WORDS)]))
    weights = saved["state_dict"]
    content = model.lexical(batch)
    x = norm(torch.cat([content, weights["add_timing.timing_table"][: len(content)]], -1), "add_timing.norm", weights)
    x = norm(x + attended(x, weights), f"{LAYER}norm_attn", weights)
    x = norm(x + fed_forward(x, weights), f"{LAYER}norm_ff", weights)
    return model, batch, weights, torch.cat([x[:, 0::2], x[:, 1::2]], -1)


def test_spans_are_scored_as_benepar_does(sample: tuple[ParserModel, TorchBatch, Weights, Tensor]) -> None:
    model, batch, weights, y = sample
    fenceposts = torch.cat([y[:-1, :8], y[1:, 8:]], -1)
    spans = [(start, start + width) for width in (1, 2, 3) for start in range(4 - width)]
    expected = torch.stack([scored(fenceposts[end] - fenceposts[start], "f_label", weights) for start, end in spans])
    torch.testing.assert_close(model(batch).span_scores, F.pad(expected, (1, 0)), atol=1e-5, rtol=1e-5)


def test_tags_are_scored_as_benepar_does(sample: tuple[ParserModel, TorchBatch, Weights, Tensor]) -> None:
    model, batch, weights, y = sample
    tag_scores = model(batch).tag_scores
    assert tag_scores is not None
    torch.testing.assert_close(tag_scores[:, 3:], scored(y[1:-1], "f_tag", weights), atol=1e-5, rtol=1e-5)


def test_halves_become_even_and_odd_coordinates() -> None:
    assert interleaved(torch.tensor([1, 2, 3, 7, 8, 9])).tolist() == [1, 7, 2, 8, 3, 9]
