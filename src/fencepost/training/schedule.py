"""The learning rate over time, and when to stop (appendix, "Optimizer Parameters").

The rate rises linearly from 0 over the first batches; it is halved whenever development F1 has not improved for
some epochs; training stops when several halvings in a row have not helped.
"""

from __future__ import annotations

from dataclasses import dataclass

from fencepost.config.settings import TrainConfig


@dataclass
class Schedule:
    """Changes at every check of the development set; its fields are what a checkpoint must remember."""

    best_f1: float = -1.0
    waiting_since: float = 0.0  # epoch of the best check, or of the last halving if that was later
    halvings: int = 0
    halvings_without_gain: int = 0

    def rate(self, step: int, config: TrainConfig) -> float:
        """The learning rate of a step; steps count from 1."""
        warmed = min(1.0, step / config.warmup_batches) if config.warmup_batches else 1.0
        return config.learning_rate * warmed * 0.5**self.halvings

    def record(self, f1: float, epoch: float, config: TrainConfig, *, warming: bool = False) -> bool:
        """Records a check at this epoch; returns whether it is the best so far."""
        if f1 > self.best_f1:
            self.best_f1, self.waiting_since, self.halvings_without_gain = f1, epoch, 0
            return True
        if warming:
            self.waiting_since = epoch
        elif epoch - self.waiting_since > config.patience_epochs:
            self.waiting_since = epoch
            self.halvings += 1
            self.halvings_without_gain += 1
        return False

    def exhausted(self, config: TrainConfig) -> bool:
        return self.halvings_without_gain > config.max_halvings
