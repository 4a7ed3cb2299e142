"""What a look at the development set found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Check:
    """One line of ``log.jsonl``."""

    step: int
    epoch: float
    seconds: float  # of training so far, over all sessions
    loss: float  # mean over the batches since the last check
    precision: float
    recall: float
    f1: float
    learning_rate: float
    sentences_per_second: float  # of training since the last check
