"""A check: how good the model is on the development trees at one step of a run."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

CLOCKED: Final = ("seconds", "sentences_per_second")  # differ from run to run


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
    function_f1: float | None = None  # of correctly found constituents, where the model predicts functions

    def to_json(self) -> dict[str, float]:
        """All fields that have a value."""
        return {name: value for name, value in asdict(self).items() if value is not None}

    def repeatable(self) -> dict[str, float]:
        """All fields except times, which differ when a run is repeated."""
        return {name: value for name, value in self.to_json().items() if name not in CLOCKED}

    def is_far_behind(self, best: Check) -> bool:
        """True if training has fallen far below its best check: it may take long to recover, or never recover."""
        return self.loss > 2 * best.loss and self.f1 < best.f1 - 5
