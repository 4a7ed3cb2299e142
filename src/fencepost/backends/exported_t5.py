"""Reads the weights of an exported T5 back: the inverse of ``export.t5``, in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn

from fencepost.backends.weights_in_order import WeightsInOrder, put, shape_of
from fencepost.model.t5 import by_distance


def put_encoder(weights: WeightsInOrder, t5: Any) -> None:
    put(t5.shared.weight, weights.subwords())
    for stack in (t5.encoder, t5.decoder):
        for layer in stack.block:
            _self_attention(weights, layer.layer[0])
            if stack is t5.decoder:
                _cross_attention(weights, layer.layer[1])
            _feed_forward(weights, layer.layer[-1])
        _norm(weights, stack.final_layer_norm)


def _self_attention(weights: WeightsInOrder, layer: Any) -> None:
    attention = layer.SelfAttention
    if attention.has_relative_attention_bias:
        _distances(weights, attention)
    _norm(weights, layer.layer_norm)
    _matrices(weights, attention.q, attention.k, attention.v)
    _matrices(weights, attention.o)


def _cross_attention(weights: WeightsInOrder, layer: Any) -> None:
    attention = layer.EncDecAttention
    _norm(weights, layer.layer_norm)
    _matrices(weights, attention.q)
    _matrices(weights, attention.k, attention.v)
    _matrices(weights, attention.o)


def _feed_forward(weights: WeightsInOrder, layer: Any) -> None:
    inner = layer.DenseReluDense
    _norm(weights, layer.layer_norm)
    for matrix in (inner.wi,) if hasattr(inner, "wi") else (inner.wi_0, inner.wi_1):
        _matrices(weights, matrix)
    _matrices(weights, inner.wo)


def _matrices(weights: WeightsInOrder, *maps: nn.Linear) -> None:
    """Matrices that stand side by side in the graph."""
    for map_, matrix in zip(maps, np.split(weights.matrix(), len(maps), axis=1), strict=True):
        put(map_.weight, matrix.T)


def _norm(weights: WeightsInOrder, norm: Any) -> None:
    put(norm.weight, *weights.take("SimplifiedLayerNormalization"))


def _distances(weights: WeightsInOrder, attention: Any) -> None:
    """The graph has a number for each distance, where many share a bucket. A bucket that no distance is in gets 0."""
    (table,) = weights.take("Gather")
    by_bucket = attention.relative_attention_bias.weight
    expected = (1, by_bucket.shape[1], 2 * attention.relative_attention_max_distance + 1)
    if table.shape != expected:
        raise ValueError(f"it has {shape_of(table)} distances, not {' x '.join(map(str, expected))}")
    bucket = _buckets(attention)
    by_bucket.zero_()
    reached = len(bucket) // 2 + 1 if attention.is_decoder else len(bucket)  # a decoder reads nothing after a place
    by_bucket[bucket[:reached]] = torch.from_numpy(np.array(table[0].T[:reached]))


def _buckets(attention: Any) -> torch.Tensor:
    """The bucket of each distance, from the farthest before to the farthest after.

    They are what transformers adds if each bucket has its own number as its value.
    """
    by_bucket = attention.relative_attention_bias.weight
    by_bucket.copy_(torch.arange(len(by_bucket))[:, None])
    return by_distance(attention)[0].long()
