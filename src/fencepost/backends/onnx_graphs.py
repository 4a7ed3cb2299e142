"""Opens the graphs of an exported model. They may come from a stranger: each is checked before and after it runs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy.typing as npt
import onnxruntime
from onnxruntime import InferenceSession

from fencepost.errors import ModelError
from fencepost.features.lexical_kinds import LETTERS, LEXICAL_KINDS, SUBWORDS, graphs, reads
from fencepost.storage.model_files import FUNCTIONS, ONNX, SPANS, require_listed
from fencepost.storage.model_folder import ModelFolder, disagreement
from fencepost.storage.onnx_graph import require_plain_graph
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable

# Fusions that are slower than the operators that they fuse: 2.6 ms against 0.3 ms for a sum and a norm, 0.9 ms against
# 0.6 ms for a bias and gelu.
SLOWER: Final = ["SkipLayerNormFusion", "BiasGeluFusion"]
AGAIN: Final = "export the model again"
SEQUENCE: Final = ("lengths", "position", "mask")  # inputs that describe sequences, not words

onnxruntime.disable_telemetry_events()  # if something else imported it before ``backends`` could say so


class Graph:
    """A graph that can be run. What it computes is checked before it is used."""

    def __init__(self, path: Path, session: InferenceSession) -> None:
        self.path = path
        self.threads = int(session.get_session_options().intra_op_num_threads)
        self.inputs = {value.name: value.shape for value in session.get_inputs()}
        self.outputs = {value.name: value.shape for value in session.get_outputs()}
        self.types = {value.name: value.type for value in session.get_outputs()}
        self._session = session

    def width(self, output: str) -> int:
        """The size of the last axis of an output, which a graph of ours always states."""
        axes = self.outputs[output]
        if not axes or type(axes[-1]) is not int:
            raise ModelError(f"{self.path}: doesn't state the size of {output}", hint=AGAIN)
        return int(axes[-1])

    def run(self, feeds: Mapping[str, npt.NDArray[Any]], /, **shapes: tuple[int, ...]) -> list[npt.NDArray[Any]]:
        """The outputs named by keyword, each with the shape that it must have."""
        try:
            results = self._session.run(list(shapes), {name: feeds[name] for name in self.inputs})
        except Exception as error:  # its errors have no common parent
            raise ModelError(f"{self.path}: ONNX Runtime can't run it: {error!s:.200}", hint=AGAIN) from error
        for (name, shape), result in zip(shapes.items(), results, strict=True):
            if result.shape != shape:
                raise ModelError(f"{self.path}: {name} has the shape {result.shape}, not {shape}", hint=AGAIN)
        return list(results)


def open_graphs(folder: ModelFolder, table: SubwordTable | None, threads: int) -> dict[str, Graph]:
    """The graphs of a model by the names of their files."""
    names = [ONNX, SPANS, *graphs(folder.config)]
    if folder.config.scorer.functions:
        names.append(FUNCTIONS)
    opened = {name: _open(folder, name, threads) for name in names}
    _require_agreement(folder, opened, table)
    return opened


# For another graph: what it may read, and what it must give.
_MAY_READ: Final = {
    SPANS: {"fenceposts", "starts", "ends", "labels"},
    LETTERS: {"spellings", *SEQUENCE},
    SUBWORDS: {"subwords", "embedded", *SEQUENCE},
    FUNCTIONS: {"vectors", "words", "starts", "ends", "labels", "parents"},
}
_GIVES: Final = {
    ONNX: ("fenceposts",),
    SPANS: ("scores", "best", "label"),
    LETTERS: ("vectors",),
    SUBWORDS: ("vectors",),
    FUNCTIONS: ("probabilities",),
}
_NUMBERS: Final = ("label", "predicted_tags")  # outputs that number things; the others are scores and vectors


def _require_agreement(folder: ModelFolder, opened: dict[str, Graph], table: SubwordTable | None) -> None:
    """Raises an error if the graphs' inputs or outputs don't match the configuration, the vocabularies or the table."""
    config = folder.config
    expected: set[str] = {LEXICAL_KINDS[kind].reads for kind in config.lexical}
    joint = reads(config, "treebanks")
    if joint and config.scorer.predict_tags:
        expected.add("tag_numbers")
    read = set(opened[ONNX].inputs) - set(SEQUENCE)
    if read != expected:
        raise disagreement(folder, f"{ONNX} reads {', '.join(sorted(read))}, not {', '.join(sorted(expected))}")
    for name, graph in opened.items():
        unknown = sorted(set(graph.inputs) - _MAY_READ.get(name, set(graph.inputs)))
        missing = [each for each in _GIVES[name] if each not in graph.outputs]
        if unknown or missing:
            problem = f"reads {unknown[0]}" if unknown else f"doesn't give {missing[0]}"
            raise disagreement(folder, f"{name} {problem}")
        for output, kind in graph.types.items():
            if kind != ("tensor(int64)" if output in _NUMBERS else "tensor(float)"):
                raise disagreement(folder, f"{name} gives {output} as {kind}")
    predicts_tags = "predicted_tags" in opened[ONNX].outputs
    if predicts_tags != config.scorer.predict_tags:
        raise disagreement(folder, f"{ONNX} predicts {'tags' if predicts_tags else 'no tags'}")
    if config.scorer.functions and "vectors" not in opened[ONNX].outputs:
        raise disagreement(folder, f"{ONNX} doesn't give vectors")
    if SUBWORDS in opened:
        _require_subwords(folder, opened[SUBWORDS], table)
    if joint != ("labels" in opened[SPANS].inputs):
        raise disagreement(folder, f"{SPANS} is for {'one treebank' if joint else 'several treebanks'}")
    labels = len(folder.vocabularies.labels) if joint else opened[SPANS].width("scores")
    if labels != len(folder.vocabularies.labels):
        raise disagreement(folder, f"{SPANS} knows {labels} labels, not {len(folder.vocabularies.labels)}")
    if FUNCTIONS in opened:
        _require_function_words(folder, opened)
        functions, known = opened[FUNCTIONS].width("probabilities"), folder.vocabularies.functions
        if known is None or functions != len(known):
            raise disagreement(folder, f"{FUNCTIONS} knows {functions} functions, not {len(known or ())}")


def _require_function_words(folder: ModelFolder, opened: dict[str, Graph]) -> None:
    read = [axes[-1] for name, axes in opened[FUNCTIONS].inputs.items() if name == "words"]
    if read != ([opened[SUBWORDS].width("vectors")] if folder.config.scorer.function_words else []):
        raise disagreement(folder, f"{FUNCTIONS} reads {f'words of size {read[0]}' if read else 'no words'}")


def _require_subwords(folder: ModelFolder, graph: Graph, table: SubwordTable | None) -> None:
    embedded = [axes[-1] for name, axes in graph.inputs.items() if name == "embedded"]
    if embedded != ([] if table is None else [table.size]):
        raise disagreement(folder, f"{SUBWORDS} and {SUBWORD_TABLE} don't belong together")
    files = folder.vocabularies.pretrained
    assert files is not None
    subtokens = json.loads(files.encoder)["vocab_size"]
    if table is not None and len(table) != subtokens:
        raise disagreement(folder, f"{SUBWORD_TABLE} has {len(table)} sub-tokens, not {subtokens}")


def session_options(threads: int) -> Any:
    """The fastest settings that were found: docs/results/cpu.md has the others."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # errors are raised; its messages would put names of nodes on a terminal as they are
    options.enable_mem_pattern = False  # every batch has its own shape
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    return options


def _open(folder: ModelFolder, name: str, threads: int) -> Graph:
    require_listed(folder.path, name)
    path = folder.path / name
    require_plain_graph(path)
    try:
        return Graph(path, InferenceSession(str(path), session_options(threads), disabled_optimizers=SLOWER))
    except Exception as error:  # its errors have no common parent
        raise ModelError(f"{path}: ONNX Runtime can't read it: {error!s:.500}", hint=AGAIN) from error
