"""MPNet's distances: the bucket of each, and the same vectors whether a mask or the kernels add them."""

from __future__ import annotations

from unittest import mock

import torch
from transformers.models.mpnet.modeling_mpnet import MPNetEncoder

from fencepost.model.mpnet import FARTHEST, Distances, bucket_of
from tests.model.interpreted import run_interpreted
from tests.model.test_bert import both, subwords

WORDS = "embeddings.word_embeddings.weight"


def test_buckets_are_those_of_the_library() -> None:
    distance = torch.arange(-600, 601)
    for buckets in (8, 32):
        expected = MPNetEncoder.relative_position_bucket(distance, num_buckets=buckets)
        assert torch.equal(bucket_of(distance, buckets), expected)


def test_a_pair_in_the_square_has_the_number_of_its_distance() -> None:
    torch.manual_seed(0)
    distances = Distances(32, 3)
    square, row = distances.in_square(200), distances.by_distance()
    assert square.shape == (1, 3, 200, 200)
    assert torch.equal(square[0, :, 5, 9], row[:, FARTHEST + 4])
    assert torch.equal(square[0, :, 9, 5], row[:, FARTHEST - 4])
    assert torch.equal(square[0, :, 199, 0], row[:, 0])
    assert not torch.equal(row[:, FARTHEST + 4], row[:, FARTHEST - 4])


def assert_kernels_like_the_mask() -> None:
    (ours, _), (ids, layout) = both("mpnet"), subwords()
    expected = ours(ids, layout)[-1]
    with mock.patch("fencepost.model.cuda.available.attention", return_value=True):
        found = ours(ids, layout)[-1]
    torch.testing.assert_close(found, expected, atol=1e-4, rtol=1e-4)
    assert not torch.equal(found, expected)  # it was not computed in the same way
    weights = [ours.get_parameter(name) for name in ("encoder.layer.0.attention.attn.k.weight", WORDS)]
    found_slopes, expected_slopes = (torch.autograd.grad(y.sin().sum(), weights) for y in (found, expected))
    for one, other in zip(found_slopes, expected_slopes, strict=True):
        torch.testing.assert_close(one, other, atol=1e-3, rtol=1e-3)


INTERPRETED = """
    from tests.model.test_mpnet import assert_kernels_like_the_mask

    assert_kernels_like_the_mask()
"""


def test_kernels_add_what_the_mask_adds() -> None:
    run_interpreted(INTERPRETED)
