"""Our own BERT against that of the transformers library."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
from torch import Tensor
from transformers import AutoConfig, AutoModel

from fencepost.features.encoder_families import ENCODER_FAMILIES
from fencepost.model.bert import Bert, is_ours
from fencepost.model.precision import lower
from fencepost.model.sequences import Layout
from tests.pretrained_samples import PIECES, pretrained_files

LENGTHS = [7, 1, 12, 3]
OURS = [name for name, family in ENCODER_FAMILIES.items() if family.ours]


def both(kind: str, **settings: object) -> tuple[Bert, torch.nn.Module]:
    """The same weights twice, strong enough that attention is worth something."""
    text = pretrained_files(kind, **settings).encoder
    table = json.loads(text)
    theirs = AutoModel.from_config(AutoConfig.for_model(table.pop("model_type"), **table)).eval()
    torch.manual_seed(0)
    for parameter in theirs.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    ours = Bert(text).eval()
    weights = {name: tensor for name, tensor in theirs.state_dict().items() if "pooler" not in name}
    ours.load_state_dict(weights)
    return ours, theirs


def subwords() -> tuple[Tensor, Layout]:
    """Some of them may be the padding token, which may stand in a text."""
    torch.manual_seed(1)
    ids = torch.randint(1, len(PIECES), (sum(LENGTHS),))
    ids[3], ids[9], ids[11] = 0, 1, 2
    return ids, Layout.of(np.array(LENGTHS), torch.device("cpu"))


@pytest.mark.parametrize("settings", [{}, {"hidden_act": "relu"}, {"pad_token_id": 2}])
@pytest.mark.parametrize("kind", OURS)
def test_every_layer_is_that_of_the_library(kind: str, settings: dict[str, object]) -> None:
    (ours, theirs), (ids, layout) = both(kind, **settings), subwords()
    with torch.no_grad():
        found = ours(ids, layout)
        mask = layout.pad(torch.ones_like(ids))
        expected = theirs(input_ids=layout.pad(ids), attention_mask=mask, output_hidden_states=True).hidden_states
    assert len(found) == len(expected) == 3
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, layout.unpad(other), atol=1e-5, rtol=1e-4)


def test_in_bf16_the_vectors_are_near_and_sums_stay_in_fp32() -> None:
    (ours, _), (ids, layout) = both("bert"), subwords()
    with torch.no_grad():
        exact = ours(ids, layout)[-1]
        lower(ours)
        rough = ours(ids, layout)[-1]
    assert ours.get_parameter("encoder.layer.0.attention.self.query.weight").dtype == torch.bfloat16
    assert rough.dtype == torch.float32
    assert (rough - exact).norm() < 0.05 * exact.norm()


def test_dropout_falls_on_sums_and_attention_in_training_alone() -> None:
    (ours, _), (ids, layout) = both("bert"), subwords()
    with torch.no_grad():
        quiet = ours(ids, layout)[-1]
        noisy = ours.train()(ids, layout)[-1]
    assert torch.equal(quiet, ours.eval()(ids, layout)[-1])
    assert not torch.allclose(quiet, noisy)


@pytest.mark.parametrize(
    "setting",
    [
        {"model_type": "deberta-v2"},
        {"hidden_act": "silu"},
        {"position_embedding_type": "relative_key"},
        {"is_decoder": True},
    ],
)
def test_what_is_built_otherwise_is_left_to_the_library(setting: dict[str, object]) -> None:
    table = json.loads(pretrained_files("bert").encoder)
    assert is_ours(table)
    assert not is_ours(table | setting)
