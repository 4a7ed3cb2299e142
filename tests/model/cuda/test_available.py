"""Which operations run as kernels or CUDA graphs: what can be said without a GPU."""

from __future__ import annotations

import pytest
import torch
from torch import nn
from torch._subclasses.fake_tensor import FakeTensorMode

from fencepost.model.cuda import available
from fencepost.model.dropout import SharedDropout
from fencepost.model.heads import HeadSizes


@pytest.mark.parametrize(
    ("device", "precision", "expected"), [("cuda", "bf16", True), ("cuda", "fp32", False), ("cpu", "bf16", False)]
)
def test_layers_are_recorded_on_a_gpu_in_bf16_alone(device: str, precision: str, expected: bool) -> None:
    assert available.graphs(torch.device(device), precision) == expected


def operations(device: str) -> list[bool]:
    """Whether there are kernels for attention, sums, letters, spans and charts on a device that need not be there."""
    with FakeTensorMode():
        rows, lstm = torch.zeros(2, 16, device=device), nn.LSTM(16, 16, bidirectional=True)
    return [
        available.attention(HeadSizes(2, 8, 8), rows.dtype, rows.device),
        available.layer_sums(rows, rows, SharedDropout(0.0, shared=True)),
        available.letters(lstm, rows),
        available.spans(rows),
        available.charts(rows),
    ]


@pytest.mark.parametrize(
    ("device", "has_triton", "capability", "expected"),
    [
        ("cuda", True, (8, 0), True),
        ("cuda", True, (9, 0), True),
        ("cuda", True, (7, 5), False),
        ("cuda", False, (9, 0), False),
        ("cpu", True, (9, 0), False),
    ],
)
def test_all_kernels_need_triton_and_a_gpu_that_it_supports(
    monkeypatch: pytest.MonkeyPatch, device: str, has_triton: bool, capability: tuple[int, int], expected: bool
) -> None:
    monkeypatch.setattr(available, "has_triton", lambda: has_triton)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)
    assert operations(device) == [expected] * 5
