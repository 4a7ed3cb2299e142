"""Writes ONNX graphs node by node: a thin layer over ``onnx.helper`` that makes up the names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET: Final = 17
IR_VERSION: Final = 8
MICROSOFT: Final = "com.microsoft"  # the operators of ONNX Runtime itself
FLOAT, INT32, INT64 = TensorProto.FLOAT, TensorProto.INT32, TensorProto.INT64
Shape = Sequence[int | str]


class Graph:
    """A graph under construction. Values are referred to by name; equal nodes and constants are added only once."""

    def __init__(self) -> None:
        self._nodes: dict[object, onnx.NodeProto] = {}
        self._constants: dict[object, TensorProto] = {}
        self._inputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, kind: int, shape: Shape) -> str:
        self._inputs.append(helper.make_tensor_value_info(name, kind, shape))
        return name

    def constant(self, value: npt.ArrayLike) -> str:
        array = np.ascontiguousarray(value)
        shape = np.shape(value)
        key = (array.dtype.str, shape, array.tobytes())
        if key not in self._constants:
            name = f"constant{len(self._constants)}"
            self._constants[key] = numpy_helper.from_array(array.reshape(shape), name)
        return self._constants[key].name

    def node(self, operator: str, *inputs: str, **attributes: Any) -> str:
        return self.nodes(operator, 1, *inputs, **attributes)[0]

    def nodes(self, operator: str, outputs: int, *inputs: str, **attributes: Any) -> list[str]:
        """A node with several outputs."""
        key = (operator, inputs, repr(attributes))
        if key not in self._nodes:
            names = [f"{operator}{len(self._nodes)}.{output}" for output in range(outputs)]
            self._nodes[key] = helper.make_node(operator, inputs, names, name=names[0], **attributes)
        return list(self._nodes[key].output)

    def reshape(self, value: str, *shape: int) -> str:
        """0 keeps the size of an axis; -1 stands for the remaining size."""
        return self.node("Reshape", value, self.constant(np.array(shape)))

    def split(self, value: str, parts: int) -> list[str]:
        """Splits the last axis into equal parts."""
        return [value] if parts == 1 else self.nodes("Split", parts, value, axis=-1)

    def join(self, values: Sequence[str]) -> str:
        """Concatenates along the last axis."""
        return values[0] if len(values) == 1 else self.node("Concat", *values, axis=-1)

    def slice(self, value: str, axis: int, start: int, stop: int, step: int = 1) -> str:
        bounds = [self.constant(np.array([number])) for number in (start, stop, axis, step)]
        return self.node("Slice", value, *bounds)

    def model(self, outputs: Mapping[str, tuple[str, int, Shape]]) -> bytes:
        """The finished graph as a file; ``outputs`` gives each output's value, kind and shape."""
        renamed = [helper.make_node("Identity", [value], [name]) for name, (value, _, _) in outputs.items()]
        infos = [helper.make_tensor_value_info(name, kind, shape) for name, (_, kind, shape) in outputs.items()]
        nodes, constants = [*self._nodes.values(), *renamed], list(self._constants.values())
        graph = helper.make_graph(nodes, "fencepost", self._inputs, infos, constants)
        domains = [helper.make_opsetid("", OPSET), helper.make_opsetid(MICROSOFT, 1)]
        model = helper.make_model(graph, opset_imports=domains, ir_version=IR_VERSION, producer_name="fencepost")
        return bytes(model.SerializeToString())
