"""Matrix products in an ONNX graph: in single precision, or on 8-bit integers.

In int8 each column of a matrix has its own scale, and so has each row of the input, measured at run time. Compared with
one scale for the whole batch (``quantize_dynamic``), scales by row cost a few more passes over the rows and bring two
advantages: a rare large value spoils one token instead of all, and no sentence's tree depends on the rest of its batch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from fencepost.chart.scores import Floats
from fencepost.export.builder import MICROSOFT, Graph

Linear = Callable[[Graph, str, Floats], str]  # [..., inputs] times a matrix [inputs, outputs]

ROW_STEPS: Final = 127  # from 0 to the largest value of a row
# Processors without VNNI add two products in 16 bits: 2 x 255 x 63 fits, 2 x 255 x 127 would not. F1 is the same with
# either.
COLUMN_STEPS: Final = 63
SMALLEST: Final = np.float32(1e-30)  # a row of zeros is divided by this


def in_fp32(graph: Graph, x: str, weight: Floats) -> str:
    return graph.node("MatMul", x, graph.constant(weight))


def in_int8(graph: Graph, x: str, weight: Floats) -> str:
    column_scale = np.maximum(np.abs(weight).max(axis=0), SMALLEST) / np.float32(COLUMN_STEPS)
    integers = np.round(weight / column_scale).astype(np.int8)
    largest = graph.node("ReduceMax", graph.node("Abs", x), axes=[-1])
    row_scale = graph.node("Max", largest, graph.constant(SMALLEST))
    # ONNX Runtime is fastest at products of unsigned rows and signed matrices, so zero is in the middle, at 128.
    step, zero = graph.constant(np.float32(1 / ROW_STEPS)), graph.constant(np.uint8(ROW_STEPS + 1))
    rows = graph.node("QuantizeLinear", graph.node("Div", x, row_scale), step, zero)
    columns = graph.constant(integers), graph.constant(column_scale)
    product = graph.node("MatMulIntegerToFloat", rows, columns[0], step, columns[1], zero, domain=MICROSOFT)
    return graph.node("Mul", product, row_scale)
