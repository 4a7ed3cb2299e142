"""Turns a trained model into ONNX graphs that ``backends.onnx`` runs without torch.

letters.onnx   the letters of distinct words -> a vector for each word; only if the model reads letters
subwords.onnx  sub-tokens -> a vector for each; only if the model has a pre-trained encoder, as the next one
subwords.npy   the encoder's table of sub-tokens, which is read before the graph runs
model.onnx     the inputs of each token -> M_1 [y→_k; y←_{k+1}] for each fencepost k, and tags
spans.onnx     fenceposts and pairs of them -> the scores of all labels, the best score and its label
functions.onnx [y→_k; y←_{k+1}] and constituents -> the probability of each function; only if the model predicts them
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal

from fencepost.backends.torch import TorchBackend
from fencepost.config.settings import Config
from fencepost.errors import UsageError
from fencepost.export.embedding import Embedding, InFp32, InInt8
from fencepost.export.letters import letters_graph
from fencepost.export.linear import Linear, in_fp32, in_int8
from fencepost.export.parser import functions_graph, model_graph, spans_graph
from fencepost.export.pretrained import require_exportable, subword_table, subwords_graph
from fencepost.features.lexical_kinds import LETTERS, LEXICAL_KINDS, SUBWORDS
from fencepost.model.parser_model import ParserModel
from fencepost.model.pretrained import Pretrained
from fencepost.storage.model_files import CARD, FUNCTIONS, ONNX, SPANS
from fencepost.storage.model_folder import ModelFolder, read_listed_text
from fencepost.storage.model_writer import making_model, write_model
from fencepost.storage.subword_table import SUBWORD_TABLE

Precision = Literal["fp32", "int8"]


def export_onnx(model: str | Path, out: str | Path, precision: Precision = "fp32") -> None:
    """Writes a model folder that runs without torch.

    int8 quantises the matrices of encoders and the sub-token table of a pre-trained one; the rest stays in fp32.
    """
    if os.path.realpath(out) == os.path.realpath(ModelFolder.open(model).path):
        raise UsageError("an export can't overwrite its own model", hint="give another folder for OUT")
    with making_model(Path(out)):
        folder, card, parser_model = ModelFolder.read(model, _read)
        graphs = onnx_graphs(parser_model, folder.config, precision)
        write_model(Path(out), folder.config, folder.vocabularies, card + _section(precision), graphs)


def _read(folder: ModelFolder) -> tuple[ModelFolder, str, ParserModel]:
    _require_exportable(folder)
    return folder, read_listed_text(folder.path, CARD), TorchBackend.load(folder).model


def _require_exportable(folder: ModelFolder) -> None:
    for kind in folder.config.lexical:
        if not LEXICAL_KINDS[kind].exportable:
            what = LEXICAL_KINDS[kind].reads
            raise UsageError(f"a model that reads {what} can't be exported yet", hint="run it on torch: cpu or cuda")
    if folder.vocabularies.pretrained is not None:
        require_exportable(json.loads(folder.vocabularies.pretrained.encoder))


def onnx_graphs(model: ParserModel, config: Config, precision: Precision = "fp32") -> dict[str, bytes]:
    """The files of an exported model by name."""
    linear: Linear = in_int8 if precision == "int8" else in_fp32
    embedding: Embedding = InInt8() if precision == "int8" else InFp32()
    graphs = {ONNX: model_graph(model, config, linear), SPANS: spans_graph(model.span_scorer, config)}
    if model.function_scorer is not None:
        graphs[FUNCTIONS] = functions_graph(model.function_scorer)
    by_kind = dict(zip(config.lexical, model.lexical.representations, strict=True))
    from_letters = {kind: module for kind, module in by_kind.items() if LEXICAL_KINDS[kind].graph == LETTERS}
    if from_letters:
        graphs[LETTERS] = letters_graph(from_letters, config.d_content)
    for kind, module in by_kind.items():
        if LEXICAL_KINDS[kind].graph == SUBWORDS:
            assert isinstance(module, Pretrained)
            graphs[SUBWORDS] = subwords_graph(module, linear, embedding)
            graphs[SUBWORD_TABLE] = embedding.file(subword_table(module))
    return graphs


def _section(precision: Precision) -> str:
    in_8_bits = "the matrices of encoders and the sub-token table of a pre-trained one in int8, the rest in fp32"
    how = in_8_bits if precision == "int8" else "all in fp32"
    return f"\nExported by `fencepost export` for ONNX Runtime, {how}. It runs without torch, and also with it.\n"
