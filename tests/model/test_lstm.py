"""The LSTM encoder."""

from __future__ import annotations

import pytest
import torch

from fencepost.errors import ConfigError
from fencepost.model.lstm import LSTMEncoder
from fencepost.model.plan import AttentionPlan
from tests.model.model_samples import layout_of

LAYOUT = layout_of(3, 5, 1)


def test_even_coordinates_are_forward_states_and_odd_ones_backward() -> None:
    torch.manual_seed(0)
    encoder, content = LSTMEncoder(8, 2, 0.0), torch.randn(9, 8)
    y = encoder(content, LAYOUT, AttentionPlan())
    states, _ = encoder.lstm(content[3:8])
    torch.testing.assert_close(y[3:8, 0::2], states[:, :4])
    torch.testing.assert_close(y[3:8, 1::2], states[:, 4:])


def test_dropout_falls_between_layers_in_training_only() -> None:
    encoder, content = LSTMEncoder(8, 2, 0.5), torch.randn(9, 8)
    assert not torch.allclose(encoder(content, LAYOUT, AttentionPlan()), encoder(content, LAYOUT, AttentionPlan()))
    encoder.eval()
    assert torch.equal(encoder(content, LAYOUT, AttentionPlan()), encoder(content, LAYOUT, AttentionPlan()))


def test_an_lstm_follows_no_attention_plan() -> None:
    with pytest.raises(ConfigError, match="LSTM"):
        LSTMEncoder(8, 1, 0.4)(torch.randn(9, 8), LAYOUT, AttentionPlan(window=3))
