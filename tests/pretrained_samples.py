"""Pre-trained encoders small enough for tests, with random weights and a tokenizer that splits, drops and merges."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece
from transformers import AutoConfig, AutoModel

from fencepost.features.pretrained_files import PretrainedFiles, encoder_settings

PIECES = ["<pad>", "<unk>", "<start>", "<stop>", "the", "cat", "##s", "sleep", "##ing", "cannot", '"', ".", "a", "##b"]
IDS = {piece: number for number, piece in enumerate(PIECES)}
_SIZES = {
    "vocab_size": len(PIECES),
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 40,
    "pad_token_id": 0,
}
_T5: dict[str, Any] = {
    "vocab_size": len(PIECES),
    "d_model": 16,
    "d_kv": 8,
    "d_ff": 32,
    "num_layers": 2,
    "num_heads": 2,
    "pad_token_id": 0,
    "decoder_start_token_id": 0,
}
KINDS: dict[str, dict[str, Any]] = {
    "bert": _SIZES,
    "roberta": _SIZES,
    "electra": _SIZES | {"embedding_size": 8},
    "deberta-v2": _SIZES | {"relative_attention": True, "pos_att_type": ["p2c", "c2p"]},
    "mpnet": _SIZES | {"pad_token_id": 1},
    "xlm-roberta": _SIZES,
    "camembert": _SIZES,
    "xlm-roberta-xl": _SIZES,
    "data2vec-text": _SIZES,
    "t5": _T5,
    "mt5": _T5,
    "umt5": _T5,
}


def tokenizer(*, special: bool = True) -> Tokenizer:
    pieces = Tokenizer(WordPiece(IDS, unk_token="<unk>"))
    pieces.normalizer = normalizers.BertNormalizer()
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    if special:
        marks = [("<start>", IDS["<start>"]), ("<stop>", IDS["<stop>"])]
        pieces.post_processor = processors.TemplateProcessing(single="<start> $A <stop>", special_tokens=marks)
    return pieces


def pretrained_files(kind: str = "bert", **settings: Any) -> PretrainedFiles:
    config = AutoConfig.for_model(kind, **(KINDS[kind] | settings))
    return PretrainedFiles(tokenizer().to_str(), encoder_settings(config.to_dict()))


def write_encoder(folder: Path, kind: str = "bert") -> Path:
    """A folder as transformers writes it."""
    torch.manual_seed(0)
    AutoModel.from_config(AutoConfig.for_model(kind, **KINDS[kind])).save_pretrained(folder)
    tokenizer().save(str(folder / "tokenizer.json"))
    return folder
