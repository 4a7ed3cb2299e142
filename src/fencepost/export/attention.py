"""The self-attentive encoder as ONNX: ``model.encoder`` and ``model.attention``, for sentences of one width.

Only attention looks at sentences; everything else works on the rows of a matrix [N, ...], N = B T.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import Tensor, nn

from fencepost.chart.scores import Floats
from fencepost.export.builder import FLOAT, INT64, Graph
from fencepost.export.linear import Linear
from fencepost.model.attention import FromInput, FromPosition, MultiHeadAttention
from fencepost.model.encoder import EncoderLayer, FeedForward, SelfAttentiveEncoder
from fencepost.model.heads import HeadSizes
from fencepost.model.linear import BlockDiagonal
from fencepost.model.plan import AttentionPlan, Terms
from fencepost.model.position import LearnedPositions, SinusoidalPositions, added


def add_attention_encoder(
    graph: Graph, encoder: SelfAttentiveEncoder, content: str, plan: AttentionPlan, linear: Linear
) -> str:
    """[B, T, d_content] -> [B, T, d_model]. The plan's window is in the mask; terms it doesn't use get weights of 0."""
    position = graph.input("position", INT64, ["T"])
    mask = graph.input("mask", FLOAT, ["B", 1, "windows", "T"])
    p = _positions(graph, encoder.positions, position)  # [T, d_position]
    if encoder.combine is added:
        x = graph.node("Add", content, p)
    else:
        count = graph.slice(graph.node("Shape", content), 0, 0, 1)
        shape = graph.node("Concat", count, graph.constant(np.array([1, 1])), axis=0)
        x = graph.join([content, graph.node("Expand", p, shape)])
    if isinstance(encoder.norm, nn.LayerNorm):
        x = layer_norm(graph, encoder.norm, x)
    by_sentence = sentences(graph, x)
    x = rows(graph, x)
    for number, layer in enumerate(encoder.layers, 1):
        assert isinstance(layer, EncoderLayer)
        read = _read(graph, layer.attention, x, p, by_sentence, plan.terms(number), linear)
        attended = _attention(graph, layer.attention, read, mask, linear)
        x = layer_norm(graph, layer.attention_norm, graph.node("Add", x, attended))
        x = layer_norm(graph, layer.feed_forward_norm, graph.node("Add", x, _feed_forward(graph, layer, x, linear)))
    return in_sentences(graph, x, by_sentence, -1)


def sentences(graph: Graph, x: str) -> str:
    """The shape [B, T] of an array [B, T, ...], for ``in_sentences``."""
    return graph.node("Shape", x, start=0, end=2)


def rows(graph: Graph, x: str) -> str:
    """[B, T, ...] -> [B T, ...], with all that is left in one axis."""
    return graph.node("Flatten", x, axis=2)


def in_sentences(graph: Graph, x: str, by_sentence: str, *sizes: int) -> str:
    """[B T, ...] -> [B, T, *sizes], one of which may be -1."""
    return graph.node("Reshape", x, graph.node("Concat", by_sentence, graph.constant(np.array(sizes)), axis=0))


def numbers(tensor: Tensor) -> Floats:
    return np.asarray(tensor.detach().float().cpu().numpy())


def layer_norm(graph: Graph, norm: nn.LayerNorm, x: str) -> str:
    scale, shift = graph.constant(numbers(norm.weight)), graph.constant(numbers(norm.bias))
    return graph.node("LayerNormalization", x, scale, shift, axis=-1, epsilon=norm.eps)


def _positions(graph: Graph, positions: nn.Module, position: str) -> str:
    if isinstance(positions, LearnedPositions):
        last_row = graph.constant(np.array(len(positions.table) - 1))
        return graph.node("Gather", graph.constant(numbers(positions.table)), graph.node("Min", position, last_row))
    assert isinstance(positions, SinusoidalPositions)
    column = graph.reshape(graph.node("Cast", position, to=FLOAT), -1, 1)
    angle = graph.node("Mul", column, graph.constant(numbers(positions.frequency)))
    pairs = [graph.reshape(graph.node(function, angle), 0, 0, 1) for function in ("Sin", "Cos")]
    return graph.reshape(graph.join(pairs), 0, -1)


def _attention(
    graph: Graph, attention: MultiHeadAttention, read: tuple[str, str, str], mask: str, linear: Linear
) -> str:
    """[B T, d_model] from queries, keys and values."""
    query, key, value = read
    logits = graph.node("Add", graph.node("MatMul", query, key), mask)
    average = graph.node("MatMul", graph.node("Softmax", logits, axis=-1), value)  # [B, heads, T, d_v]
    by_token = graph.node("Transpose", average, perm=(0, 2, 1, 3))
    blocks = [rows(graph, block) for block in graph.split(by_token, attention.output.blocks)]
    return graph.join(_block_diagonal(graph, blocks, attention.output, linear))


def _read(
    graph: Graph, attention: MultiHeadAttention, x: str, p: str, by_sentence: str, terms: Terms, linear: Linear
) -> tuple[str, str, str]:
    """Queries [B, heads, T, d_k], keys [B, heads, d_k, T] and values [B, heads, T, d_v]."""
    reader, heads = attention.reader, attention.sizes.heads
    if isinstance(reader, FromInput):
        weight = numbers(reader.projection.weight)  # [blocks, inputs, queries and keys and values]
        sources = [graph.split(x, len(weight))] * 3
        queries = heads * reader.d_k // len(weight)
        weights = np.split(weight, [queries, 2 * queries], axis=-1)
    else:
        assert isinstance(reader, FromPosition)
        sources = [[p], [p], [x]]
        weights = [*np.split(numbers(reader.query_key.weight), 2, axis=-1), numbers(reader.value.weight)]
    weights[0] = _scaled(weights[0], attention.sizes, terms)
    one_sentence = graph.node("Concat", graph.constant(np.array([1])), graph.slice(by_sentence, 0, 1, 2), axis=0)
    orders = (0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)
    read: list[str] = []
    for source, weight, order in zip(sources, weights, orders, strict=True):
        products = [linear(graph, *pair) for pair in zip(source, weight, strict=True)]
        shape = one_sentence if source == [p] else by_sentence
        by_head = graph.join([in_sentences(graph, product, shape, heads, -1) for product in products])
        read.append(graph.node("Transpose", by_head, perm=order))  # each head has [content; position]
    return read[0], read[1], read[2]


def _scaled(queries: Floats, sizes: HeadSizes, terms: Terms) -> Floats:
    """W_Q times the scale of Q K^T, 0 for a term that is not used: [blocks, inputs, heads * d_k / blocks]."""
    used = np.array(terms if terms != Terms() else [True], np.float32)
    return np.asarray(queries * used[:, None, None] * np.float32(sizes.scale))


def _feed_forward(graph: Graph, layer: EncoderLayer, x: str, linear: Linear) -> str:
    feed_forward = layer.feed_forward
    assert isinstance(feed_forward, FeedForward)
    inner = _block_diagonal(graph, graph.split(x, feed_forward.inner.blocks), feed_forward.inner, linear)
    hidden = [graph.node("Relu", block) for block in inner]
    return graph.join(_block_diagonal(graph, hidden, feed_forward.outer, linear, least=0))


def _block_diagonal(
    graph: Graph, blocks: Sequence[str], map_: BlockDiagonal, linear: Linear, least: float | None = None
) -> list[str]:
    weights = numbers(map_.weight)
    products = [linear(graph, block, weight, least=least) for block, weight in zip(blocks, weights, strict=True)]
    if map_.bias is None:
        return products
    biases = numbers(map_.bias)[:, 0]
    return [graph.node("Add", product, graph.constant(bias)) for product, bias in zip(products, biases, strict=True)]
