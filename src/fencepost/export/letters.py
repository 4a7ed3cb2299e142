"""Vectors of words from their letters (§5.1) as ONNX: ``model.lexical`` for distinct words, outside any sentence."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from torch import nn

from fencepost.config.settings import LexicalKind
from fencepost.export.attention import add_attention_encoder, numbers
from fencepost.export.builder import FLOAT, INT32, INT64, Graph
from fencepost.export.linear import in_fp32
from fencepost.export.recurrence import add_lstm
from fencepost.model.lexical import PADDING_LETTER, CharAttention, CharConcat, CharLSTM
from fencepost.model.plan import AttentionPlan


def letters_graph(representations: Mapping[LexicalKind, nn.Module], size: int) -> bytes:
    """spellings [B, T], lengths [B] -> vectors [B, size], the sum over the representations."""
    graph = Graph()
    spellings = graph.input("spellings", INT64, ["B", "T"])
    lengths = graph.input("lengths", INT32, ["B"])
    vectors = [WORD_VECTORS[kind](graph, module, spellings, lengths) for kind, module in representations.items()]
    total = vectors[0]
    for more in vectors[1:]:
        total = graph.node("Add", total, more)
    return graph.model({"vectors": (total, FLOAT, ["B", size])})


def _char_lstm(graph: Graph, module: CharLSTM, spellings: str, lengths: str) -> str:
    steps = graph.node("Transpose", spellings, perm=(1, 0))
    embedded = graph.node("Gather", graph.constant(numbers(module.embedding.weight)), steps)  # [T, B, letter size]
    ((_, last),) = add_lstm(graph, module.lstm, embedded, lengths)  # [2, B, H]
    return graph.reshape(graph.node("Transpose", last, perm=(1, 0, 2)), 0, -1)


def _char_concat(graph: Graph, module: CharConcat, spellings: str, lengths: str) -> str:
    ends = np.arange(module.ends)
    stop = graph.node("Sub", graph.reshape(graph.node("Cast", lengths, to=INT64), -1, 1), graph.constant(np.array(1)))
    last = graph.node("Add", stop, graph.constant(ends - module.ends))  # [B, ends]
    first = graph.node("Add", graph.node("Mul", stop, graph.constant(np.array(0))), graph.constant(1 + ends))
    index = graph.join([first, last])
    width = graph.slice(graph.node("Shape", spellings), 0, 1, 2)
    beyond = graph.node("Sub", width, graph.constant(np.array([1])))
    inside = graph.node("Min", graph.node("Max", index, graph.constant(np.array(0))), beyond)
    letters = graph.node("GatherElements", spellings, inside, axis=1)
    no_letter = graph.node(
        "Or", graph.node("Less", index, graph.constant(np.array(1))), graph.node("GreaterOrEqual", index, stop)
    )
    letters = graph.node("Where", no_letter, graph.constant(np.array(PADDING_LETTER)), letters)
    return graph.reshape(graph.node("Gather", graph.constant(numbers(module.embedding.weight)), letters), 0, -1)


def _char_attention(graph: Graph, module: CharAttention, spellings: str, _lengths: str) -> str:
    embedded = graph.node("Gather", graph.constant(numbers(module.embedding.weight)), spellings)
    y = add_attention_encoder(graph, module.encoder, embedded, AttentionPlan(), in_fp32)
    word_start = graph.node("Gather", y, graph.constant(np.array(0)), axis=1)
    return in_fp32(graph, word_start, numbers(module.output.weight).T)


# The module of a kind, spellings [B, T] and lengths [B] -> vectors [B, size].
WORD_VECTORS: Final[dict[LexicalKind, Callable[[Graph, Any, str, str], str]]] = {
    "char_lstm": _char_lstm,
    "char_concat": _char_concat,
    "char_attention": _char_attention,
}
