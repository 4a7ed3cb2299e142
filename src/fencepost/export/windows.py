"""What the graphs of all pre-trained encoders share: attention inside windows of one width, [V, W, ...]."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from fencepost.export.attention import in_sentences, rows
from fencepost.export.builder import Graph

QUERY, KEY, VALUE = (0, 2, 1, 3), (0, 2, 3, 1), (0, 2, 1, 3)  # [V, W, heads, d] with its axes in the order for products
LEAST_GELU: Final = -0.17  # gelu(-0.75), the smallest value that gelu and its approximation have


def places(graph: Graph, embedded: str) -> str:
    """0, 1, …, W - 1."""
    width = graph.node("Gather", graph.node("Shape", embedded), graph.constant(np.array(1)))
    return graph.node("Range", graph.constant(np.array(0)), width, graph.constant(np.array(1)))


def by_head(graph: Graph, product: str, by_window: str, heads: int, order: Sequence[int]) -> str:
    """Rows [V W, heads d] as [V, heads, W, d] or, for ``KEY``, as [V, heads, d, W]."""
    return graph.node("Transpose", in_sentences(graph, product, by_window, heads, -1), perm=order)


def attend(graph: Graph, query: str, key: str, value: str, mask: str) -> str:
    """softmax(Q K^T + mask) V: rows [V W, heads d]."""
    logits = graph.node("Add", graph.node("MatMul", query, key), mask)
    average = graph.node("MatMul", graph.node("Softmax", logits, axis=-1), value)
    return rows(graph, graph.node("Transpose", average, perm=(0, 2, 1, 3)))
