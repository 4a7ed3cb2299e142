"""T5 as ONNX, read at its decoder: T5 1.0 and 1.1, mT5 and UMT5, for windows of one width.

A window is the decoder's start token, then the sub-tokens. The encoder reads the sub-tokens. The decoder reads the
whole window: each place attends to itself, to the places before it, and to all that the encoder gives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from fencepost.chart.scores import Floats
from fencepost.export.attention import numbers, rows, sentences
from fencepost.export.builder import MICROSOFT, Graph
from fencepost.export.linear import Linear
from fencepost.export.windows import KEY, LEAST_GELU, QUERY, VALUE, attend, by_head, places
from fencepost.model.t5 import by_distance

HIDDEN: Final = np.float32(-1e9)  # the softmax of it is 0; a graph's constants must be finite
# What T5 calls its activation -> its operator, that operator's domain, and the least number that it gives.
ACTIVATIONS: Final = {
    "relu": ("Relu", "", 0.0),
    "gelu": ("Gelu", MICROSOFT, LEAST_GELU),
    "gelu_new": ("FastGelu", MICROSOFT, LEAST_GELU),
}
FEED_FORWARDS: Final = (*ACTIVATIONS, *(f"gated-{name}" for name in ACTIVATIONS))  # in configurations


def t5_states(graph: Graph, t5: Any, embedded: str, mask: str, linear: Linear) -> list[str]:
    """embedded [V, W, size], mask [V, 1, 1, W] -> rows [V W, size] before the decoder's first layer and after each.

    The last ones are normed.
    """
    activation = ACTIVATIONS[t5.config.dense_act_fn]
    words, real = graph.slice(embedded, 1, 1, 2**31), graph.slice(mask, 3, 1, 2**31)
    by_window = sentences(graph, words)
    x = rows(graph, words)
    for layer, distances in _layers(graph, t5.encoder, words, real):
        x = _self_attention(graph, layer.layer[0], x, by_window, distances, linear)
        x = _feed_forward(graph, layer.layer[1], x, activation, linear)
    read = _norm(graph, t5.encoder.final_layer_norm, x)
    states = [rows(graph, embedded)]
    in_decoder = sentences(graph, embedded)
    for layer, distances in _layers(graph, t5.decoder, embedded, mask):
        x = _self_attention(graph, layer.layer[0], states[-1], in_decoder, distances, linear)
        x = _cross_attention(graph, layer.layer[1], x, in_decoder, (read, by_window, real), linear)
        states.append(_feed_forward(graph, layer.layer[2], x, activation, linear))
    states[-1] = _norm(graph, t5.decoder.final_layer_norm, states[-1])
    return states


def _layers(graph: Graph, stack: Any, embedded: str, mask: str) -> Iterator[tuple[Any, str]]:
    """Each layer and what it adds to q · k: the first layer's distances, or its own in UMT5, and the mask."""
    added = ""
    for layer in stack.block:
        attention = layer.layer[0].SelfAttention
        if attention.has_relative_attention_bias:
            added = graph.node("Add", _distances(graph, attention, embedded), mask)
        yield layer, added


def distances_of(attention: Any) -> Floats:
    """What T5 adds to q · k for every distance from the farthest before to the farthest after: [heads, distances].

    In the decoder, no position reads a later one.
    """
    table = numbers(by_distance(attention))
    if attention.is_decoder:
        table[:, attention.relative_attention_max_distance + 1 :] = HIDDEN
    return table


def _distances(graph: Graph, attention: Any, embedded: str) -> str:
    """``distances_of`` for all pairs: [1, heads, W, W]. All greater distances count as the farthest."""
    farthest = attention.relative_attention_max_distance
    place = places(graph, embedded)
    distance = graph.node("Sub", place, graph.reshape(place, -1, 1))
    near = graph.node("Max", graph.node("Min", distance, _whole(graph, farthest)), _whole(graph, -farthest))
    table = graph.constant(distances_of(attention)[None])
    return graph.node("Gather", table, graph.node("Add", near, _whole(graph, farthest)), axis=2)


def _whole(graph: Graph, number: int) -> str:
    return graph.constant(np.array(number))


def _self_attention(graph: Graph, layer: Any, x: str, by_window: str, added: str, linear: Linear) -> str:
    attention, normed = layer.SelfAttention, _norm(graph, layer.layer_norm, x)
    read = graph.split(_product(graph, normed, linear, attention.q, attention.k, attention.v), 3)
    query, key, value = (
        by_head(graph, part, by_window, attention.n_heads, order)
        for part, order in zip(read, (QUERY, KEY, VALUE), strict=True)
    )
    attended = attend(graph, query, key, value, added)
    return graph.node("Add", x, _product(graph, attended, linear, attention.o))


def _cross_attention(
    graph: Graph, layer: Any, x: str, by_window: str, encoded: tuple[str, str, str], linear: Linear
) -> str:
    """``encoded``: the rows that the encoder gives, the shape of their windows, and their mask."""
    read, in_encoder, real = encoded
    attention, heads = layer.EncDecAttention, layer.EncDecAttention.n_heads
    query = by_head(
        graph, _product(graph, _norm(graph, layer.layer_norm, x), linear, attention.q), by_window, heads, QUERY
    )
    parts = graph.split(_product(graph, read, linear, attention.k, attention.v), 2)
    key, value = (
        by_head(graph, part, in_encoder, heads, order) for part, order in zip(parts, (KEY, VALUE), strict=True)
    )
    attended = attend(graph, query, key, value, real)
    return graph.node("Add", x, _product(graph, attended, linear, attention.o))


def _feed_forward(graph: Graph, layer: Any, x: str, activation: tuple[str, str, float], linear: Linear) -> str:
    inner, normed = layer.DenseReluDense, _norm(graph, layer.layer_norm, x)
    operator, domain, least = activation
    outer = numbers(inner.wo.weight).T
    if hasattr(inner, "wi"):
        hidden = graph.node(operator, _product(graph, normed, linear, inner.wi), domain=domain)
        return graph.node("Add", x, linear(graph, hidden, outer, least=least))
    gate = graph.node(operator, _product(graph, normed, linear, inner.wi_0), domain=domain)
    hidden = graph.node("Mul", gate, _product(graph, normed, linear, inner.wi_1))
    return graph.node("Add", x, linear(graph, hidden, outer))


def _product(graph: Graph, x: str, linear: Linear, *maps: Any) -> str:
    """Rows times several matrices, side by side."""
    return linear(graph, x, np.concatenate([numbers(map_.weight).T for map_ in maps], axis=1))


def _norm(graph: Graph, norm: Any, x: str) -> str:
    """x / sqrt(mean of x² + epsilon), scaled: neither a mean is subtracted nor a shift added."""
    scale = graph.constant(numbers(norm.weight))
    return graph.node("SimplifiedLayerNormalization", x, scale, axis=-1, epsilon=norm.variance_epsilon)
