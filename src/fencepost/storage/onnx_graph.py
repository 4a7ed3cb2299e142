"""Reads the nodes and constants of an exported graph, without the onnx package and without running anything.

An ONNX file is a protocol buffer. A message is a list of fields: each is a number with a wire type, then a value.
This module knows the few fields and operators that ``export`` writes. A graph with anything else is not run: it may
come from a stranger, and ONNX has loops, code from other libraries, and data in files anywhere on the disk.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from fencepost.errors import COPY_AGAIN, ModelError
from fencepost.storage.plain_files import open_plain

PRODUCER: Final = "fencepost"
Constant = npt.NDArray[Any]
Value = int | memoryview
Part = TypeVar("Part")

# Wire types: how a value is stored.
_VARINT, _EIGHT_BYTES, _WITH_LENGTH, _FOUR_BYTES = 0, 1, 2, 5
# Field numbers in onnx.proto: ModelProto, GraphProto, NodeProto, TensorProto.
_MODEL_PRODUCER, _MODEL_GRAPH = 2, 7
_GRAPH_NODE, _GRAPH_CONSTANT = 1, 5
_NODE_INPUT, _NODE_OPERATOR = 1, 4
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_BYTES = 1, 2, 8, 9
_MODEL_FIELDS: Final = frozenset({1, _MODEL_PRODUCER, _MODEL_GRAPH, 8})  # ir_version and opset_import besides
_GRAPH_FIELDS: Final = frozenset({_GRAPH_NODE, 2, _GRAPH_CONSTANT, 11, 12, 13})  # name, input, output, value_info
_NODE_FIELDS: Final = frozenset({_NODE_INPUT, 2, 3, _NODE_OPERATOR, 5, 7})  # output, name, attribute, domain
_NODE_ATTRIBUTE, _NODE_DOMAIN = 5, 7
_ATTRIBUTE_FIELDS: Final = frozenset({1, 2, 3, 4, 7, 8, 9, 20})  # name, type, and all values but tensors and graphs
_TENSOR_FIELDS: Final = frozenset({_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_NAME, _TENSOR_BYTES})
_DOMAINS: Final = ("", "com.microsoft")
# What ``export`` writes, or wrote in earlier versions.
_OPERATORS: Final = frozenset(
    {
        *("Abs", "Add", "ArgMax", "BiasGelu", "Cast", "Concat", "Cos", "CumSum", "Div", "Equal", "Expand", "FastGelu"),
        *("Flatten", "Gather", "GatherElements", "Gelu", "GreaterOrEqual", "Identity", "LSTM", "LayerNormalization"),
        *("Less", "MatMul", "MatMulIntegerToFloat", "Max", "Min", "Mul", "Not", "Or", "QuantizeLinear", "Range"),
        *("ReduceMax", "Relu", "Reshape", "Shape", "SimplifiedLayerNormalization", "Sin", "Slice", "Softmax", "Split"),
        *("Sub", "Sum", "Transpose", "Where"),
    }
)
_MOST_BYTES: Final = 2**31  # a protocol buffer can't be larger
# Reading a field takes about a microsecond. The largest model that we ship has 710 nodes of 52 kB, and 204 constants.
_MOST_PARTS, _MOST_BYTES_IN_NODES, _MOST_AXES = 2**14, 2**21, 8
_TYPES: Final = {1: "<f4", 2: "u1", 3: "i1", 6: "<i4", 7: "<i8"}  # numpy's names of TensorProto.DataType


class Node(NamedTuple):
    operator: str
    inputs: tuple[str, ...]


@dataclass(frozen=True)
class OnnxGraph:
    """A graph without its attributes and shapes."""

    nodes: list[Node]  # in the order in which they were added
    constants: dict[str, Constant]  # by name; they can't be written to


def read_onnx_graph(path: Path) -> OnnxGraph:
    """Raises ModelError if the file isn't a graph that ``fencepost export`` wrote."""
    with _mapped(path) as message:
        _check(message)
        return _model(message)


def require_plain_graph(path: Path) -> None:
    """Raises ModelError if the file isn't a graph such as ``fencepost export`` writes: then it must not be run."""
    with _mapped(path) as message:
        _check(message)


@contextmanager
def _mapped(path: Path) -> Iterator[memoryview]:
    """The bytes of a file, which stay on disk until they are used."""
    try:
        with open_plain(path, _MOST_BYTES, follow=True) as file:
            size = os.fstat(file.fileno()).st_size
            yield memoryview(mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b"")
    except (ValueError, OverflowError) as error:
        raise ModelError(f"{path}: not a graph that fencepost wrote: {error!s:.200}", hint=COPY_AGAIN) from error
    except OSError as error:
        raise ModelError(f"{path}: {error.strerror}", hint=COPY_AGAIN) from error


def _check(message: memoryview) -> None:
    """Raises ValueError if a graph has parts that ``export`` doesn't write."""
    graphs, bytes_in_nodes = 0, 0
    for field, value in _few(_fields(message)):
        _require("model", field, _MODEL_FIELDS)
        if field == _MODEL_PRODUCER and (producer := _text(value)) != PRODUCER:
            raise ValueError(f"its producer is {producer[:40]!r}")
        if field != _MODEL_GRAPH:
            continue
        graphs += 1
        if graphs > 1:
            raise ValueError("it has two graphs")
        for part, content in _few(_fields(_message(value))):
            _require("graph", part, _GRAPH_FIELDS)
            if part == _GRAPH_NODE:
                bytes_in_nodes += len(_message(content))
                if bytes_in_nodes > _MOST_BYTES_IN_NODES:
                    raise ValueError(f"its nodes have more than {_MOST_BYTES_IN_NODES:,} bytes")
                _check_node(_message(content))
            elif part == _GRAPH_CONSTANT:
                _tensor(_message(content))


def _check_node(message: memoryview) -> None:
    for field, value in _fields(message):
        _require("node", field, _NODE_FIELDS)
        if field == _NODE_OPERATOR and (operator := _text(value)) not in _OPERATORS:
            raise ValueError(f"it has the operator {operator[:40]!r}")
        if field == _NODE_DOMAIN and (domain := _text(value)) not in _DOMAINS:
            raise ValueError(f"it has an operator of {domain[:40]!r}")
        if field == _NODE_ATTRIBUTE:
            for part, _ in _fields(_message(value)):
                _require("attribute", part, _ATTRIBUTE_FIELDS)


def _require(what: str, field: int, known: frozenset[int]) -> None:
    if field not in known:
        raise ValueError(f"a {what} has the unknown field {field}")


def _model(message: memoryview) -> OnnxGraph:
    producer, graph = "", None
    for field, value in _fields(message):
        if field == _MODEL_PRODUCER:
            producer = _text(value)
        elif field == _MODEL_GRAPH:
            graph = _message(value)
    if graph is None or producer != PRODUCER:
        raise ValueError("it has no graph" if graph is None else f"its producer is {producer[:40]!r}")
    nodes: list[Node] = []
    constants: dict[str, Constant] = {}
    for field, value in _fields(graph):
        if field == _GRAPH_NODE:
            nodes.append(_node(_message(value)))
        elif field == _GRAPH_CONSTANT:
            name, constant = _tensor(_message(value))
            if name in constants:
                raise ValueError(f"it has two constants {name}")
            constants[name] = constant
    return OnnxGraph(nodes, constants)


def _node(message: memoryview) -> Node:
    operator, inputs = "", []
    for field, value in _fields(message):
        if field == _NODE_INPUT:
            inputs.append(_text(value))
        elif field == _NODE_OPERATOR:
            operator = _text(value)
    return Node(operator, tuple(inputs))


def _tensor(message: memoryview) -> tuple[str, Constant]:
    name, kind, content = "", 0, memoryview(b"")
    shape: list[int] = []
    for field, value in _few(_fields(message), _MOST_AXES + 8):
        _require("constant", field, _TENSOR_FIELDS)
        if field == _TENSOR_SHAPE:
            shape += [value] if isinstance(value, int) else list(_few(_packed(value), _MOST_AXES))
        elif field == _TENSOR_TYPE:
            kind = _number(value)
        elif field == _TENSOR_NAME:
            name = _text(value)
        elif field == _TENSOR_BYTES:
            content = _message(value)
    if kind not in _TYPES:
        raise ValueError(f"{name[:40]!r} has numbers of the unknown type {kind}")
    if len(shape) > _MOST_AXES:
        raise ValueError(f"{name[:40]!r} has {len(shape)} axes")
    dtype = np.dtype(_TYPES[kind])
    if math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"{name[:40]!r} has {len(content)} bytes, which is not its size")
    array = np.frombuffer(content, dtype).reshape(shape)
    if dtype.kind == "f" and not math.isfinite(array.sum(dtype=np.float64)):
        raise ValueError(f"{name[:40]!r} has numbers that are not finite")
    return name, array


def _fields(message: memoryview) -> Iterator[tuple[int, Value]]:
    """The number and the value of each field: an integer, or the bytes of anything else."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        field, wire_type = key >> 3, key & 7
        if wire_type == _VARINT:
            number, at = _varint(message, at)
            yield field, number
            continue
        if wire_type == _WITH_LENGTH:
            size, at = _varint(message, at)
        elif wire_type in (_EIGHT_BYTES, _FOUR_BYTES):
            size = 8 if wire_type == _EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field has the unknown wire type {wire_type}")
        if size > len(message) - at:
            raise ValueError("it is cut short")
        yield field, message[at : at + size]
        at += size


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    """An integer of 7 bits per byte, lowest first, and where it ends."""
    number = 0
    for index, byte in enumerate(message[at : at + 10]):
        number |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return number, at + index + 1
    raise ValueError("an integer does not end")


def _packed(message: memoryview) -> Iterator[int]:
    at = 0
    while at < len(message):
        number, at = _varint(message, at)
        yield number


def _few(parts: Iterator[Part], most: int = _MOST_PARTS) -> Iterator[Part]:
    """Raises ValueError after ``most`` parts: a file of a gigabyte could have a billion."""
    for count, part in enumerate(parts, 1):
        if count > most:
            raise ValueError(f"a part of it has more than {most:,} parts")
        yield part


def _message(value: Value) -> memoryview:
    if isinstance(value, int):
        raise ValueError("a field is an integer that should not be one")
    return value


def _text(value: Value) -> str:
    return bytes(_message(value)).decode()


def _number(value: Value) -> int:
    if not isinstance(value, int):
        raise ValueError("a field is not an integer that should be one")
    return value
