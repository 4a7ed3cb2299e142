"""Reads the weights of an exported model back into a model for torch; matrices and tables in int8 become fp32.

Graphs have no names for weights, but ``export`` adds nodes in a fixed order: each function here takes the weights of
one module in the order in which the function of ``export`` for that module adds them. What an export folds together
stays folded: the encoder's position table includes the vector of the first kind of sentence, and the queries of a term
that ``eval.plan`` switches off are 0.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor, nn

from fencepost.chart.scores import Floats
from fencepost.config.settings import Config, LexicalKind
from fencepost.features.encoder_families import family_of
from fencepost.features.lexical_kinds import LETTERS, LEXICAL_KINDS, SUBWORDS, graphs, reads
from fencepost.model.attention import FromInput, FromPosition, MultiHeadAttention
from fencepost.model.encoder import Encoder, EncoderLayer, FeedForward, SelfAttentiveEncoder
from fencepost.model.linear import BlockDiagonal
from fencepost.model.lstm import LSTMEncoder
from fencepost.model.mpnet import Distances, bucket_of
from fencepost.model.parser_model import ParserModel
from fencepost.model.position import LearnedPositions
from fencepost.model.pretrained import ScalarMix, pretrained_parts
from fencepost.model.scorer import TagScorer
from fencepost.storage.model_files import FUNCTIONS, ONNX, SPANS, require_listed
from fencepost.storage.model_folder import ModelFolder, disagreement
from fencepost.storage.onnx_graph import Constant, OnnxGraph, read_onnx_graph
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable

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
}


class _WeightsInOrder:
    """The weights of one graph in the order of its nodes. Raises ValueError where they aren't what is asked for."""

    def __init__(self, graph: OnnxGraph, subwords: SubwordTable | None = None) -> None:
        self._steps = _weights(graph)
        self._subwords = subwords

    def take(self, *operators: str) -> list[Constant]:
        """What the next operator with weights reads; it must be one of ``operators``."""
        operator, weights = next(self._steps, ("its end", []))
        if operator not in operators:
            raise ValueError(f"{operator} comes where {' or '.join(operators)} should")
        return weights

    def bias(self, *operators: str) -> Floats:
        """[outputs]; an operator that adds it may also do something else."""
        return _with_axes(1, *self.take("Add", *operators))

    def matrix(self) -> Floats:
        """[inputs, outputs]; in int8 each column has its own scale."""
        matrix, *scale = self.take("MatMul", "MatMulIntegerToFloat")
        return _dequantised(matrix, scale[0][None]) if scale else _with_axes(2, matrix)

    def affine(self, *, joint: bool) -> tuple[Floats, Floats]:
        """A matrix [inputs, outputs] and a bias; a model of several treebanks chooses from their columns."""
        if not joint:
            return self.matrix(), self.bias()
        return _with_axes(2, *self.take("Gather")), _with_axes(1, *self.take("Gather"))

    def table(self) -> Floats:
        """[N, d]; in int8 each row has its own scale."""
        (table,) = self.take("Gather")
        return _dequantised(table, *self.take("Gather")) if table.dtype == np.int8 else _with_axes(2, table)

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


def _with_axes(axes: int, array: Constant) -> Floats:
    if array.ndim != axes:
        raise ValueError(f"{_shape(array)} numbers don't have {axes} axes")
    return array


def _dequantised(integers: Constant, scale: Constant) -> Floats:
    if integers.ndim != 2 or scale.shape not in ((1, integers.shape[1]), (len(integers), 1)):
        raise ValueError(f"{_shape(integers)} numbers have {_shape(scale)} scales")
    return np.asarray(integers * scale.astype(np.float32))


@torch.no_grad()
def load_exported_weights(folder: ModelFolder, model: ParserModel) -> None:
    """Overwrites all weights of a model with those in the graphs of an export.

    Raises ModelError if a graph is damaged, or if it belongs to another model.
    """
    functions = [FUNCTIONS] * folder.config.scorer.functions
    subwords = SubwordTable(folder.path / SUBWORD_TABLE) if folder.has(SUBWORD_TABLE) else None
    for name in (ONNX, SPANS, *functions, *graphs(folder.config)):
        require_listed(folder.path, name)
        weights = _WeightsInOrder(read_onnx_graph(folder.path / name), subwords)
        try:
            with np.errstate(all="ignore"):  # damaged numbers give wrong trees, not warnings
                _GRAPHS[name](weights, model, folder.config)
            weights.require_end()
        except ValueError as error:
            raise disagreement(folder, f"{name}: {error}") from error


def _put(parameter: Tensor, value: Constant) -> None:
    if value.shape != parameter.shape:
        raise ValueError(f"it has {_shape(value)} numbers, not {_shape(parameter)}")
    parameter.copy_(torch.from_numpy(np.array(value, np.float32)))


def _shape(array: Constant | Tensor) -> str:
    return " x ".join(map(str, array.shape)) or "1"


def _model(weights: _WeightsInOrder, model: ParserModel, config: Config) -> None:
    for kind, module in zip(config.lexical, model.lexical.representations, strict=True):
        if kind in TOKEN_WEIGHTS:
            TOKEN_WEIGHTS[kind](weights, module)
    _encoder(weights, model.encoder)
    _put(model.span_scorer.hidden.weight, weights.matrix().T)
    if model.tag_scorer is not None:
        _tags(weights, model.tag_scorer, joint=reads(config, "treebanks"))


def _spans(weights: _WeightsInOrder, model: ParserModel, config: Config) -> None:
    scorer = model.span_scorer
    _put(scorer.hidden.bias, weights.bias())
    _norm(weights, scorer.norm)
    weight, bias = weights.affine(joint=reads(config, "treebanks"))
    _put(scorer.output.weight, weight.T[1:])  # the empty label has a column of zeros
    _put(scorer.output.bias, bias[1:])


def _functions(weights: _WeightsInOrder, model: ParserModel, _config: Config) -> None:
    scorer = model.function_scorer
    assert scorer is not None
    _put(scorer.label.weight, weights.table())
    _put(scorer.parent.weight, weights.table())
    _linear(weights, scorer.hidden)
    _norm(weights, scorer.norm)
    _linear(weights, scorer.output)


def _letters(weights: _WeightsInOrder, model: ParserModel, config: Config) -> None:
    for kind, module in zip(config.lexical, model.lexical.representations, strict=True):
        if LEXICAL_KINDS[kind].graph == LETTERS:
            WORD_WEIGHTS[kind](weights, module)


def _subwords(weights: _WeightsInOrder, model: ParserModel, _config: Config) -> None:
    (pretrained,) = pretrained_parts(model)
    encoder: Any = pretrained.encoder
    family = family_of(encoder.config.model_type)
    _put(encoder.embeddings.word_embeddings.weight, weights.subwords())
    _put(encoder.embeddings.position_embeddings.weight, weights.table())
    if getattr(encoder.embeddings, "token_type_embeddings", None) is not None:
        encoder.embeddings.token_type_embeddings.weight.zero_()  # the position table includes it
    _norm(weights, encoder.embeddings.LayerNorm)
    if getattr(encoder, "embeddings_project", None) is not None:
        _linear(weights, encoder.embeddings_project)
    if family.layers == "mpnet":
        _distances(weights, encoder.encoder.relative_attention_bias, encoder.config.max_position_embeddings)
    for layer in encoder.encoder.layer:
        _pretrained_layer(weights, layer, encoder.config.num_attention_heads, mpnet=family.layers == "mpnet")
    if pretrained.mix is not None:
        _mix(weights, pretrained.mix)


# For another graph in an export: its file here, and in ``load_exported_weights``.
_GRAPHS: Final[dict[str, Callable[[_WeightsInOrder, ParserModel, Config], None]]] = {
    ONNX: _model,
    SPANS: _spans,
    FUNCTIONS: _functions,
    LETTERS: _letters,
    SUBWORDS: _subwords,
}


def _embedding(weights: _WeightsInOrder, module: Any) -> None:
    _put(module.embedding.weight, weights.table())


def _projection(weights: _WeightsInOrder, module: Any) -> None:
    _put(module.projection.weight, weights.matrix().T)


def _char_lstm(weights: _WeightsInOrder, module: Any) -> None:
    _embedding(weights, module)
    _lstm(weights, module.lstm)


def _char_attention(weights: _WeightsInOrder, module: Any) -> None:
    _embedding(weights, module)
    _encoder(weights, module.encoder)
    _put(module.output.weight, weights.matrix().T)


_Module = Callable[[_WeightsInOrder, Any], None]
# The weights of lexical kinds: those of ``export.parser.TOKEN_VECTORS``, then those of ``export.letters.WORD_VECTORS``.
TOKEN_WEIGHTS: Final[dict[LexicalKind, _Module]] = {
    "words": _embedding,
    "tags": _embedding,
    "pretrained": _projection,
    "treebank": _embedding,
}
WORD_WEIGHTS: Final[dict[LexicalKind, _Module]] = {
    "char_lstm": _char_lstm,
    "char_concat": _embedding,
    "char_attention": _char_attention,
}


def _encoder(weights: _WeightsInOrder, encoder: Encoder) -> None:
    if isinstance(encoder, LSTMEncoder):
        _lstm(weights, encoder.lstm)
    if not isinstance(encoder, SelfAttentiveEncoder):
        return
    if isinstance(encoder.positions, LearnedPositions):
        _put(encoder.positions.table, weights.table())
    else:
        weights.take("Mul")  # the frequencies of sinusoidal positions
    if isinstance(encoder.norm, nn.LayerNorm):
        _norm(weights, encoder.norm)
    for layer in encoder.layers:
        assert isinstance(layer, EncoderLayer)
        _attention(weights, layer.attention)
        _norm(weights, layer.attention_norm)
        assert isinstance(layer.feed_forward, FeedForward)
        _block_diagonal(weights, layer.feed_forward.inner)
        _block_diagonal(weights, layer.feed_forward.outer)
        _norm(weights, layer.feed_forward_norm)


def _attention(weights: _WeightsInOrder, attention: MultiHeadAttention) -> None:
    reader = attention.reader
    blocks = reader.projection.blocks if isinstance(reader, FromInput) else 1
    query, key, value = (np.stack([weights.matrix() for _ in range(blocks)]) for _ in range(3))
    query = query / np.float32(attention.sizes.scale)
    if isinstance(reader, FromInput):
        _put(reader.projection.weight, np.concatenate([query, key, value], axis=-1))
    else:
        assert isinstance(reader, FromPosition)
        _put(reader.query_key.weight, np.concatenate([query, key], axis=-1))
        _put(reader.value.weight, value)
    _block_diagonal(weights, attention.output)


def _block_diagonal(weights: _WeightsInOrder, map_: BlockDiagonal) -> None:
    _put(map_.weight, np.stack([weights.matrix() for _ in range(map_.blocks)]))
    if map_.bias is not None:
        _put(map_.bias, np.stack([weights.bias() for _ in range(map_.blocks)])[:, None])


def _norm(weights: _WeightsInOrder, norm: nn.LayerNorm) -> None:
    scale, shift = weights.take("LayerNormalization")
    _put(norm.weight, scale)
    _put(norm.bias, shift)


def _linear(weights: _WeightsInOrder, map_: nn.Linear, *biased_by: str) -> None:
    _put(map_.weight, weights.matrix().T)
    _put(map_.bias, weights.bias(*biased_by))


def _tags(weights: _WeightsInOrder, scorer: TagScorer, *, joint: bool) -> None:
    inner, norm, _, outer = scorer.layers
    assert isinstance(inner, nn.Linear)
    assert isinstance(norm, nn.LayerNorm)
    assert isinstance(outer, nn.Linear)
    _linear(weights, inner)
    _norm(weights, norm)
    weight, bias = weights.affine(joint=joint)
    _put(outer.weight, weight.T)
    _put(outer.bias, bias)


def _lstm(weights: _WeightsInOrder, lstm: nn.LSTM) -> None:
    for layer in range(lstm.num_layers):
        from_input, from_state, biases = weights.take("LSTM")
        directions = zip(_with_axes(3, from_input), _with_axes(3, from_state), _with_axes(2, biases), strict=True)
        names = (f"_l{layer}", f"_l{layer}_reverse")
        for name, (weight_ih, weight_hh, both_biases) in zip(names, directions, strict=True):
            bias_ih, bias_hh = np.split(both_biases, 2)
            _put(getattr(lstm, f"weight_ih{name}"), _gates(weight_ih))
            _put(getattr(lstm, f"weight_hh{name}"), _gates(weight_hh))
            _put(getattr(lstm, f"bias_ih{name}"), _gates(bias_ih))
            _put(getattr(lstm, f"bias_hh{name}"), _gates(bias_hh))


def _gates(numbers: Floats) -> Floats:
    """ONNX orders the gates input, output, forget, cell; torch orders them input, forget, cell, output."""
    into, out, forget, cell = np.split(numbers, 4)
    return np.concatenate([into, forget, cell, out])


def _distances(weights: _WeightsInOrder, distances: Distances, longest: int) -> None:
    """The graph has a number for each distance, where many share a bucket. A bucket that no distance is in gets 0."""
    (table,) = weights.take("Gather")
    expected = (1, distances.embedding_dim, 2 * longest - 1)
    if table.shape != expected:
        raise ValueError(f"it has {_shape(table)} distances, not {' x '.join(map(str, expected))}")
    buckets, first = np.unique(
        bucket_of(torch.arange(1 - longest, longest), distances.num_embeddings), return_index=True
    )
    by_bucket = np.zeros((distances.num_embeddings, distances.embedding_dim), np.float32)
    by_bucket[buckets] = table[0].T[first]
    _put(distances.weight, by_bucket)


def _pretrained_layer(weights: _WeightsInOrder, layer: Any, heads: int, *, mpnet: bool) -> None:
    attention = layer.attention
    if mpnet:
        *read, output = (getattr(attention.attn, name) for name in "qkvo")
        norm = attention.LayerNorm
    else:
        read = [getattr(attention.self, name) for name in ("query", "key", "value")]
        output, norm = attention.output.dense, attention.output.LayerNorm
    matrices, biases = np.split(weights.matrix(), 3, axis=1), np.split(weights.bias(), 3)
    scale = np.float32(1 / np.sqrt(matrices[0].shape[1] / heads))
    matrices[0], biases[0] = matrices[0] / scale, biases[0] / scale
    for map_, matrix, bias in zip(read, matrices, biases, strict=True):
        _put(map_.weight, matrix.T)
        _put(map_.bias, bias)
    _linear(weights, output)
    _norm(weights, norm)
    _linear(weights, layer.intermediate.dense, "BiasGelu")
    _linear(weights, layer.output.dense)
    _norm(weights, layer.output.LayerNorm)


def _mix(weights: _WeightsInOrder, mix: ScalarMix) -> None:
    """g softmax(w), from which w follows up to a number that is added to all: here the one whose softmax has sum 1."""
    shares = np.stack([_with_axes(0, *weights.take("Mul")) for _ in range(len(mix.weights))])
    scale = shares.sum(dtype=np.float32)
    _put(mix.scale, scale)
    mix.weights.zero_()
    if scale != 0:
        if (shares / scale < 0).any():
            raise ValueError("the layers of its mix have different signs")
        _put(mix.weights, np.log(np.maximum(shares / scale, np.finfo(np.float32).tiny)))
