"""Matrix products in an ONNX graph: in single precision, or on 8-bit integers.

In int8 each column of a matrix has its own scale, and so has each row of the input, measured at run time. Compared with
one scale for the whole batch (``quantize_dynamic``), scales by row cost a few more passes over the rows and bring two
advantages: a rare large value spoils one token instead of all, and no sentence's tree depends on the rest of its batch.
Rows are a matrix [N, inputs], not [B, T, inputs]: ONNX Runtime then divides by the scales while it rounds.
"""

from __future__ import annotations

from typing import Final, Protocol

import numpy as np

from fencepost.chart.scores import Floats
from fencepost.export.builder import MICROSOFT, Graph


class Linear(Protocol):
    """Rows [N, inputs] times a matrix [inputs, outputs]. If ``least`` is given, no number of the rows is below it."""

    def __call__(self, graph: Graph, rows: str, weight: Floats, *, least: float | None = None) -> str: ...


ROW_STEPS: Final = 127  # from 0 to the largest value of a row
# Processors without VNNI add two products in 16 bits: 2 x 255 x 63 fits, 2 x 255 x 127 would not. F1 is the same with
# either.
COLUMN_STEPS: Final = 63
SMALLEST: Final = np.float32(1e-30)  # a row of zeros is divided by this


def in_fp32(graph: Graph, rows: str, weight: Floats, *, least: float | None = None) -> str:
    return graph.node("MatMul", rows, graph.constant(weight))


def in_int8(graph: Graph, rows: str, weight: Floats, *, least: float | None = None) -> str:
    column_scale = np.maximum(np.abs(weight).max(axis=0), SMALLEST) / np.float32(COLUMN_STEPS)
    integers = np.round(weight / column_scale).astype(np.int8)
    row_scale = _row_scale(graph, rows, least)  # [N, 1]
    # ONNX Runtime is fastest at products of unsigned rows and signed matrices, so zero is in the middle, at 128.
    zero = np.uint8(ROW_STEPS + 1)
    zeros = graph.node("Expand", graph.constant(zero), graph.node("Shape", rows, start=0, end=1))
    quantized = graph.node("QuantizeLinear", rows, graph.reshape(row_scale, -1), zeros, axis=0)
    one, columns = graph.constant(np.float32(1)), (graph.constant(integers), graph.constant(column_scale))
    inputs = quantized, columns[0], one, columns[1], graph.constant(zero)
    return graph.node("Mul", graph.node("MatMulIntegerToFloat", *inputs, domain=MICROSOFT), row_scale)


def _row_scale(graph: Graph, rows: str, least: float | None) -> str:
    if least is None:
        largest = graph.node("ReduceMax", graph.node("Abs", rows), axes=[-1])
        least = 0
    else:
        largest = graph.node("ReduceMax", rows, axes=[-1])
    above_zero = graph.node("Max", largest, graph.constant(np.maximum(np.float32(-least), SMALLEST)))
    return graph.node("Div", above_zero, graph.constant(np.float32(ROW_STEPS)))
