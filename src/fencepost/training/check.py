"""What a look at the development set found."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Final

CLOCKED: Final = ("seconds", "sentences_per_second")


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

    def repeatable(self) -> dict[str, float]:
        """All but what a clock said: the same whenever the run is repeated."""
        return {name: value for name, value in asdict(self).items() if name not in CLOCKED}

    def is_far_behind(self, best: Check) -> bool:
        """Whether training seems to have lost what it had found: it may take long to come back, or never."""
        return self.loss > 2 * best.loss and self.f1 < best.f1 - 5
