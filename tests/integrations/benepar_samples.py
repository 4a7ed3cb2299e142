"""Small models in benepar's formats, with random weights."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

LABELS = {"": 0, "NP": 1, "S": 2, "S::VP": 3}
TAGS = {"UNK": 0, "DT": 1, "NN": 2, "VBZ": 3}
CODE_POINTS = {chr(number): number for number in range(128)}
MARKS = {"\0": 0, "\1": 1, "\2": 2, "\3": 3, "\4": 4}
SETTINGS = {
    "d_char_emb": 4,
    "d_model": 16,
    "num_layers": 1,
    "num_heads": 2,
    "d_kv": 4,
    "d_ff": 8,
    "encoder_max_len": 20,
    "d_label_hidden": 6,
    "d_tag_hidden": 6,
    "morpho_emb_dropout": 0.1,
    "char_lstm_input_dropout": 0.1,
    "attention_dropout": 0.1,
    "relu_dropout": 0.1,
    "residual_dropout": 0.1,
    "use_chars_lstm": True,
    "use_pretrained": False,
    "use_encoder": True,
    "predict_tags": True,
}


def config(letters: dict[str, int] | None = None, **settings: Any) -> dict[str, Any]:
    return {"tag_vocab": TAGS, "label_vocab": LABELS, "char_vocab": letters, "hparams": SETTINGS | settings}


def char_lstm_file(letters: dict[str, int] | None = None, **settings: Any) -> dict[str, Any]:
    """What benepar saves while training, with a tag scorer."""
    saved = config(letters or CODE_POINTS, **settings)
    return {"config": saved, "state_dict": letter_weights(len(saved["char_vocab"])) | parser_weights(), "optimizer": {}}


def letter_weights(letters: int) -> dict[str, Tensor]:
    lstm = torch.nn.LSTM(4, 4, bidirectional=True)
    weights = {f"char_encoder.lstm.{name}": tensor.detach() for name, tensor in lstm.named_parameters()}
    return weights | {"char_encoder.emb.weight": torch.randn(letters, 4)}


def parser_weights() -> dict[str, Tensor]:
    """All but the representation of words: one layer, two heads, halves of 8 coordinates."""
    layer = "encoder.layers.0."
    shapes: dict[str, tuple[int, ...]] = {"add_timing.timing_table": (20, 8)}
    for half in "cp":
        shapes |= {
            f"{layer}self_attn.w_qkv_{half}": (2, 8, 3, 2),
            f"{layer}self_attn.w_o_{half}": (2, 2, 8),
            f"{layer}linear1.linear_{half}.weight": (4, 8),
            f"{layer}linear1.linear_{half}.bias": (4,),
            f"{layer}linear2.linear_{half}.weight": (8, 4),
            f"{layer}linear2.linear_{half}.bias": (8,),
        }
    for norm in ("add_timing.norm", f"{layer}norm_attn", f"{layer}norm_ff"):
        shapes |= {f"{norm}.weight": (16,), f"{norm}.bias": (16,)}
    for scorer, outputs in (("f_label", len(LABELS) - 1), ("f_tag", len(TAGS))):
        shapes |= {
            f"{scorer}.0.weight": (6, 16),
            f"{scorer}.0.bias": (6,),
            f"{scorer}.1.weight": (6,),
            f"{scorer}.1.bias": (6,),
            f"{scorer}.3.weight": (outputs, 6),
            f"{scorer}.3.bias": (outputs,),
        }
    return {name: torch.randn(shape) for name, shape in shapes.items()}
