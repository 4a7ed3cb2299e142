"""The weights in the graphs of an export, which have no names, one after the other in the order of the nodes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
import torch
from torch import Tensor

from fencepost.chart.scores import Floats
from fencepost.storage.onnx_graph import Constant, OnnxGraph
from fencepost.storage.subword_table import SubwordTable

# Operators that read weights, and which of their inputs those are.
_WEIGHTS_OF: Final[dict[str, tuple[int, ...]]] = {
    "Add": (1,),
    "BiasGelu": (1,),
    "Gather": (0,),
    "LSTM": (1, 2, 3),
    "LayerNormalization": (1, 2),
    "MatMul": (1,),
    "MatMulIntegerToFloat": (1, 3),
    "Mul": (1,),
    "SimplifiedLayerNormalization": (1,),
}


class WeightsInOrder:
    """The weights of one graph in the order of its nodes. Raises ValueError if they aren't the expected ones."""

    def __init__(self, graph: OnnxGraph, subwords: SubwordTable | None = None) -> None:
        self._steps = _weights(graph)
        self._subwords = subwords

    def take(self, *operators: str) -> list[Constant]:
        """The weights of the next operator that has any; it must be one of ``operators``."""
        operator, weights = next(self._steps, ("its end", []))
        if operator not in operators:
            raise ValueError(f"{operator} comes where {' or '.join(operators)} should")
        return weights

    def bias(self, *operators: str) -> Floats:
        """[outputs]; an operator that adds it may also do something else."""
        return with_axes(1, *self.take("Add", *operators))

    def matrix(self) -> Floats:
        """[inputs, outputs]; in int8 each column has its own scale."""
        matrix, *scale = self.take("MatMul", "MatMulIntegerToFloat")
        return _dequantised(matrix, scale[0][None]) if scale else with_axes(2, matrix)

    def affine(self, *, joint: bool) -> tuple[Floats, Floats]:
        """A matrix [inputs, outputs] and a bias; a model of several treebanks chooses from their columns."""
        if not joint:
            return self.matrix(), self.bias()
        return with_axes(2, *self.take("Gather")), with_axes(1, *self.take("Gather"))

    def table(self) -> Floats:
        """[N, d]; in int8 each row has its own scale."""
        (table,) = self.take("Gather")
        return _dequantised(table, *self.take("Gather")) if table.dtype == np.int8 else with_axes(2, table)

    def subwords(self) -> Floats:
        """[N, size]: from their own file, or from the graph in models that older versions exported."""
        return self.table() if self._subwords is None else self._subwords.vectors(np.arange(len(self._subwords)))

    def require_end(self) -> None:
        for operator, _ in self._steps:
            raise ValueError(f"{operator} comes where its end should")


def _weights(graph: OnnxGraph) -> Iterator[tuple[str, list[Constant]]]:
    """Each operator with what it reads. Operators on integers compute positions: they read no weights."""
    for operator, inputs in graph.nodes:
        numbers = _WEIGHTS_OF.get(operator, ())
        constants = [graph.constants.get(inputs[number]) for number in numbers if number < len(inputs)]
        weights = [
            constant for constant in constants if constant is not None and constant.dtype.name in ("float32", "int8")
        ]
        if weights and len(weights) == len(numbers):
            yield operator, weights


def with_axes(axes: int, array: Constant) -> Floats:
    if array.ndim != axes:
        raise ValueError(f"{shape_of(array)} numbers don't have {axes} axes")
    return array


def _dequantised(integers: Constant, scale: Constant) -> Floats:
    if integers.ndim != 2 or scale.shape not in ((1, integers.shape[1]), (len(integers), 1)):
        raise ValueError(f"{shape_of(integers)} numbers have {shape_of(scale)} scales")
    return np.asarray(integers * scale.astype(np.float32))


def put(parameter: Tensor, value: Constant) -> None:
    if value.shape != parameter.shape:
        raise ValueError(f"it has {shape_of(value)} numbers, not {shape_of(parameter)}")
    parameter.copy_(torch.from_numpy(np.array(value, np.float32)))


def shape_of(array: Constant | Tensor) -> str:
    return " x ".join(map(str, array.shape)) or "1"
