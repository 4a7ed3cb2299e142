"""A pre-trained encoder as ONNX: BERT and encoders like it, with windows padded to one width, [V, W, ...]."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from fencepost.errors import UsageError
from fencepost.export.attention import layer_norm, numbers
from fencepost.export.builder import FLOAT, INT64, MICROSOFT, Graph
from fencepost.export.embedding import Embedding
from fencepost.export.linear import Linear
from fencepost.features.encoder_families import ENCODER_FAMILIES, family_of
from fencepost.model.bert import ACTIVATIONS
from fencepost.model.mpnet import bucket_of
from fencepost.model.pretrained import Pretrained, ScalarMix


def require_exportable(encoder: dict[str, Any]) -> None:
    """Raises UsageError if the encoder with this configuration can't be exported."""
    kind, activation = encoder["model_type"], encoder.get("hidden_act")
    positions = encoder.get("position_embedding_type") or "absolute"
    if not family_of(kind).exportable or positions != "absolute":
        what = kind if positions == "absolute" else f"{kind} with {positions} positions"
        raise UsageError(
            f"a model over an encoder of type {what} can't be exported",
            hint=f"run it on torch, or use one of these types: {', '.join(_exportable())}",
        )
    if activation not in ACTIVATIONS:
        raise UsageError(
            f"an encoder with hidden_act = {activation!r} can't be exported",
            hint=f"run it on torch, or use an encoder with one of {', '.join(ACTIVATIONS)}",
        )


def _exportable() -> list[str]:
    return [name for name, family in ENCODER_FAMILIES.items() if family.exportable]


def subwords_graph(pretrained: Pretrained, linear: Linear, embedding: Embedding) -> bytes:
    """subwords [V, W] and mask [V, 1, 1, W] -> vectors [V, W, hidden]: the last layer, or the mix of all."""
    graph = Graph()
    encoder: Any = pretrained.encoder
    subwords = graph.input("subwords", INT64, ["V", "W"])
    mask = graph.input("mask", FLOAT, ["V", 1, 1, "W"])
    x = _embeddings(graph, encoder, subwords, linear, embedding)
    if family_of(encoder.config.model_type).layers == "mpnet":
        mask = graph.node("Add", mask, _distances(graph, encoder, subwords))
    states = [x]
    for layer in encoder.encoder.layer:
        states.append(_layer(graph, layer, states[-1], mask, encoder.config, linear))
    vectors = states[-1] if pretrained.mix is None else _mixed(graph, pretrained.mix, states)
    return graph.model({"vectors": (vectors, FLOAT, ["V", "W", encoder.config.hidden_size])})


def _embeddings(graph: Graph, encoder: Any, subwords: str, linear: Linear, embedding: Embedding) -> str:
    embeddings = encoder.embeddings
    place = numbers(embeddings.position_embeddings.weight)
    if getattr(embeddings, "token_type_embeddings", None) is not None:
        place = place + numbers(embeddings.token_type_embeddings.weight)[0]
    position = _positions(graph, encoder, subwords)
    words = embedding(graph, numbers(embeddings.word_embeddings.weight), subwords)
    x = graph.node("Add", words, embedding(graph, place, position))
    x = layer_norm(graph, embeddings.LayerNorm, x)
    if getattr(encoder, "embeddings_project", None) is not None:  # ELECTRA has one: its embeddings are smaller
        x = _biased(graph, encoder.embeddings_project, x, linear)
    return x


def _positions(graph: Graph, encoder: Any, subwords: str) -> str:
    """Positions counted from 0. RoBERTa and MPNet start after the padding token's number, and skip padding."""
    if not family_of(encoder.config.model_type).counts_from_padding:
        width = graph.node("Gather", graph.node("Shape", subwords), graph.constant(np.array(1)))
        return graph.node("Range", graph.constant(np.array(0)), width, graph.constant(np.array(1)))
    padding = graph.constant(np.array(encoder.embeddings.padding_idx))
    real = graph.node("Cast", graph.node("Not", graph.node("Equal", subwords, padding)), to=INT64)
    count = graph.node("CumSum", real, graph.constant(np.array(1)))
    return graph.node("Add", graph.node("Mul", count, real), padding)


def _distances(graph: Graph, encoder: Any, subwords: str) -> str:
    """The numbers that MPNet adds to the logits, by the distance between two sub-tokens: [1, heads, W, W]."""
    longest = encoder.config.max_position_embeddings
    with torch.no_grad():
        distances = encoder.encoder.relative_attention_bias
        bucket = bucket_of(torch.arange(1 - longest, longest), distances.num_embeddings)
        table = numbers(distances(bucket).T)  # [heads, distances]
    width = graph.node("Gather", graph.node("Shape", subwords), graph.constant(np.array(1)))
    place = graph.node("Range", graph.constant(np.array(0)), width, graph.constant(np.array(1)))
    distance = graph.node("Sub", place, graph.reshape(place, -1, 1))
    row = graph.node("Add", distance, graph.constant(np.array(longest - 1)))
    return graph.node("Gather", graph.constant(table[None]), row, axis=2)


def _layer(graph: Graph, layer: Any, x: str, mask: str, config: Any, linear: Linear) -> str:
    attention = layer.attention
    if family_of(config.model_type).layers == "mpnet":
        query, key, value, output = (getattr(attention.attn, name) for name in "qkvo")
        norm = attention.LayerNorm
    else:
        query, key, value = (getattr(attention.self, name) for name in ("query", "key", "value"))
        output, norm = attention.output.dense, attention.output.LayerNorm
    attended = _attention(graph, (query, key, value), x, mask, config.num_attention_heads, linear)
    x = layer_norm(graph, norm, graph.node("Add", x, _biased(graph, output, attended, linear)))
    inner = linear(graph, x, numbers(layer.intermediate.dense.weight).T)
    bias = graph.constant(numbers(layer.intermediate.dense.bias))
    if config.hidden_act == "gelu":
        hidden = graph.node("BiasGelu", inner, bias, domain=MICROSOFT)
    else:
        hidden = graph.node("Relu", graph.node("Add", inner, bias))
    outer = _biased(graph, layer.output.dense, hidden, linear)
    return layer_norm(graph, layer.output.LayerNorm, graph.node("Add", x, outer))


def _attention(graph: Graph, maps: tuple[Any, Any, Any], x: str, mask: str, heads: int, linear: Linear) -> str:
    """softmax(Q K^T / sqrt(d)) V: [V, W, hidden] -> [V, W, hidden]."""
    weights = [numbers(map_.weight).T for map_ in maps]
    biases = [numbers(map_.bias) for map_ in maps]
    scale = np.float32(1 / math.sqrt(weights[0].shape[1] / heads))
    weights[0], biases[0] = weights[0] * scale, biases[0] * scale
    product = linear(graph, x, np.concatenate(weights, axis=1))
    read = graph.split(graph.node("Add", product, graph.constant(np.concatenate(biases))), 3)
    orders = (0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)
    query, key, value = (
        graph.node("Transpose", graph.reshape(part, 0, 0, heads, -1), perm=order)
        for part, order in zip(read, orders, strict=True)
    )
    logits = graph.node("Add", graph.node("MatMul", query, key), mask)
    average = graph.node("MatMul", graph.node("Softmax", logits, axis=-1), value)
    return graph.reshape(graph.node("Transpose", average, perm=(0, 2, 1, 3)), 0, 0, -1)


def _biased(graph: Graph, map_: nn.Linear, x: str, linear: Linear) -> str:
    return graph.node("Add", linear(graph, x, numbers(map_.weight).T), graph.constant(numbers(map_.bias)))


def _mixed(graph: Graph, mix: ScalarMix, states: list[str]) -> str:
    shares = numbers(mix.scale * mix.weights.softmax(0))
    parts = [graph.node("Mul", state, graph.constant(share)) for state, share in zip(states, shares, strict=True)]
    return graph.node("Sum", *parts)
