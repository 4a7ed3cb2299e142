"""Rows of a table in an ONNX graph: in single precision, or in 8 bits with one scale per row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from fencepost.chart.scores import Floats
from fencepost.export.builder import FLOAT, Graph
from fencepost.export.linear import SMALLEST

Embedding = Callable[[Graph, Floats, str], str]  # a table [N, d] and numbers of rows [...] -> [..., d]

STEPS: Final = 127  # from 0 to the largest value of a row


def from_fp32(graph: Graph, table: Floats, ids: str) -> str:
    return graph.node("Gather", graph.constant(table), ids)


def from_int8(graph: Graph, table: Floats, ids: str) -> str:
    scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), SMALLEST) / np.float32(STEPS)
    integers = np.round(table / scale).astype(np.int8)
    rows = graph.node("Cast", graph.node("Gather", graph.constant(integers), ids), to=FLOAT)
    return graph.node("Mul", rows, graph.node("Gather", graph.constant(scale), ids))
