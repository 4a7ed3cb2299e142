"""Configuration to modules: the only file that matches on kinds of variants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import nn

from fencepost.config.settings import Config, EncoderConfig, LexicalKind
from fencepost.features.batch import Ints
from fencepost.features.pretrained_files import PretrainedFiles, mask_token
from fencepost.model.attention import FromInput, FromPosition, MultiHeadAttention, Reader
from fencepost.model.dropout import SharedDropout
from fencepost.model.encoder import Encoder, EncoderLayer, FeedForward, NoEncoder, SelfAttentiveEncoder
from fencepost.model.lexical import (
    CharAttention,
    CharConcat,
    CharLSTM,
    Lexical,
    TagEmbedding,
    TreebankEmbedding,
    Vectors,
    WordEmbedding,
)
from fencepost.model.linear import xavier_
from fencepost.model.lstm import LSTMEncoder
from fencepost.model.parser_model import ParserModel
from fencepost.model.position import LearnedPositions, SinusoidalPositions, added, concatenated
from fencepost.model.pretrained import Hiding, Pretrained, build_encoder, pretrained_parts
from fencepost.model.scorer import FunctionScorer, SpanScorer, TagScorer


@dataclass(frozen=True)
class VocabSizes:
    """The sizes of the vocabularies, special symbols included."""

    labels: int  # the empty label included
    words: int
    tags: int
    letters: int
    word_counts: Sequence[int] | Ints | None = None  # [words] occurrences in training data; None when only parsing
    pretrained: PretrainedFiles | None = None
    single_labels: int = 0  # without unary chains; the root symbol included
    functions: int = 0  # no function included
    treebanks: int = 1  # an unknown one included


def build_model(config: Config, sizes: VocabSizes) -> ParserModel:
    """A model with fresh weights."""
    scorer, d_model = config.scorer, config.encoder.d_model
    lexical = Lexical(_representation(kind, config, sizes) for kind in config.lexical)
    return ParserModel(
        lexical,
        _encoder(config),
        SpanScorer(d_model, scorer.hidden, sizes.labels),
        TagScorer(d_model, scorer.tag_hidden, sizes.tags) if scorer.predict_tags else None,
        _function_scorer(config, sizes, lexical) if scorer.functions else None,
    )


def _function_scorer(config: Config, sizes: VocabSizes, lexical: Lexical) -> FunctionScorer:
    hidden, words = config.scorer.function_hidden, 0
    if config.scorer.function_words:
        (pretrained,) = pretrained_parts(lexical)
        words = pretrained.projection.in_features
    return FunctionScorer(config.encoder.d_model, hidden, sizes.single_labels, sizes.functions, words)


def _representation(kind: LexicalKind, config: Config, sizes: VocabSizes) -> nn.Module:
    size, shared = config.d_content, config.encoder.shared_dropout
    match kind:
        case "words":
            counts = None if sizes.word_counts is None else torch.tensor(sizes.word_counts)
            return WordEmbedding(sizes.words, size, SharedDropout(config.words.dropout, shared), counts)
        case "tags":
            return TagEmbedding(sizes.tags, size, SharedDropout(config.tags.dropout, shared))
        case "char_lstm":
            lstm = config.char_lstm
            dropout = SharedDropout(lstm.dropout, shared)
            return CharLSTM(sizes.letters, lstm.size, size, lstm.input_dropout, dropout)
        case "char_concat":
            concat = config.char_concat
            return CharConcat(sizes.letters, concat.size, concat.letters, SharedDropout(concat.dropout, shared))
        case "char_attention":
            letters = config.char_attention
            encoder = _attention_encoder(_letter_encoder_config(config), factored=False)
            for name, weight in encoder.layers.named_parameters():
                if ".attention." in name:
                    xavier_(weight)
            dropout = SharedDropout(letters.dropout, shared)
            return CharAttention(sizes.letters, letters.size, size, letters.input_dropout, encoder, dropout)
        case "vectors":
            vectors = config.vectors
            return Vectors(vectors.size, size, SharedDropout(vectors.dropout, shared))
        case "treebank":
            return TreebankEmbedding(sizes.treebanks, size, SharedDropout(config.treebank.dropout, shared))
        case "pretrained":
            pretrained = config.pretrained
            assert sizes.pretrained is not None
            tokenizer = sizes.pretrained.tokenizer
            hiding = None if pretrained.mask == 0.0 else Hiding(pretrained.mask, mask_token(tokenizer))
            return Pretrained(
                build_encoder(sizes.pretrained.encoder),
                size,
                SharedDropout(pretrained.dropout, shared),
                hiding,
                frozen=pretrained.frozen,
                mix=pretrained.layers == "mix",
            )


def _letter_encoder_config(config: Config) -> EncoderConfig:
    """A small version of the base model of §2.2; settings that it doesn't have come from the word encoder."""
    letters, words = config.char_attention, config.encoder
    return EncoderConfig(
        layers=letters.layers,
        d_model=letters.size,
        heads=letters.heads,
        d_k=letters.size // letters.heads,
        d_v=letters.size // letters.heads,
        d_ff=4 * letters.size,
        attention_scale=words.attention_scale,
        position="added",
        projection="dense",
        max_length=words.max_length,
        attention_dropout=words.attention_dropout,
        relu_dropout=words.relu_dropout,
        residual_dropout=words.residual_dropout,
        shared_dropout=words.shared_dropout,
    )


def _encoder(config: Config) -> Encoder:
    match config.encoder.kind:
        case "attention" if config.encoder.layers == 0:
            return NoEncoder()
        case "attention":
            return _attention_encoder(config.encoder, factored=config.factored)
        case "lstm":
            return LSTMEncoder(config.encoder.d_model, config.encoder.lstm_layers, config.encoder.lstm_dropout)


def _attention_encoder(encoder: EncoderConfig, *, factored: bool) -> SelfAttentiveEncoder:
    d_position = _position_size(encoder)
    return SelfAttentiveEncoder(
        _positions(encoder, d_position),
        added if encoder.position == "added" else concatenated,
        nn.LayerNorm(encoder.d_model) if encoder.embedding_norm else nn.Identity(),
        [_layer(encoder, d_position) for _ in range(encoder.layers)],
        factored=factored,
    )


def _position_size(encoder: EncoderConfig) -> int:
    return encoder.d_model if encoder.position == "added" else encoder.d_model // 2


def _positions(encoder: EncoderConfig, size: int) -> nn.Module:
    match encoder.positions:
        case "learned":
            return LearnedPositions(encoder.max_length, size)
        case "sinusoidal":
            return SinusoidalPositions(size)


def _layer(encoder: EncoderConfig, d_position: int) -> EncoderLayer:
    d_model, shared = encoder.d_model, encoder.shared_dropout
    blocks = 2 if encoder.projection == "block" else 1
    divisor = d_model if encoder.attention_scale == "d_model" else None
    reader, dropout = _reader(encoder, d_position, blocks), encoder.attention_dropout
    return EncoderLayer(
        d_model,
        MultiHeadAttention(reader, d_model, encoder.heads, encoder.d_v, blocks, dropout, divisor),
        FeedForward(d_model, encoder.d_ff, blocks, SharedDropout(encoder.relu_dropout, shared)),
        SharedDropout(encoder.residual_dropout, shared),
    )


def _reader(encoder: EncoderConfig, d_position: int, blocks: int) -> Reader:
    match encoder.reads:
        case "input":
            return FromInput(encoder.d_model, encoder.heads, encoder.d_k, encoder.d_v, blocks)
        case "position":
            return FromPosition(encoder.d_model, d_position, encoder.heads, encoder.d_k, encoder.d_v)
