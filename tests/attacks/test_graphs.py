"""The graphs and tables of numbers in a stranger's exported model."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from itertools import permutations
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fencepost.cli.main import main
from fencepost.storage.find_model import find_model
from fencepost.storage.model_files import FUNCTIONS, ONNX, SPANS
from fencepost.storage.onnx_graph import require_plain_graph
from fencepost.storage.subword_table import SUBWORD_TABLE
from tests.attacks.strangers import copy_of_en, refusal, rewrite

GRAPHS = (ONNX, SPANS, "letters.onnx", "subwords.onnx")
SECRET = bytes(2**16)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "secret.bin").write_bytes(SECRET)
    return copy_of_en(tmp_path / "model")


def change(folder: Path, name: str, edit: Callable[[onnx.ModelProto], object]) -> None:
    model = onnx.load(str(folder / name), load_external_data=False)
    edit(model)
    rewrite(folder, name, model.SerializeToString())


def point_outside(tensor: TensorProto, location: str) -> None:
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in (("location", location), ("offset", "0")):
        entry = tensor.external_data.add()
        entry.key, entry.value = key, value


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("location", ["../secret.bin", "inside.bin", "/etc/hostname"])
def test_data_outside_a_graph_is_not_read(
    folder: Path, name: str, location: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "inside.bin").write_bytes(SECRET)
    change(folder, name, lambda model: point_outside(model.graph.initializer[0], location))
    assert f"{folder / name}: not a graph that fencepost wrote" in refusal(folder, capsys)


def constant_outside(model: onnx.ModelProto) -> None:
    value = numpy_helper.from_array(np.zeros(4, np.float32), "value")
    point_outside(value, "../secret.bin")
    model.graph.node.append(helper.make_node("Constant", [], ["unused"], value=value))


def with_loop(model: onnx.ModelProto) -> None:
    bound = helper.make_tensor("forever", TensorProto.INT64, [], [2**62])
    body = helper.make_graph(
        [helper.make_node("Identity", ["go"], ["go_on"])],
        "body",
        [helper.make_tensor_value_info("i", TensorProto.INT64, []), helper.make_tensor_value_info("go", 9, [])],
        [helper.make_tensor_value_info("go_on", TensorProto.BOOL, [])],
    )
    model.graph.initializer.append(bound)
    model.graph.node.append(helper.make_node("Loop", ["forever", ""], [], body=body))


def with_bomb(model: onnx.ModelProto) -> None:
    shape = numpy_helper.from_array(np.array([2**20, 2**20]), "shape")
    model.graph.initializer.append(shape)
    model.graph.node.append(helper.make_node("ConstantOfShape", ["shape"], ["bomb"]))


def other_domain(model: onnx.ModelProto) -> None:
    model.opset_import.append(helper.make_opsetid("someone.else", 1))
    model.graph.node.append(helper.make_node("Run", ["best"], ["ran"], domain="someone.else"))


def with_function(model: onnx.ModelProto) -> None:
    body = [helper.make_node("Identity", ["x"], ["y"])]
    model.functions.append(helper.make_function("own", "F", ["x"], ["y"], body, [helper.make_opsetid("", 17)]))


def from_elsewhere(model: onnx.ModelProto) -> None:
    model.producer_name = "pytorch"


def sparse(model: onnx.ModelProto) -> None:
    values = numpy_helper.from_array(np.zeros(1, np.float32), "sparse")
    indices = numpy_helper.from_array(np.zeros(1, np.int64))
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2**40]))


def too_short(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[0] = 2**40


def with_many_axes(model: onnx.ModelProto) -> None:
    model.graph.initializer[0].dims[:] = [2**62] * 100_000  # their product is a number of a megabyte


def with_many_nodes(model: onnx.ModelProto) -> None:
    model.graph.node.extend([helper.make_node("Identity", ["best"], ["again"])] * 100_000)


def with_a_giant_node(model: onnx.ModelProto) -> None:
    model.graph.node.append(helper.make_node("Sum", [""] * 2_000_000, ["sum"]))


def with_many_constants(model: onnx.ModelProto) -> None:
    model.graph.initializer.extend([numpy_helper.from_array(np.zeros(1, np.float32), "zero")] * 100_000)


BOMBS = [with_many_axes, with_many_nodes, with_a_giant_node, with_many_constants]
FOREIGN = [
    constant_outside,
    with_loop,
    with_bomb,
    other_domain,
    with_function,
    from_elsewhere,
    sparse,
    too_short,
    *BOMBS,
]


@pytest.mark.parametrize("edit", FOREIGN)
def test_a_graph_that_we_would_not_write_is_not_run(
    folder: Path, edit: Callable[[onnx.ModelProto], None], capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, SPANS, edit)
    assert f"{folder / SPANS}: not a graph that fencepost wrote" in refusal(folder, capsys)


def test_a_file_of_many_graphs_is_not_run(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is added to the first one. A thousand copies would take minutes to look at."""
    model = onnx.load(str(folder / SPANS))
    graph = onnx.ModelProto(graph=model.graph).SerializeToString()
    rewrite(folder, SPANS, model.SerializeToString() + graph)
    assert f"{folder / SPANS}: not a graph that fencepost wrote: it has two graphs" in refusal(folder, capsys)


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("content", [b"", b"\0" * 100, b"\xff" * 100, b"ORTM" * 100, b"\x3a\xff\xff\xff\xff\x0f"])
def test_bytes_that_are_no_graph_are_named(
    folder: Path, name: str, content: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, name, content)
    assert str(folder / name) in refusal(folder, capsys)


@pytest.mark.parametrize("names", list(permutations(GRAPHS, 2)), ids=" as ".join)
def test_a_graph_in_place_of_another_is_refused(
    folder: Path, names: tuple[str, str], capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, names[1], (folder / names[0]).read_bytes())
    said = refusal(folder, capsys)
    assert names[1] in said
    assert "don't agree" in said


def without_outputs(model: onnx.ModelProto) -> None:
    del model.graph.output[1:]


def with_renamed_output(model: onnx.ModelProto) -> None:
    old = model.graph.output[0].name
    for node in model.graph.node:
        node.output[:] = ["renamed" if name == old else name for name in node.output]
        node.input[:] = ["renamed" if name == old else name for name in node.input]
    model.graph.output[0].name = "renamed"


def with_another_input(model: onnx.ModelProto) -> None:
    model.graph.input.append(helper.make_tensor_value_info("more", TensorProto.FLOAT, ["X"]))
    model.graph.node.append(helper.make_node("Identity", ["more"], ["more still"]))


CHANGED = [
    (name, edit)
    for name in GRAPHS
    for edit in (without_outputs, with_renamed_output, with_another_input)
    if edit is not without_outputs or name in (ONNX, SPANS)
]


@pytest.mark.parametrize(("name", "edit"), CHANGED, ids=lambda each: getattr(each, "__name__", each))
def test_inputs_and_outputs_that_are_not_ours_are_refused(
    folder: Path, name: str, edit: Callable[[onnx.ModelProto], None], capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, name, edit)
    said = refusal(folder, capsys)
    assert str(folder) in said
    assert name in said


def fill(name: str, value: float) -> Callable[[onnx.ModelProto], None]:
    def edit(model: onnx.ModelProto) -> None:
        tensor = next(each for each in model.graph.initializer if each.data_type == TensorProto.FLOAT)
        array = np.full(tuple(tensor.dims), value, np.float32)
        tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))

    return edit


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 3e38])
@pytest.mark.parametrize("options", [[], ["--probabilities", "--format", "json"]], ids=["best", "probabilities"])
def test_scores_that_are_not_numbers_are_an_error(
    folder: Path, name: str, value: float, options: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, name, fill(name, value))
    before = set(folder.rglob("*"))
    status = main(["parse", "--model", str(folder), "--text", "Cats sleep.", *options])
    said = capsys.readouterr()
    assert set(folder.rglob("*")) == before
    if value == 3e38 and status == 0:  # large, but a number to the end
        assert said.out.count("\n") == 1
        return
    assert status == 2
    assert str(folder) in said.err
    assert "finite" in said.err


def shifted(by: int, output: str) -> Callable[[onnx.ModelProto], None]:
    def edit(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            node.output[:] = [f"{output} before" if name == output else name for name in node.output]
        model.graph.initializer.append(numpy_helper.from_array(np.array(by), "shift"))
        model.graph.node.append(helper.make_node("Add", [f"{output} before", "shift"], [output]))

    return edit


@pytest.mark.parametrize("by", [-1000, 1000, 2**62])
@pytest.mark.parametrize(("name", "output"), [(SPANS, "label"), (ONNX, "predicted_tags")])
def test_numbers_of_labels_and_tags_that_do_not_exist_are_an_error(
    folder: Path, name: str, output: str, by: int, capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, name, shifted(by, output))
    assert str(folder) in refusal(folder, capsys)


def of_another_shape(output: str, axes: list[int]) -> Callable[[onnx.ModelProto], None]:
    def edit(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            node.output[:] = [f"{output} before" if name == output else name for name in node.output]
        model.graph.initializer.append(numpy_helper.from_array(np.array(axes), "axes"))
        model.graph.node.append(helper.make_node("Reshape", [f"{output} before", "axes"], [output]))

    return edit


def of_another_type(output: str, kind: int) -> Callable[[onnx.ModelProto], None]:
    def edit(model: onnx.ModelProto) -> None:
        for node in model.graph.node:
            node.output[:] = [f"{output} before" if name == output else name for name in node.output]
        model.graph.node.append(helper.make_node("Cast", [f"{output} before"], [output], to=kind))
        for value in model.graph.output:
            if value.name == output:
                value.type.tensor_type.elem_type = kind

    return edit


TYPES = [
    (name, output, kind)
    for name, output, kinds in (
        (SPANS, "scores", ("STRING", "INT64")),
        (SPANS, "best", ("STRING", "BOOL")),
        (SPANS, "label", ("STRING", "FLOAT")),
        (ONNX, "predicted_tags", ("STRING", "FLOAT")),
        (FUNCTIONS, "probabilities", ("STRING", "BOOL")),
    )
    for kind in kinds
]


@pytest.mark.parametrize(("name", "output", "kind"), TYPES)
def test_results_of_another_type_are_an_error(
    folder: Path, name: str, output: str, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, name, of_another_type(output, TensorProto.DataType.Value(kind)))
    assert f"{name} gives {output} as tensor({kind.lower()})" in refusal(folder, capsys)


def test_names_of_nodes_do_not_reach_the_terminal(folder: Path) -> None:
    """ONNX Runtime itself would write them to standard error, where our own output is made safe."""

    def edit(model: onnx.ModelProto) -> None:
        with_axes = numpy_helper.from_array(np.array([7, 7, 7, 7]), "axes")
        model.graph.initializer.append(with_axes)
        model.graph.node.append(helper.make_node("Reshape", ["best", "axes"], ["bad"], name="\x1b]0;owned\x07"))

    change(folder, SPANS, edit)
    command = [sys.executable, "-m", "fencepost", "parse", "--model", str(folder), "--text", "Cats sleep."]
    ended = subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.stderr.startswith(b"error: ")
    assert ended.returncode == 2


SHAPES = [
    (SPANS, "best", [1, -1]),
    (SPANS, "label", [-1, 1]),
    (ONNX, "fenceposts", [-1]),
    (ONNX, "predicted_tags", [-1]),
    ("letters.onnx", "vectors", [-1]),
    ("subwords.onnx", "vectors", [-1]),
]


@pytest.mark.parametrize(("name", "output", "axes"), SHAPES)
def test_results_of_another_shape_are_an_error(
    folder: Path, name: str, output: str, axes: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    change(folder, name, of_another_shape(output, axes))
    said = refusal(folder, capsys)
    assert str(folder) in said
    assert name in said


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def npz() -> bytes:
    file = io.BytesIO()
    np.savez(file, np.zeros(3))
    return file.getvalue()


TABLES = {
    "objects": npy(np.array([{}], dtype=object)),
    "strings": npy(np.array(["a"])),
    "scales that are strings": npy(np.zeros(3, [("scale", "U4"), ("numbers", "i1", (384,))])),
    "numbers without an axis": npy(np.zeros(3, [("scale", "<f4"), ("numbers", "i1")])),
    "no rows": npy(np.zeros((0, 384), np.float32)),
    "too few rows": npy(np.zeros((5, 384), np.float32)),
    "an archive": npz(),
    "a shape beyond the file": npy(np.zeros((5, 384), np.float32)).replace(b"(5, 384)", b"(9999999, 384)"[:8] + b")"),
    "a header with brackets that don't match": npy(np.zeros(3, np.float32)).replace(b"(3,)", b"[3,)"),
    "a header without end": npy(np.zeros(3, np.float32)).replace(b"(3,), }", b"(3,)(((")[:128],
    "nothing": b"",
    "noise": b"\x93NUMPY" + b"\xff" * 200,
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_of_sub_tokens_that_is_wrong_is_named(
    folder: Path, name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rewrite(folder, SUBWORD_TABLE, TABLES[name])
    said = refusal(folder, capsys)
    assert str(folder) in said
    assert SUBWORD_TABLE in said


def test_the_shipped_graphs_are_ours() -> None:
    for name in GRAPHS:
        require_plain_graph(find_model() / name)
