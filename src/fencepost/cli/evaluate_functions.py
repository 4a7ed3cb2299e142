"""The figures of ``fencepost evaluate --functions``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fencepost.evaluation.breakdown import Row, table
from fencepost.evaluation.functions import FunctionBaseline, FunctionCounts, marked_phrases, score_functions
from fencepost.trees.functions import without_functions
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank


@dataclass(frozen=True)
class FunctionFigures:
    """The model's scores and, if there are training trees, those of their most frequent functions."""

    counts: FunctionCounts
    baseline: FunctionCounts | None

    @classmethod
    def of(cls, gold: Sequence[Tree], predicted: Sequence[Tree], training: Sequence[str] | None) -> FunctionFigures:
        baseline = None
        if training is not None:
            most_frequent, baseline = FunctionBaseline(Treebank.load(*training)), FunctionCounts()
            for right, found in zip(gold, predicted, strict=True):
                baseline.add(marked_phrases(right), most_frequent.functions(without_functions(found)))
        return cls(score_functions(gold, predicted), baseline)

    def to_json(self) -> dict[str, Any]:
        figures = {"functions": self.counts.to_json()}
        return figures if self.baseline is None else {**figures, "function_baseline": self.baseline.to_json()}

    def table(self) -> str:
        text = table([_all(self.counts), *self.counts.rows()], "function")
        if self.baseline is None:
            return text
        return text + "\n" + table([_all(self.baseline), *self.baseline.rows()], "baseline")


def _all(counts: FunctionCounts) -> Row:
    total = counts.total()
    return Row(total.matched, total.gold, total.predicted, "all")
