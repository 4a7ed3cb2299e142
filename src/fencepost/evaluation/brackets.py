"""Precision, recall and F1 from counts of brackets, as percentages; 0 where there is nothing to divide by."""

from __future__ import annotations

from dataclasses import dataclass


def percent(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


@dataclass(frozen=True)
class Brackets:
    """The number of labelled brackets in both trees, in the gold tree and in the predicted tree."""

    matched: int = 0
    gold: int = 0
    predicted: int = 0

    @property
    def precision(self) -> float:
        return percent(self.matched, self.predicted)

    @property
    def recall(self) -> float:
        return percent(self.matched, self.gold)

    @property
    def f1(self) -> float:
        return percent(2 * self.matched, self.gold + self.predicted)
