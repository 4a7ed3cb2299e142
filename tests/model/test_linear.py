"""Linear maps by blocks."""

from __future__ import annotations

import math

import pytest
import torch

from fencepost.model.linear import BlockDiagonal, Dense, join_blocks, near_zero_, split_blocks


def apply(layer: BlockDiagonal, x: torch.Tensor) -> torch.Tensor:
    return join_blocks(layer(split_blocks(x, layer.blocks)))


def test_dense_is_x_times_w_plus_b() -> None:
    layer, x = Dense(6, 4, bias=True), torch.randn(5, 6)
    assert layer.bias is not None
    torch.testing.assert_close(apply(layer, x), x @ layer.weight[0] + layer.bias[0])


@pytest.mark.parametrize("bias", [False, True])
def test_block_diagonal_equals_dense_with_zero_blocks(bias: bool) -> None:
    blocks, dense, x = BlockDiagonal(6, 4, bias=bias), Dense(6, 4, bias=bias), torch.randn(5, 6)
    with torch.no_grad():
        dense.weight.zero_()
        dense.weight[0, :3, :2], dense.weight[0, 3:, 2:] = blocks.weight[0], blocks.weight[1]
        if dense.bias is not None and blocks.bias is not None:
            dense.bias.copy_(blocks.bias.flatten().view(1, 1, 4))
    torch.testing.assert_close(apply(blocks, x), apply(dense, x))


def test_joining_undoes_splitting() -> None:
    x = torch.randn(5, 6)
    assert torch.equal(join_blocks(split_blocks(x, 2)), x)


def test_splitting_cuts_a_vector_in_halves() -> None:
    content, position = split_blocks(torch.tensor([[1.0, 2.0, 3.0, 4.0]]), 2)
    assert content.tolist() == [[1.0, 2.0]]
    assert position.tolist() == [[3.0, 4.0]]


def test_a_block_starts_within_the_bounds_of_its_own_inputs() -> None:
    weight = BlockDiagonal(200, 100).weight
    assert 0.95 / math.sqrt(100) < weight.abs().max().item() <= 1 / math.sqrt(100)


def test_attention_weights_start_near_zero() -> None:
    weight = torch.empty(100, 100)
    near_zero_(weight)
    assert weight.std().item() == pytest.approx(0.01, rel=0.05)
    assert abs(weight.mean().item()) < 0.001
