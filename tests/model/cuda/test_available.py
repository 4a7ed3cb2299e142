"""Which operations run as kernels or CUDA graphs: what can be said without a GPU."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from fencepost.model.cuda import available
from fencepost.model.dropout import SharedDropout


@pytest.mark.parametrize(
    ("device", "precision", "expected"), [("cuda", "bf16", True), ("cuda", "fp32", False), ("cpu", "bf16", False)]
)
def test_layers_are_recorded_on_a_gpu_in_bf16_alone(device: str, precision: str, expected: bool) -> None:
    assert available.graphs(torch.device(device), precision) == expected


def test_nothing_runs_as_a_kernel_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(available, "has_triton", lambda: True)
    rows = torch.zeros(2, 16)
    assert not available.layer_sums(rows, rows, SharedDropout(0.0, shared=True))
    assert not available.letters(nn.LSTM(16, 16, bidirectional=True), rows)
    assert not available.spans(rows)
    assert not available.charts(rows[0])
