"""The whole parser as ONNX: from what is known of each token to fenceposts, from pairs of fenceposts to labels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch import nn

from fencepost.export.attention import add_attention_encoder, layer_norm, numbers
from fencepost.export.builder import FLOAT, INT32, INT64, Graph, Shape
from fencepost.export.linear import Linear, in_fp32
from fencepost.export.recurrence import add_lstm
from fencepost.features.vocabularies import TOKEN_MARKS
from fencepost.model.encoder import Encoder, NoEncoder, SelfAttentiveEncoder
from fencepost.model.lexical import CharAttention, CharConcat, CharLSTM, TagEmbedding, WordEmbedding
from fencepost.model.lstm import LSTMEncoder
from fencepost.model.parser_model import ParserModel
from fencepost.model.plan import AttentionPlan
from fencepost.model.pretrained import Pretrained
from fencepost.model.scorer import SpanScorer, TagScorer


def reads_letters(representation: nn.Module) -> bool:
    return isinstance(representation, CharLSTM | CharConcat | CharAttention)


def model_graph(model: ParserModel, size: int, plan: AttentionPlan, linear: Linear) -> bytes:
    """words, tags [B, T], letters [B, T, size], subwords [B, T, hidden], as far as the model reads them,

    and position, mask or lengths

    -> fenceposts [B, T - 1, hidden]: M_1 [y→_k; y←_{k+1}]; and predicted_tags [B, T] where the model predicts any.
    """
    graph = Graph()
    content = _content(graph, list(model.lexical.representations), size, linear)
    y = _encoder(graph, model.encoder, content, plan, linear)
    left = graph.slice(graph.slice(y, 1, 0, -1), 2, 0, 2**31, 2)
    right = graph.slice(graph.slice(y, 1, 1, 2**31), 2, 1, 2**31, 2)
    fenceposts = in_fp32(graph, graph.join([left, right]), numbers(model.span_scorer.hidden.weight).T)
    hidden = model.span_scorer.hidden.out_features
    outputs: dict[str, tuple[str, int, Shape]] = {"fenceposts": (fenceposts, FLOAT, ["B", "F", hidden])}
    if model.tag_scorer is not None:
        outputs["predicted_tags"] = (_tags(graph, model.tag_scorer, y), INT64, ["B", "T"])
    return graph.model(outputs)


def spans_graph(scorer: SpanScorer) -> bytes:
    """fenceposts [F, hidden], starts and ends [S] -> scores [S, labels]; best [S] and label [S] among them."""
    graph = Graph()
    fenceposts = graph.input("fenceposts", FLOAT, ["F", scorer.hidden.out_features])
    starts, ends = graph.input("starts", INT64, ["S"]), graph.input("ends", INT64, ["S"])
    difference = graph.node("Sub", graph.node("Gather", fenceposts, ends), graph.node("Gather", fenceposts, starts))
    biased = graph.node("Add", difference, graph.constant(numbers(scorer.hidden.bias)))
    hidden = graph.node("Relu", layer_norm(graph, scorer.norm, biased))
    # A column of zeros for the empty label.
    weight = np.pad(numbers(scorer.output.weight).T, ((0, 0), (1, 0)))
    bias = np.pad(numbers(scorer.output.bias), (1, 0))
    scores = graph.node("Add", in_fp32(graph, hidden, weight), graph.constant(bias))
    best = graph.node("ReduceMax", scores, axes=[-1], keepdims=0)
    label = graph.node("ArgMax", scores, axis=-1, keepdims=0)
    return graph.model(
        {
            "scores": (scores, FLOAT, ["S", weight.shape[1]]),
            "best": (best, FLOAT, ["S"]),
            "label": (label, INT64, ["S"]),
        }
    )


def _content(graph: Graph, representations: Sequence[nn.Module], size: int, linear: Linear) -> str:
    """§2.2, §5. The sum of a token's vectors: [B, T, size]. What comes from letters comes as one, already summed."""
    vectors = []
    for representation in representations:
        if isinstance(representation, WordEmbedding | TagEmbedding):
            name = "words" if isinstance(representation, WordEmbedding) else "tags"
            table = graph.constant(numbers(representation.embedding.weight))
            vectors.append(graph.node("Gather", table, graph.input(name, INT64, ["B", "T"])))
        elif isinstance(representation, Pretrained):
            weight = numbers(representation.projection.weight).T
            vectors.append(linear(graph, graph.input("subwords", FLOAT, ["B", "T", len(weight)]), weight))
    if any(map(reads_letters, representations)):
        vectors.append(graph.input("letters", FLOAT, ["B", "T", size]))
    total = vectors[0]
    for more in vectors[1:]:
        total = graph.node("Add", total, more)
    return total


def _encoder(graph: Graph, encoder: Encoder, content: str, plan: AttentionPlan, linear: Linear) -> str:
    if isinstance(encoder, SelfAttentiveEncoder):
        return add_attention_encoder(graph, encoder, content, plan, linear)
    if isinstance(encoder, NoEncoder):
        return content
    assert isinstance(encoder, LSTMEncoder)
    steps = graph.node("Transpose", content, perm=(1, 0, 2))
    *_, (states, _) = add_lstm(graph, encoder.lstm, steps, graph.input("lengths", INT32, ["B"]))
    # [T, 2, B, H] -> [B, T, H, 2]: the forward state in the even coordinates, the backward state in the odd ones.
    return graph.reshape(graph.node("Transpose", states, perm=(2, 0, 3, 1)), 0, 0, -1)


def _tags(graph: Graph, scorer: TagScorer, y: str) -> str:
    inner, norm, _, outer = scorer.layers
    assert isinstance(inner, nn.Linear)
    assert isinstance(norm, nn.LayerNorm)
    assert isinstance(outer, nn.Linear)
    hidden = graph.node("Relu", layer_norm(graph, norm, _biased(graph, inner, y)))
    scores = graph.slice(_biased(graph, outer, hidden), 2, TOKEN_MARKS, 2**31)
    number = graph.node("ArgMax", scores, axis=-1, keepdims=0)
    return graph.node("Add", number, graph.constant(np.array(TOKEN_MARKS)))


def _biased(graph: Graph, map_: nn.Linear, x: str) -> str:
    return graph.node("Add", in_fp32(graph, x, numbers(map_.weight).T), graph.constant(numbers(map_.bias)))
