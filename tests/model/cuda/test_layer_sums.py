"""Sums, norms, biases, ReLU and dropout between the products of a layer, against torch's own operations."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.model.cuda.layer_sums import add_and_norm_in_one_launch, relu_and_drop_in_one_launch
from fencepost.model.dropout import SharedDropout
from fencepost.model.encoder import ResidualNorm, relu_and_drop
from fencepost.model.linear import join_blocks
from fencepost.model.sequences import Layout
from tests.model.interpreted import run_interpreted
from tests.model.model_samples import layout_of

LENGTHS = 3, 5, 1
ON_A_GPU = pytest.mark.skipif(not torch.cuda.is_available(), reason="is about a GPU")


def mask_of(*shape: int, p: float) -> Tensor:
    return F.dropout(torch.ones(shape), p)


# On the CPU


@pytest.mark.parametrize("blocks", [1, 2])
def test_a_change_is_added_to_its_block_and_the_sum_normed(blocks: int) -> None:
    torch.manual_seed(0)
    norm, layout = ResidualNorm(8), layout_of(*LENGTHS)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x, change, bias = torch.randn(9, 8), torch.randn(blocks, 9, 8 // blocks), torch.randn(blocks, 1, 8 // blocks)
    rows = norm(x, change, bias, SharedDropout(0.0, shared=True), layout)
    total = x + torch.cat(list(change), 1) + bias.flatten()
    centred = total - total.mean(1, keepdim=True)
    expected = centred / (total.var(1, unbiased=False, keepdim=True) + norm.eps).sqrt() * norm.weight + norm.bias
    torch.testing.assert_close(rows.x, expected)
    assert rows.low is rows.x


def test_dropout_falls_on_what_is_added_and_not_on_x() -> None:
    torch.manual_seed(0)
    layout = layout_of(*LENGTHS)
    norm, dropout = ResidualNorm(8, elementwise_affine=False), SharedDropout(0.999999, shared=True)
    x = torch.randn(9, 8)
    rows = norm(x, torch.randn(2, 9, 4), torch.randn(2, 1, 4), dropout, layout)
    torch.testing.assert_close(rows.x, F.layer_norm(x, (8,)))


def test_relu_comes_after_the_bias_and_some_of_it_is_dropped() -> None:
    torch.manual_seed(0)
    layout = layout_of(*LENGTHS)
    h, bias = torch.randn(2, 9, 6), torch.randn(2, 1, 6)
    dropped = relu_and_drop(h, bias, SharedDropout(0.5, shared=True), layout)
    kept = dropped != 0
    torch.testing.assert_close(dropped[kept], 2 * (h + bias).relu()[kept])
    assert kept.float().mean() < 0.5


# Triton's kernels

INTERPRETED = """
    import torch
    from fencepost.model.cuda import layer_kernels
    from tests.model.cuda.test_layer_sums import (
        assert_dropout_like_torch, assert_nan_stays_nan, assert_norm_like_torch, assert_relu_like_torch
    )

    forms = [(1, 16, True, True), (2, 6, False, True), (2, 20, True, False), (1, 5, False, False)]
    for blocks, size, bias, mask in forms:
        assert_norm_like_torch("cpu", blocks, size, bias, mask, torch.float32, 1e-5)
        assert_relu_like_torch("cpu", blocks, size, mask, torch.float32, 1e-5)
    assert_norm_like_torch("cpu", 2, 8, True, True, torch.float16, 2e-3)
    assert_norm_like_torch("cpu", 2, 8, True, True, torch.float16, 2e-3, copy_is_read=False)
    assert_relu_like_torch("cpu", 2, 8, True, torch.float16, 2e-3)
    assert_nan_stays_nan()
    assert_dropout_like_torch()
    layer_kernels.PROGRAMS = 2  # each has several rows
    assert_norm_like_torch("cpu", 2, 6, True, True, torch.float32, 1e-5)
    assert_relu_like_torch("cpu", 2, 6, True, torch.float32, 1e-5)
"""


def test_kernels_agree_with_torch_when_interpreted() -> None:
    run_interpreted(INTERPRETED)


@ON_A_GPU
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("blocks", [1, 2])
@pytest.mark.parametrize("given", [True, False])
def test_kernels_agree_with_torch_on_a_gpu(dtype: torch.dtype, blocks: int, given: bool) -> None:
    tolerance = 1e-5 if dtype == torch.float32 else 1e-2
    for size in (24, 512, 1000):
        assert_norm_like_torch("cuda", blocks, size, given, given, dtype, tolerance, rows=2_000)
        assert_relu_like_torch("cuda", blocks, size, given, dtype, tolerance, rows=2_000)


@ON_A_GPU
def test_a_gpu_chooses_the_kernels() -> None:
    gpu = torch.device("cuda")
    layout = Layout.of(np.array(LENGTHS), gpu)
    norm, change = ResidualNorm(16).to(gpu), torch.randn(2, 9, 8, dtype=torch.bfloat16, device=gpu)
    x, unshared = torch.randn(9, 16, device=gpu), SharedDropout(0.1, shared=False)
    assert norm(x, change, None, unshared.eval(), layout).low.dtype == torch.bfloat16
    assert norm(x, change, None, unshared.train(), layout).low.dtype == torch.float32  # each row has its own mask


def assert_norm_like_torch(
    device: str,
    blocks: int,
    size: int,
    has_bias: bool,
    has_mask: bool,
    low: torch.dtype,
    tolerance: float,
    rows: int = 9,
    copy_is_read: bool = True,
) -> None:
    """Both outputs and all gradients of a sum of them with random weights."""
    torch.manual_seed(0)
    d = blocks * size
    sequence = torch.arange(rows) // 3
    norm = nn.LayerNorm(d)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    x = torch.randn(rows, d)
    change = torch.randn(blocks, rows, size).to(low)
    bias = torch.randn(blocks, 1, size).to(low) if has_bias else None
    mask = mask_of(int(sequence[-1]) + 1, d, p=0.25) if has_mask else None
    weights = torch.randn(2, rows, d)

    def results(fused: bool) -> list[Tensor]:
        place = torch.device(device)
        given = [tensor for tensor in (x, change, bias, norm.weight, norm.bias) if tensor is not None]
        leaves = [nn.Parameter(tensor.detach().clone().to(place)) for tensor in given]
        x_, change_, *bias_, gamma, beta = leaves
        mask_ = None if mask is None else mask.to(place)
        norm_ = nn.LayerNorm(d)
        norm_.weight, norm_.bias = gamma, beta
        bias_or_none = bias_[0] if bias_ else None
        if fused:
            z, copy = add_and_norm_in_one_launch(x_, change_, bias_or_none, mask_, sequence.to(place), norm_)
        else:
            added = join_blocks(change_.float() + (0 if bias_or_none is None else bias_or_none.float()))
            z = copy = norm_(x_ + (added if mask_ is None else added * mask_[sequence.to(place)]))
        total = (z * weights[0].to(place)).sum()
        if copy_is_read:
            total = total + (copy.float() * weights[1].to(place)).sum()
        return [z, copy, *torch.autograd.grad(total, leaves)]

    assert_near(results(fused=True), results(fused=False), tolerance)


def assert_relu_like_torch(
    device: str, blocks: int, size: int, has_mask: bool, dtype: torch.dtype, tolerance: float, rows: int = 9
) -> None:
    torch.manual_seed(0)
    place = torch.device(device)
    sequence = (torch.arange(rows) // 3).to(place)
    mask = mask_of(blocks, (rows + 2) // 3, size, p=0.25).to(place) if has_mask else None
    h = torch.randn(blocks, rows, size).to(place, dtype).requires_grad_()
    bias = torch.randn(blocks, 1, size).to(place, dtype).requires_grad_()
    weights = torch.randn(blocks, rows, size).to(place)
    found = relu_and_drop_in_one_launch(h, bias, mask, sequence, 1 / 0.75 if has_mask else 1.0)
    expected = (h.float() + bias.float()).relu()
    if mask is not None:
        expected = expected * mask[:, sequence]
    fused, plain = ([y, *torch.autograd.grad((y.float() * weights).sum(), (h, bias))] for y in (found, expected))
    assert_near(fused, plain, tolerance)


def assert_nan_stays_nan() -> None:
    h = torch.full((1, 2, 4), torch.nan, requires_grad=True)
    dropped = relu_and_drop_in_one_launch(h, torch.zeros(1, 1, 4), None, torch.zeros(2, dtype=torch.long), 1.0)
    assert dropped.isnan().all()
    dropped.sum().backward()
    assert h.grad is not None
    assert (h.grad == 1).all()


def assert_dropout_like_torch() -> None:
    """What the kernels do with masks that they draw themselves, and in use, where there are none."""
    layout = layout_of(*LENGTHS)
    norm, dropout = ResidualNorm(8), SharedDropout(0.3, shared=True)
    x, change, bias = torch.randn(9, 8), torch.randn(2, 9, 4), torch.randn(2, 1, 4)
    change.requires_grad_()

    def results(fused: bool) -> list[Tensor]:
        with mock.patch("fencepost.model.cuda.available.layer_sums", return_value=fused):
            torch.manual_seed(3)
            rows, dropped = norm(x, change, bias, dropout, layout), relu_and_drop(change, bias, dropout, layout)
        total = (rows.x.square() + join_blocks(dropped)).sum()
        return [rows.x, dropped, *torch.autograd.grad(total, [change])]

    assert_near(results(fused=True), results(fused=False), 1e-5)
    dropout.eval()
    assert_near(results(fused=True), results(fused=False), 1e-5)


def assert_near(found: list[Tensor], expected: list[Tensor], tolerance: float) -> None:
    for number, (one, other) in enumerate(zip(found, expected, strict=True)):
        assert (one.float() - other.float()).abs().max() <= tolerance * other.float().abs().max(), number
