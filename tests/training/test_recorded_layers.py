"""The parts of a model that training records as CUDA graphs, as far as it can be said without a GPU."""

from __future__ import annotations

import pytest
import torch

from fencepost.training.recorded_layers import graphs_of
from tests.model.model_samples import small_config, small_model


@pytest.mark.parametrize(
    ("device", "precision", "kind", "is_recorded"),
    [
        ("cuda", "bf16", "attention", True),
        ("cuda", "bf16", "lstm", False),
        ("cuda", "fp32", "attention", False),
        ("cpu", "bf16", "attention", False),
    ],
)
def test_a_self_attentive_encoder_is_recorded_on_a_gpu_in_bf16(
    monkeypatch: pytest.MonkeyPatch, device: str, precision: str, kind: str, is_recorded: bool
) -> None:
    monkeypatch.setattr(torch.cuda, "graph_pool_handle", lambda: None)
    model = small_model(small_config(kind=kind))
    parts = [part for part, _ in graphs_of(model, torch.device(device), precision)]
    assert parts == ([model.encoder] if is_recorded else [])
