"""The distances of T5's attention, and encoders whose distances make no sense."""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
from transformers import T5Config
from transformers.models.t5.modeling_t5 import T5Attention

from fencepost.features.pretrained_files import read_encoder_settings
from fencepost.model.t5 import by_distance
from tests.pretrained_samples import pretrained_files


def attention(*, is_decoder: bool, farthest: int) -> Any:
    config = T5Config(num_heads=2, relative_attention_max_distance=farthest, is_decoder=is_decoder)
    return T5Attention(config, has_relative_attention_bias=True, layer_idx=0)


@pytest.mark.parametrize("is_decoder", [False, True])
def test_distances_are_those_of_all_pairs(is_decoder: bool) -> None:
    asked = attention(is_decoder=is_decoder, farthest=50)
    square = asked.compute_bias(51, 51)[0]
    assert torch.equal(by_distance(asked), torch.cat([square[:, -1], square[:, 0, 1:]], dim=1))


def test_far_distances_take_little_memory() -> None:
    assert by_distance(attention(is_decoder=False, farthest=2**20)).shape == (2, 2**21 + 1)


@pytest.mark.parametrize(
    "change",
    [
        {"relative_attention_num_buckets": 0},
        {"relative_attention_num_buckets": 2},
        {"relative_attention_num_buckets": 8.5},
        {"relative_attention_max_distance": 0},
        {"relative_attention_max_distance": 16},
        {"relative_attention_max_distance": None},
        {"relative_attention_max_distance": 10**400},
    ],
    ids=lambda change: f"{change!s:.50}",
)
def test_distances_that_make_no_sense_are_refused(change: dict[str, Any]) -> None:
    settings = json.loads(pretrained_files("t5").encoder)
    with pytest.raises(ValueError, match=r"relative.attention"):
        read_encoder_settings(json.dumps({"relative_attention_num_buckets": 32, **settings, **change}))
