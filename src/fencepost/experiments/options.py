"""How a table of the paper is run: the user's choices, and the tiny models of a smoke test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

SMOKE: Final = (  # 8 layers, as Table 1 names them, but tiny ones
    "encoder.d_model=64",
    "encoder.heads=2",
    "encoder.d_k=16",
    "encoder.d_v=16",
    "encoder.d_ff=64",
    "encoder.lstm_layers=1",
    "char_lstm.size=16",
    "char_concat.size=2",
    "char_attention.size=16",
    "char_attention.layers=1",
    "scorer.hidden=32",
    "train.batch_size=16",
    "train.batch_tokens=2000",
    "train.learning_rate=0.002",
    "train.warmup_batches=10",
    "train.checks_per_epoch=1",
    "train.max_epochs=2",
)
SMOKE_SENTENCES: Final = 160


@dataclass(frozen=True)
class Options:
    """The choices of ``fencepost reproduce``."""

    out: Path
    device: str = "cpu"
    seeds: tuple[int, ...] = (1,)
    settings: tuple[str, ...] = ()  # key=value, over those of the table and the row
    tags: Literal["gold", "jackknife"] = "gold"  # what rows with tags read
    smoke: bool = False  # tiny models, few sentences
    command: str = ""  # for the record
    part: str = ""  # of the treebanks, in the names of the tables: several processes may share ``out``
    collect: bool = False  # train nothing: only the rows that are done already
