"""Small sentences, configurations and models for the tests of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import nn

from fencepost.config.settings import (
    CharAttentionConfig,
    CharConcatConfig,
    CharLSTMConfig,
    Config,
    EncoderConfig,
    ScorerConfig,
)
from fencepost.features.batch import Batch
from fencepost.model.attention import MultiHeadAttention
from fencepost.model.build import VocabSizes, build_model
from fencepost.model.parser_model import ParserModel, TorchBatch
from fencepost.model.sequences import Layout

START, STOP = "<start>", "<stop>"
WORDS = ["<unknown>", START, STOP, "a", "the", "cat", "sat", "on", "mat", "extraordinarily", "slept"]
SIZES = VocabSizes(labels=5, words=len(WORDS), tags=4, letters=32, word_counts=[0, 0, 0] + [1] * (len(WORDS) - 3))

SENTENCES = [
    ["the", "cat", "sat", "on", "the", "mat"],
    ["slept"],
    ["a", "cat", "slept", "extraordinarily"],
    ["the", "mat"],
]

ATTENTION_VARIANTS: dict[str, dict[str, Any]] = {
    "base": {"position": "added", "projection": "dense"},
    "concatenated": {"position": "concatenated", "projection": "dense"},
    "factored": {"position": "concatenated", "projection": "block"},
    "added block": {"position": "added", "projection": "block"},
    "position-only": {"position": "added", "projection": "dense", "reads": "position"},
    "position-only concatenated": {"position": "concatenated", "projection": "dense", "reads": "position"},
    "sinusoidal": {"positions": "sinusoidal"},
    "no embedding norm": {"embedding_norm": False},
    "own dropout masks": {"shared_dropout": False},
    "scaled by d_model": {"attention_scale": "d_model"},
}
VARIANTS = ATTENTION_VARIANTS | {"lstm": {"kind": "lstm"}}
LEXICALS = [
    ("words",),
    ("words", "tags"),
    ("char_lstm",),
    ("words", "char_lstm"),
    ("char_concat",),
    ("char_attention",),
]


def small_config(lexical: Sequence[str] = ("words", "char_lstm"), **encoder: Any) -> Config:
    """d_v differs from d_k, and both halves and heads are small, so that a mix-up of sizes shows."""
    sizes: dict[str, Any] = {"layers": 2, "d_model": 16, "heads": 2, "d_k": 8, "d_v": 4, "d_ff": 32, "max_length": 12}
    small = EncoderConfig(**(sizes | encoder))
    content = Config(encoder=small).d_content
    return Config(
        lexical=tuple(lexical),  # type: ignore[arg-type]
        encoder=small,
        char_lstm=CharLSTMConfig(size=6),
        char_concat=CharConcatConfig(size=content // 4, letters=2),
        char_attention=CharAttentionConfig(size=8, heads=2),
        scorer=ScorerConfig(hidden=10, predict_tags=True, tag_hidden=7),
    )


def small_model(config: Config | None = None, seed: int = 0) -> ParserModel:
    """Its attention over words is as strong as after training: fresh weights barely attend."""
    torch.manual_seed(seed)
    model = build_model(config or small_config(), SIZES).eval()
    for module in model.encoder.modules() if isinstance(model.encoder, nn.Module) else ():
        if isinstance(module, MultiHeadAttention):
            for weight in module.parameters():
                weight.data.mul_(50)
    return model


def spelling(word: str) -> list[int]:
    letters = {START: [4], STOP: [5]}.get(word) or [6 + ord(letter) - ord("a") for letter in word]
    return [2, *letters, 3]


def batch_of(sentences: Sequence[Sequence[str]]) -> Batch:
    tokens = [token for sentence in sentences for token in [START, *sentence, STOP]]
    distinct = sorted(set(tokens))
    spelled = [spelling(word) for word in distinct]
    spellings = np.zeros((len(spelled), max(map(len, spelled))), np.int64)
    for row, letters in zip(spellings, spelled, strict=True):
        row[: len(letters)] = letters
    return Batch(
        lengths=np.array([len(sentence) for sentence in sentences]),
        words=np.array([WORDS.index(token) for token in tokens]),
        tags=np.array([len(token) % SIZES.tags for token in tokens]),
        spellings=spellings,
        spelling_lengths=np.array([len(letters) for letters in spelled]),
        spelling_of_token=np.array([distinct.index(token) for token in tokens]),
    )


def torch_batch(sentences: Sequence[Sequence[str]] = SENTENCES) -> TorchBatch:
    return TorchBatch.of(batch_of(sentences))


def layout_of(*lengths: int) -> Layout:
    return Layout.of(np.array(lengths), torch.device("cpu"))
