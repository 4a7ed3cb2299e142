"""The options of ``fencepost reproduce``, and the tiny models of its smoke test."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

SMOKE: Final = (  # tiny models, but with 8 layers, which Table 1 refers to
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
    settings: tuple[str, ...] = ()  # key=value; they override those of the table and the row
    tags: Literal["gold", "jackknife"] = "gold"  # what rows with tags read
    smoke: bool = False  # tiny models, few sentences
    command: str = ""  # noted in the tables
    part: str = ""  # goes into the file names of the tables, so that several processes can share ``out``
    collect: bool = False  # train nothing; report only finished rows
