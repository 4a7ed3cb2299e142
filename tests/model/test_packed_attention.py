"""Attention without padding, and layers that play from recordings, against the layers as they are: on a GPU."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from model_samples import SIZES, layout_of, small_config
from torch import Tensor

from fencepost.config import Config
from fencepost.model.build import build_model
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.model.layout import Layout
from fencepost.model.plan import AttentionPlan
from fencepost.model.precision import lower
from fencepost.model.recordings import Recordings, _filled

ON_A_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="is about a GPU")
KINDS = pytest.mark.parametrize("kind", ["dense", "block", "position"])


def encoder(kind: str, dropout: float = 0.0) -> SelfAttentiveEncoder:
    """In bf16, as strong as after training."""
    projection, reads = (
        ("block", "input") if kind == "block" else ("dense", "position" if kind == "position" else "input")
    )
    sizes = {"d_model": 64, "d_k": 16, "d_v": 16, "d_ff": 128, "max_length": 64}
    config: Config = small_config(["words"], projection=projection, reads=reads, **sizes)
    drop = replace(config.encoder, attention_dropout=dropout, relu_dropout=dropout, residual_dropout=dropout)
    torch.manual_seed(0)
    found = build_model(replace(config, encoder=drop), SIZES).encoder
    assert isinstance(found, SelfAttentiveEncoder)
    for layer in found.layers:
        for weight in layer.attention.parameters():
            weight.data.mul_(30)
    lower(found)
    return found.cuda()


def on_gpu(*lengths: int) -> tuple[Tensor, Layout]:
    torch.manual_seed(1)
    return torch.randn(sum(lengths), 32).cuda(), Layout.of(np.array(lengths), torch.device("cuda"))


def run(model: SelfAttentiveEncoder, content: Tensor, layout: Layout, plan: AttentionPlan) -> list[Tensor]:
    """What comes out, and all gradients."""
    content = content.clone().requires_grad_()
    y = model(content, layout, plan)
    weight = torch.linspace(-1, 1, y.numel(), device=y.device).view_as(y)
    used = [parameter for parameter in model.parameters() if parameter.requires_grad]
    gradients = torch.autograd.grad((y * weight).sum(), [content, *used], allow_unused=True)
    return [y.detach().clone(), *(torch.zeros(1) if gradient is None else gradient.float() for gradient in gradients)]


def assert_near(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    for one, other in zip(found, expected, strict=True):
        assert (one - other).norm() <= tolerance * (1e-3 + other.norm())


@ON_A_GPU
@KINDS
def test_attention_without_padding_is_that_of_a_window_wider_than_the_sentences(kind: str) -> None:
    model, (content, layout) = encoder(kind).train(), on_gpu(3, 40, 2, 17, 1)
    assert_near(
        run(model, content, layout, AttentionPlan()), run(model, content, layout, AttentionPlan(window=40)), 0.03
    )


@ON_A_GPU
@KINDS
def test_recorded_layers_give_the_same_as_the_layers(kind: str) -> None:
    model = encoder(kind).train()
    recordings = Recordings(model.layers, AttentionPlan())
    for lengths in ([3, 40, 2], [9], [3, 40, 2], [60] * 20, [7] * 70, [9]):
        content, layout = on_gpu(*lengths)
        model.recordings = None
        expected = run(model, content, layout, AttentionPlan())
        model.recordings = recordings
        assert_near(run(model, content, layout, AttentionPlan()), expected, 0.02)


@ON_A_GPU
def test_recorded_dropout_depends_on_the_seed_alone() -> None:
    model, (content, layout) = encoder("block", dropout=0.3).train(), on_gpu(5, 20)
    model.recordings = Recordings(model.layers, AttentionPlan())

    def drawn(seed: int) -> Tensor:
        torch.manual_seed(seed)
        return run(model, content, layout, AttentionPlan())[0]

    first, second, other = drawn(1), drawn(1), drawn(2)  # the first of them records
    assert torch.equal(first, second)
    assert not torch.equal(first, other)


def test_spare_rows_are_a_sequence_of_their_own_after_empty_ones() -> None:
    sequence, starts = _filled(layout_of(2, 3), used=5, rows=8, count=4)
    assert sequence.tolist() == [0, 0, 1, 1, 1, 3, 3, 3]
    assert starts.tolist() == [0, 2, 5, 5, 8]
