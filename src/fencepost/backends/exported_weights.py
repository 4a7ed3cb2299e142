"""Reads the weights of an exported model back into a model for torch; matrices and tables in int8 become fp32.

Graphs have no names for weights, but ``export`` adds nodes in a fixed order: each function here takes the weights of
one module in the order in which the function of ``export`` for that module adds them. What an export folds together
stays folded: the encoder's position table includes the vector of the first kind of sentence, and the queries of a term
that ``eval.plan`` switches off are 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch
from torch import nn

from fencepost.backends import exported_t5
from fencepost.backends.weights_in_order import WeightsInOrder, put, shape_of, with_axes
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
from fencepost.storage.onnx_graph import read_onnx_graph
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable


@torch.no_grad()
def load_exported_weights(folder: ModelFolder, model: ParserModel) -> None:
    """Overwrites all weights of a model with those in the graphs of an export.

    Raises ModelError if a graph is damaged, or if it belongs to another model.
    """
    functions = [FUNCTIONS] * folder.config.scorer.functions
    subwords = SubwordTable(folder.path / SUBWORD_TABLE) if folder.has(SUBWORD_TABLE) else None
    for name in (ONNX, SPANS, *functions, *graphs(folder.config)):
        require_listed(folder.path, name)
        weights = WeightsInOrder(read_onnx_graph(folder.path / name), subwords)
        try:
            with np.errstate(all="ignore"):  # damaged numbers give wrong trees, not warnings
                _GRAPHS[name](weights, model, folder.config)
            weights.require_end()
        except ValueError as error:
            raise disagreement(folder, f"{name}: {error}") from error


def _model(weights: WeightsInOrder, model: ParserModel, config: Config) -> None:
    for kind, module in zip(config.lexical, model.lexical.representations, strict=True):
        if kind in TOKEN_WEIGHTS:
            TOKEN_WEIGHTS[kind](weights, module)
    _encoder(weights, model.encoder)
    put(model.span_scorer.hidden.weight, weights.matrix().T)
    if model.tag_scorer is not None:
        _tags(weights, model.tag_scorer, joint=reads(config, "treebanks"))


def _spans(weights: WeightsInOrder, model: ParserModel, config: Config) -> None:
    scorer = model.span_scorer
    put(scorer.hidden.bias, weights.bias())
    _norm(weights, scorer.norm)
    weight, bias = weights.affine(joint=reads(config, "treebanks"))
    put(scorer.output.weight, weight.T[1:])  # the empty label has a column of zeros
    put(scorer.output.bias, bias[1:])


def _functions(weights: WeightsInOrder, model: ParserModel, _config: Config) -> None:
    scorer = model.function_scorer
    assert scorer is not None
    put(scorer.label.weight, weights.table())
    put(scorer.parent.weight, weights.table())
    _linear(weights, scorer.hidden)
    if scorer.words is not None:
        put(scorer.words.weight, weights.matrix().T)
    _norm(weights, scorer.norm)
    _linear(weights, scorer.output)


def _letters(weights: WeightsInOrder, model: ParserModel, config: Config) -> None:
    for kind, module in zip(config.lexical, model.lexical.representations, strict=True):
        if LEXICAL_KINDS[kind].graph == LETTERS:
            WORD_WEIGHTS[kind](weights, module)


def _subwords(weights: WeightsInOrder, model: ParserModel, _config: Config) -> None:
    (pretrained,) = pretrained_parts(model)
    encoder: Any = pretrained.encoder
    family = family_of(encoder.config.model_type)
    if family.layers == "t5":
        exported_t5.put_encoder(weights, encoder)
    else:
        _bert(weights, encoder, mpnet=family.layers == "mpnet")
    if pretrained.mix is not None:
        _mix(weights, pretrained.mix)


# For another graph in an export: its file here, and in ``load_exported_weights``.
_GRAPHS: Final[dict[str, Callable[[WeightsInOrder, ParserModel, Config], None]]] = {
    ONNX: _model,
    SPANS: _spans,
    FUNCTIONS: _functions,
    LETTERS: _letters,
    SUBWORDS: _subwords,
}


def _embedding(weights: WeightsInOrder, module: Any) -> None:
    put(module.embedding.weight, weights.table())


def _projection(weights: WeightsInOrder, module: Any) -> None:
    put(module.projection.weight, weights.matrix().T)


def _char_lstm(weights: WeightsInOrder, module: Any) -> None:
    _embedding(weights, module)
    _lstm(weights, module.lstm)


def _char_attention(weights: WeightsInOrder, module: Any) -> None:
    _embedding(weights, module)
    _encoder(weights, module.encoder)
    put(module.output.weight, weights.matrix().T)


_Module = Callable[[WeightsInOrder, Any], None]
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


def _encoder(weights: WeightsInOrder, encoder: Encoder) -> None:
    if isinstance(encoder, LSTMEncoder):
        _lstm(weights, encoder.lstm)
    if not isinstance(encoder, SelfAttentiveEncoder):
        return
    if isinstance(encoder.positions, LearnedPositions):
        put(encoder.positions.table, weights.table())
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


def _attention(weights: WeightsInOrder, attention: MultiHeadAttention) -> None:
    reader = attention.reader
    blocks = reader.projection.blocks if isinstance(reader, FromInput) else 1
    query, key, value = (np.stack([weights.matrix() for _ in range(blocks)]) for _ in range(3))
    query = query / np.float32(attention.sizes.scale)
    if isinstance(reader, FromInput):
        put(reader.projection.weight, np.concatenate([query, key, value], axis=-1))
    else:
        assert isinstance(reader, FromPosition)
        put(reader.query_key.weight, np.concatenate([query, key], axis=-1))
        put(reader.value.weight, value)
    _block_diagonal(weights, attention.output)


def _block_diagonal(weights: WeightsInOrder, map_: BlockDiagonal) -> None:
    put(map_.weight, np.stack([weights.matrix() for _ in range(map_.blocks)]))
    if map_.bias is not None:
        put(map_.bias, np.stack([weights.bias() for _ in range(map_.blocks)])[:, None])


def _norm(weights: WeightsInOrder, norm: nn.LayerNorm) -> None:
    scale, shift = weights.take("LayerNormalization")
    put(norm.weight, scale)
    put(norm.bias, shift)


def _linear(weights: WeightsInOrder, map_: nn.Linear, *biased_by: str) -> None:
    put(map_.weight, weights.matrix().T)
    put(map_.bias, weights.bias(*biased_by))


def _tags(weights: WeightsInOrder, scorer: TagScorer, *, joint: bool) -> None:
    inner, norm, _, outer = scorer.layers
    assert isinstance(inner, nn.Linear)
    assert isinstance(norm, nn.LayerNorm)
    assert isinstance(outer, nn.Linear)
    _linear(weights, inner)
    _norm(weights, norm)
    weight, bias = weights.affine(joint=joint)
    put(outer.weight, weight.T)
    put(outer.bias, bias)


def _lstm(weights: WeightsInOrder, lstm: nn.LSTM) -> None:
    for layer in range(lstm.num_layers):
        from_input, from_state, biases = weights.take("LSTM")
        directions = zip(with_axes(3, from_input), with_axes(3, from_state), with_axes(2, biases), strict=True)
        names = (f"_l{layer}", f"_l{layer}_reverse")
        for name, (weight_ih, weight_hh, both_biases) in zip(names, directions, strict=True):
            bias_ih, bias_hh = np.split(both_biases, 2)
            put(getattr(lstm, f"weight_ih{name}"), _gates(weight_ih))
            put(getattr(lstm, f"weight_hh{name}"), _gates(weight_hh))
            put(getattr(lstm, f"bias_ih{name}"), _gates(bias_ih))
            put(getattr(lstm, f"bias_hh{name}"), _gates(bias_hh))


def _gates(numbers: Floats) -> Floats:
    """ONNX orders the gates input, output, forget, cell; torch orders them input, forget, cell, output."""
    into, out, forget, cell = np.split(numbers, 4)
    return np.concatenate([into, forget, cell, out])


def _distances(weights: WeightsInOrder, distances: Distances, longest: int) -> None:
    """The graph has a number for each distance, where many share a bucket. A bucket that no distance is in gets 0."""
    (table,) = weights.take("Gather")
    expected = (1, distances.embedding_dim, 2 * longest - 1)
    if table.shape != expected:
        raise ValueError(f"it has {shape_of(table)} distances, not {' x '.join(map(str, expected))}")
    buckets, first = np.unique(
        bucket_of(torch.arange(1 - longest, longest), distances.num_embeddings), return_index=True
    )
    by_bucket = np.zeros((distances.num_embeddings, distances.embedding_dim), np.float32)
    by_bucket[buckets] = table[0].T[first]
    put(distances.weight, by_bucket)


def _bert(weights: WeightsInOrder, encoder: Any, *, mpnet: bool) -> None:
    put(encoder.embeddings.word_embeddings.weight, weights.subwords())
    put(encoder.embeddings.position_embeddings.weight, weights.table())
    if getattr(encoder.embeddings, "token_type_embeddings", None) is not None:
        encoder.embeddings.token_type_embeddings.weight.zero_()  # the position table includes it
    _norm(weights, encoder.embeddings.LayerNorm)
    if getattr(encoder, "embeddings_project", None) is not None:
        _linear(weights, encoder.embeddings_project)
    if mpnet:
        _distances(weights, encoder.encoder.relative_attention_bias, encoder.config.max_position_embeddings)
    for layer in encoder.encoder.layer:
        _pretrained_layer(weights, layer, encoder.config.num_attention_heads, mpnet=mpnet)


def _pretrained_layer(weights: WeightsInOrder, layer: Any, heads: int, *, mpnet: bool) -> None:
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
        put(map_.weight, matrix.T)
        put(map_.bias, bias)
    _linear(weights, output)
    _norm(weights, norm)
    _linear(weights, layer.intermediate.dense, "BiasGelu")
    _linear(weights, layer.output.dense)
    _norm(weights, layer.output.LayerNorm)


def _mix(weights: WeightsInOrder, mix: ScalarMix) -> None:
    """g softmax(w), from which w follows up to a number that is added to all: here the one whose softmax has sum 1."""
    shares = np.stack([with_axes(0, *weights.take("Mul")) for _ in range(len(mix.weights))])
    scale = shares.sum(dtype=np.float32)
    put(mix.scale, scale)
    mix.weights.zero_()
    if scale != 0:
        if (shares / scale < 0).any():
            raise ValueError("the layers of its mix have different signs")
        put(mix.weights, np.log(np.maximum(shares / scale, np.finfo(np.float32).tiny)))
