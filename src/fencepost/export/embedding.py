"""Rows of a table, in an ONNX graph or in a file of its own: in single precision, or in 8 bits with a scale per row."""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from fencepost.chart.scores import Floats
from fencepost.export.builder import FLOAT, Graph
from fencepost.export.linear import SMALLEST
from fencepost.storage.subword_table import format_scaled_table, format_table

STEPS: Final = 127  # from 0 to the largest value of a row


class Embedding(Protocol):
    """How the tables of a graph are stored."""

    def gather(self, graph: Graph, table: Floats, ids: str) -> str:
        """A table [N, d] inside the graph, and numbers of rows [...] -> [..., d]."""
        ...

    def file(self, table: Floats) -> bytes:
        """The table as a file of its own."""
        ...


class InFp32:
    def gather(self, graph: Graph, table: Floats, ids: str) -> str:
        return graph.node("Gather", graph.constant(table), ids)

    def file(self, table: Floats) -> bytes:
        return format_table(table)


class InInt8:
    def gather(self, graph: Graph, table: Floats, ids: str) -> str:
        integers, scale = _quantized(table)
        rows = graph.node("Cast", graph.node("Gather", graph.constant(integers), ids), to=FLOAT)
        return graph.node("Mul", rows, graph.node("Gather", graph.constant(scale), ids))

    def file(self, table: Floats) -> bytes:
        integers, scale = _quantized(table)
        return format_scaled_table(integers, scale[:, 0])


def _quantized(table: Floats) -> tuple[npt.NDArray[np.int8], Floats]:
    """Integers [N, d] and the scale of each row [N, 1]."""
    scale = np.maximum(np.abs(table).max(axis=1, keepdims=True), SMALLEST) / np.float32(STEPS)
    return np.round(table / scale).astype(np.int8), scale
