"""The whole parser as ONNX: from the inputs of each token to fenceposts, from pairs of fenceposts to labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from torch import nn

from fencepost.chart.scores import Floats
from fencepost.config.settings import Config, LexicalKind
from fencepost.export.attention import add_attention_encoder, in_sentences, layer_norm, numbers, rows, sentences
from fencepost.export.builder import FLOAT, INT32, INT64, Graph, Shape
from fencepost.export.linear import Linear, in_fp32
from fencepost.export.recurrence import add_lstm
from fencepost.features.lexical_kinds import LEXICAL_KINDS, reads
from fencepost.features.vocabularies import TOKEN_MARKS
from fencepost.model.encoder import Encoder, NoEncoder, SelfAttentiveEncoder
from fencepost.model.lexical import TagEmbedding, TreebankEmbedding, WordEmbedding
from fencepost.model.lstm import LSTMEncoder
from fencepost.model.parser_model import ParserModel
from fencepost.model.plan import AttentionPlan
from fencepost.model.pretrained import Pretrained
from fencepost.model.scorer import FunctionScorer, SpanScorer, TagScorer


def model_graph(model: ParserModel, config: Config, linear: Linear) -> bytes:
    """The graph of model.onnx: fenceposts [B, T - 1, hidden] = M_1 [y→_k; y←_{k+1}], and predicted_tags [B, T] if any.

    With functions also [y→_k; y←_{k+1}] itself, as vectors [B, T - 1, d_model].

    Its inputs: those of words, tags [B, T], letters [B, T, size] and subwords [B, T, hidden] that the model reads; and
    position, mask or lengths. A model of several treebanks also reads the numbers of the tags to choose from.
    """
    graph = Graph()
    content = _content(graph, model, config, linear)
    y = _encoder(graph, model.encoder, content, AttentionPlan.of(config.eval.plan), linear)
    left = graph.slice(graph.slice(y, 1, 0, -1), 2, 0, 2**31, 2)
    right = graph.slice(graph.slice(y, 1, 1, 2**31), 2, 1, 2**31, 2)
    vectors = graph.join([left, right])
    fenceposts = in_fp32(graph, vectors, numbers(model.span_scorer.hidden.weight).T)
    hidden = model.span_scorer.hidden.out_features
    outputs: dict[str, tuple[str, int, Shape]] = {"fenceposts": (fenceposts, FLOAT, ["B", "F", hidden])}
    if model.tag_scorer is not None:
        outputs["predicted_tags"] = (_tags(graph, model.tag_scorer, y, _is_joint(config)), INT64, ["B", "T"])
    if model.function_scorer is not None:
        outputs["vectors"] = (vectors, FLOAT, ["B", "F", config.encoder.d_model])
    return graph.model(outputs)


def functions_graph(scorer: FunctionScorer) -> bytes:
    """The graph of functions.onnx: vectors [F, d_model], starts, ends, labels, parents [C] -> probabilities.

    A scorer that reads words also has the vectors of the word to the right of each fencepost: words [F, size].
    """
    graph = Graph()
    vectors = graph.input("vectors", FLOAT, ["F", scorer.hidden.in_features // 2])
    starts, ends, labels, parents = (
        graph.input(name, INT64, ["C"]) for name in ("starts", "ends", "labels", "parents")
    )
    span = graph.join([graph.node("Gather", vectors, starts), graph.node("Gather", vectors, ends)])
    label = graph.node("Gather", graph.constant(numbers(scorer.label.weight)), labels)
    parent = graph.node("Gather", graph.constant(numbers(scorer.parent.weight)), parents)
    total = graph.node("Add", _biased(graph, scorer.hidden, span), graph.node("Add", label, parent))
    if scorer.words is not None:
        words = graph.input("words", FLOAT, ["F", scorer.words.in_features // 2])
        last = graph.node("Sub", ends, graph.constant(np.array(1)))
        both = graph.join([graph.node("Gather", words, starts), graph.node("Gather", words, last)])
        total = graph.node("Add", total, in_fp32(graph, both, numbers(scorer.words.weight).T))
    hidden = graph.node("Relu", layer_norm(graph, scorer.norm, total))
    probabilities = graph.node("Softmax", _biased(graph, scorer.output, hidden), axis=-1)
    return graph.model({"probabilities": (probabilities, FLOAT, ["C", scorer.output.out_features])})


def _is_joint(config: Config) -> bool:
    return reads(config, "treebanks")


def spans_graph(scorer: SpanScorer, config: Config) -> bytes:
    """The graph of spans.onnx: fenceposts [F, hidden], starts, ends [S] -> scores [S, labels], best [S], label [S].

    A model of several treebanks also reads the numbers of the labels to choose from.
    """
    graph = Graph()
    fenceposts = graph.input("fenceposts", FLOAT, ["F", scorer.hidden.out_features])
    starts, ends = graph.input("starts", INT64, ["S"]), graph.input("ends", INT64, ["S"])
    difference = graph.node("Sub", graph.node("Gather", fenceposts, ends), graph.node("Gather", fenceposts, starts))
    biased = graph.node("Add", difference, graph.constant(numbers(scorer.hidden.bias)))
    hidden = graph.node("Relu", layer_norm(graph, scorer.norm, biased))
    # A column of zeros for the empty label.
    weight = np.pad(numbers(scorer.output.weight).T, ((0, 0), (1, 0)))
    bias = np.pad(numbers(scorer.output.bias), (1, 0))
    columns = graph.input("labels", INT64, ["L"]) if _is_joint(config) else None
    scores = _affine(graph, hidden, weight, bias, columns)
    best = graph.node("ReduceMax", scores, axes=[-1], keepdims=0)
    label = graph.node("ArgMax", scores, axis=-1, keepdims=0)
    return graph.model(
        {
            "scores": (scores, FLOAT, ["S", weight.shape[1] if columns is None else "L"]),
            "best": (best, FLOAT, ["S"]),
            "label": (label, INT64, ["S"]),
        }
    )


def _content(graph: Graph, model: ParserModel, config: Config, linear: Linear) -> str:
    """§2.2, §5. The sum of a token's vectors: [B, T, size]. Those made of letters are one input, already summed."""
    vectors = [
        TOKEN_VECTORS[kind](graph, module, LEXICAL_KINDS[kind].reads, linear)
        for kind, module in zip(config.lexical, model.lexical.representations, strict=True)
        if LEXICAL_KINDS[kind].reads != "letters"
    ]
    if reads(config, "letters"):
        vectors.append(graph.input("letters", FLOAT, ["B", "T", config.d_content]))
    total = vectors[0]
    for more in vectors[1:]:
        total = graph.node("Add", total, more)
    return total


def _embedded(
    graph: Graph, module: WordEmbedding | TagEmbedding | TreebankEmbedding, name: str, _linear: Linear
) -> str:
    table = graph.constant(numbers(module.embedding.weight))
    return graph.node("Gather", table, graph.input(name, INT64, ["B", "T"]))


def _projected(graph: Graph, module: Pretrained, name: str, linear: Linear) -> str:
    weight = numbers(module.projection.weight).T
    x = graph.input(name, FLOAT, ["B", "T", len(weight)])
    return in_sentences(graph, linear(graph, rows(graph, x), weight), sentences(graph, x), -1)


# The module of a kind and the name of its input -> vectors [B, T, size]. Kinds that read letters: ``export.letters``.
TOKEN_VECTORS: Final[dict[LexicalKind, Callable[[Graph, Any, str, Linear], str]]] = {
    "words": _embedded,
    "tags": _embedded,
    "pretrained": _projected,
    "treebank": _embedded,
}


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


def _tags(graph: Graph, scorer: TagScorer, y: str, joint: bool) -> str:
    inner, norm, _, outer = scorer.layers
    assert isinstance(inner, nn.Linear)
    assert isinstance(norm, nn.LayerNorm)
    assert isinstance(outer, nn.Linear)
    hidden = graph.node("Relu", layer_norm(graph, norm, _biased(graph, inner, y)))
    columns = graph.input("tag_numbers", INT64, ["K"]) if joint else None
    all_scores = _affine(graph, hidden, numbers(outer.weight).T, numbers(outer.bias), columns)
    scores = graph.slice(all_scores, 2, TOKEN_MARKS, 2**31)
    number = graph.node("ArgMax", scores, axis=-1, keepdims=0)
    return graph.node("Add", number, graph.constant(np.array(TOKEN_MARKS)))


def _affine(graph: Graph, x: str, weight: Floats, bias: Floats, columns: str | None) -> str:
    """x W + b, of all columns of W and b, or of those with the numbers in ``columns``."""
    if columns is None:
        return graph.node("Add", in_fp32(graph, x, weight), graph.constant(bias))
    chosen = graph.node("Gather", graph.constant(weight), columns, axis=1)
    return graph.node("Add", graph.node("MatMul", x, chosen), graph.node("Gather", graph.constant(bias), columns))


def _biased(graph: Graph, map_: nn.Linear, x: str) -> str:
    return graph.node("Add", in_fp32(graph, x, numbers(map_.weight).T), graph.constant(numbers(map_.bias)))
