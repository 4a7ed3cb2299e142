"""Position embeddings."""

from __future__ import annotations

import math

import torch

from fencepost.model.position import LearnedPositions, SinusoidalPositions, added, concatenated


def test_learned_positions_are_rows_of_the_table() -> None:
    positions = LearnedPositions(5, 4)
    assert torch.equal(positions(torch.tensor([2, 0])), positions.table[[2, 0]])


def test_positions_beyond_the_table_read_its_last_row() -> None:
    positions = LearnedPositions(5, 4)
    assert torch.equal(positions(torch.tensor([5, 100])), positions.table[[4, 4]])


def test_sinusoidal_positions_follow_the_formula() -> None:
    size = 6
    vectors = SinusoidalPositions(size)(torch.tensor([0, 3, 700]))
    for row, t in zip(vectors.tolist(), (0, 3, 700), strict=True):
        angles = [t / 10000 ** (2 * k / size) for k in range(size // 2)]
        expected = [wave(angle) for angle in angles for wave in (math.sin, math.cos)]
        torch.testing.assert_close(torch.tensor(row), torch.tensor(expected), atol=1e-4, rtol=0)


def test_sinusoidal_positions_have_nothing_to_learn_or_save() -> None:
    assert not SinusoidalPositions(4).state_dict()


def test_added_positions_are_summed_with_the_content() -> None:
    assert added(torch.tensor([[1.0, 2.0]]), torch.tensor([[10.0, 20.0]])).tolist() == [[11.0, 22.0]]


def test_concatenated_positions_follow_the_content() -> None:
    assert concatenated(torch.tensor([[1.0, 2.0]]), torch.tensor([[10.0, 20.0]])).tolist() == [[1.0, 2.0, 10.0, 20.0]]
