"""A pre-trained encoder as ONNX, for windows of one width, [V, W, ...]: BERT and the encoders that are built like it.

As in ``export.attention``, only attention looks at windows; everything else works on rows [V W, ...]. ``export.t5`` has
the layers of T5.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch import nn

from fencepost.chart.scores import Floats
from fencepost.errors import UsageError
from fencepost.export.attention import in_sentences, layer_norm, numbers, rows, sentences
from fencepost.export.builder import FLOAT, INT64, MICROSOFT, Graph
from fencepost.export.embedding import Embedding
from fencepost.export.linear import Linear
from fencepost.export.t5 import FEED_FORWARDS, t5_states
from fencepost.export.windows import KEY, LEAST_GELU, QUERY, VALUE, attend, by_head, places
from fencepost.features.encoder_families import ENCODER_FAMILIES, family_of
from fencepost.model.bert import ACTIVATIONS
from fencepost.model.mpnet import bucket_of
from fencepost.model.pretrained import Pretrained, ScalarMix


def require_exportable(encoder: dict[str, Any]) -> None:
    """Raises UsageError if the encoder with this configuration can't be exported."""
    kind = encoder["model_type"]
    positions = encoder.get("position_embedding_type") or "absolute"
    if not family_of(kind).exportable or positions != "absolute":
        what = kind if positions == "absolute" else f"{kind} with {positions} positions"
        raise UsageError(
            f"a model over an encoder of type {what} can't be exported",
            hint=f"run it on torch, or use one of these types: {', '.join(_exportable())}",
        )
    if family_of(kind).layers == "t5":
        key, activation, known = "feed_forward_proj", encoder.get("feed_forward_proj", "relu"), list(FEED_FORWARDS)
    else:
        key, activation, known = "hidden_act", encoder.get("hidden_act"), list(ACTIVATIONS)
    if activation not in known:
        raise UsageError(
            f"an encoder with {key} = {activation!r} can't be exported",
            hint=f"run it on torch, or use an encoder with one of {', '.join(known)}",
        )


def _exportable() -> list[str]:
    return [name for name, family in ENCODER_FAMILIES.items() if family.exportable]


def subwords_graph(pretrained: Pretrained, linear: Linear, embedding: Embedding) -> bytes:
    """embedded [V, W, size] and mask [V, 1, 1, W] -> vectors [V, W, hidden]: the last layer, or the mix of all.

    ``embedded`` has the rows of ``subword_table``. Encoders that don't count positions at padding also read the numbers
    of the sub-tokens: subwords [V, W].
    """
    graph = Graph()
    encoder: Any = pretrained.encoder
    embedded = graph.input("embedded", FLOAT, ["V", "W", subword_table(pretrained).shape[1]])
    mask = graph.input("mask", FLOAT, ["V", 1, 1, "W"])
    t5 = family_of(encoder.config.model_type).layers == "t5"
    by_window = sentences(graph, embedded)
    states = (
        t5_states(graph, encoder, embedded, mask, linear)
        if t5
        else _bert_states(graph, encoder, embedded, mask, embedding, linear)
    )
    vectors = states[-1] if pretrained.mix is None else _mixed(graph, pretrained.mix, states)
    in_windows = in_sentences(graph, vectors, by_window, -1)
    return graph.model({"vectors": (in_windows, FLOAT, ["V", "W", encoder.config.hidden_size])})


def subword_table(pretrained: Pretrained) -> Floats:
    """The vectors of all sub-tokens, before the encoder: [N, size]."""
    encoder: Any = pretrained.encoder
    t5 = family_of(encoder.config.model_type).layers == "t5"
    return numbers((encoder.shared if t5 else encoder.embeddings.word_embeddings).weight)


def _bert_states(
    graph: Graph, encoder: Any, embedded: str, mask: str, embedding: Embedding, linear: Linear
) -> list[str]:
    """Rows [V W, hidden] before the first layer and after each."""
    x = _embeddings(graph, encoder, embedded, embedding)
    if family_of(encoder.config.model_type).layers == "mpnet":
        mask = graph.node("Add", mask, _distances(graph, encoder, embedded))
    by_window = sentences(graph, x)
    states = [rows(graph, x)]
    if getattr(encoder, "embeddings_project", None) is not None:  # ELECTRA's, where embeddings are smaller
        states = [_biased(graph, encoder.embeddings_project, states[0], linear)]
    for layer in encoder.encoder.layer:
        states.append(_layer(graph, layer, states[-1], by_window, mask, encoder.config, linear))
    return states


def _embeddings(graph: Graph, encoder: Any, embedded: str, embedding: Embedding) -> str:
    embeddings = encoder.embeddings
    place = numbers(embeddings.position_embeddings.weight)
    if getattr(embeddings, "token_type_embeddings", None) is not None:
        place = place + numbers(embeddings.token_type_embeddings.weight)[0]
    position = _positions(graph, encoder, embedded)
    x = graph.node("Add", embedded, embedding.gather(graph, place, position))
    return layer_norm(graph, embeddings.LayerNorm, x)


def _positions(graph: Graph, encoder: Any, embedded: str) -> str:
    """Positions counted from 0. RoBERTa and MPNet start after the padding token's number, and skip padding."""
    if not family_of(encoder.config.model_type).counts_from_padding:
        return places(graph, embedded)
    subwords = graph.input("subwords", INT64, ["V", "W"])
    padding = graph.constant(np.array(encoder.embeddings.padding_idx))
    real = graph.node("Cast", graph.node("Not", graph.node("Equal", subwords, padding)), to=INT64)
    count = graph.node("CumSum", real, graph.constant(np.array(1)))
    return graph.node("Add", graph.node("Mul", count, real), padding)


def _distances(graph: Graph, encoder: Any, embedded: str) -> str:
    """The numbers that MPNet adds to the logits, by the distance between two sub-tokens: [1, heads, W, W]."""
    longest = encoder.config.max_position_embeddings
    with torch.no_grad():
        distances = encoder.encoder.relative_attention_bias
        bucket = bucket_of(torch.arange(1 - longest, longest), distances.num_embeddings)
        table = numbers(distances(bucket).T)  # [heads, distances]
    place = places(graph, embedded)
    distance = graph.node("Sub", place, graph.reshape(place, -1, 1))
    row = graph.node("Add", distance, graph.constant(np.array(longest - 1)))
    return graph.node("Gather", graph.constant(table[None]), row, axis=2)


def _layer(graph: Graph, layer: Any, x: str, by_window: str, mask: str, config: Any, linear: Linear) -> str:
    attention = layer.attention
    if family_of(config.model_type).layers == "mpnet":
        query, key, value, output = (getattr(attention.attn, name) for name in "qkvo")
        norm = attention.LayerNorm
    else:
        query, key, value = (getattr(attention.self, name) for name in ("query", "key", "value"))
        output, norm = attention.output.dense, attention.output.LayerNorm
    read = _read(graph, (query, key, value), x, by_window, config.num_attention_heads, linear)
    attended = attend(graph, *read, mask)
    x = layer_norm(graph, norm, graph.node("Add", x, _biased(graph, output, attended, linear)))
    inner = _biased(graph, layer.intermediate.dense, x, linear)
    if config.hidden_act == "gelu":
        hidden, least = graph.node("Gelu", inner, domain=MICROSOFT), LEAST_GELU
    else:
        hidden, least = graph.node("Relu", inner), 0.0
    outer = _biased(graph, layer.output.dense, hidden, linear, least)
    return layer_norm(graph, layer.output.LayerNorm, graph.node("Add", x, outer))


def _read(
    graph: Graph, maps: tuple[Any, Any, Any], x: str, by_window: str, heads: int, linear: Linear
) -> tuple[str, str, str]:
    """Q / sqrt(d) [V, heads, W, d], K [V, heads, d, W] and V [V, heads, W, d] from rows [V W, hidden]."""
    weights = [numbers(map_.weight).T for map_ in maps]
    biases = [numbers(map_.bias) for map_ in maps]
    scale = np.float32(1 / math.sqrt(weights[0].shape[1] / heads))
    weights[0], biases[0] = weights[0] * scale, biases[0] * scale
    product = linear(graph, x, np.concatenate(weights, axis=1))
    read = graph.split(graph.node("Add", product, graph.constant(np.concatenate(biases))), 3)
    heads_of = zip(read, (QUERY, KEY, VALUE), strict=True)
    query, key, value = (by_head(graph, part, by_window, heads, order) for part, order in heads_of)
    return query, key, value


def _biased(graph: Graph, map_: nn.Linear, x: str, linear: Linear, least: float | None = None) -> str:
    product = linear(graph, x, numbers(map_.weight).T, least=least)
    return graph.node("Add", product, graph.constant(numbers(map_.bias)))


def _mixed(graph: Graph, mix: ScalarMix, states: list[str]) -> str:
    shares = numbers(mix.scale * mix.weights.softmax(0))
    parts = [graph.node("Mul", state, graph.constant(share)) for state, share in zip(states, shares, strict=True)]
    return graph.node("Sum", *parts)
