"""Scores of grammatical functions: of the constituents that are in both trees, how many have the right function.

A constituent is in both trees if both have its label over the same words. Where the gold tree leaves the function open
(``PP-CLR?``), a prediction that it allows doesn't count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from fencepost.errors import MismatchError
from fencepost.evaluation.brackets import Brackets
from fencepost.evaluation.breakdown import Row
from fencepost.trees.functions import Mark, split_functions
from fencepost.trees.spans import Phrase, phrases, spans_below_root
from fencepost.trees.tree import Tree


@dataclass
class FunctionCounts:
    """Counts by function. They can be added up, sentence by sentence."""

    matched: Counter[str] = field(default_factory=Counter)
    gold: Counter[str] = field(default_factory=Counter)
    predicted: Counter[str] = field(default_factory=Counter)
    compared: int = 0  # phrases with and without a function
    right: int = 0

    def add(self, gold: Sequence[tuple[Phrase, Mark]], predicted: Sequence[tuple[Phrase, str | None]]) -> None:
        """Counts the functions of the phrases of a sentence that are in both trees."""
        marks: dict[tuple[str, int, int], list[Mark]] = {}
        for phrase, mark in reversed(gold):
            marks.setdefault(phrase[:3], []).append(mark)
        for phrase, function in predicted:
            if same := marks.get(phrase[:3]):
                self._count(same.pop(), function)

    def _count(self, mark: Mark, function: str | None) -> None:
        if function is not None and function in mark.maybe:
            return
        self.compared += 1
        self.right += function == mark.function
        if mark.function is not None:
            self.gold[mark.function] += 1
        if function is not None:
            self.predicted[function] += 1
            self.matched[function] += function == mark.function

    @property
    def accuracy(self) -> float:
        """The share of phrases whose function is right, in percent; that a phrase has none counts too."""
        return 100 * self.right / self.compared if self.compared else 0.0

    def total(self) -> Brackets:
        return Brackets(self.matched.total(), self.gold.total(), self.predicted.total())

    def rows(self) -> list[Row]:
        """The counts of each function, the most frequent first."""
        names = sorted(self.gold | self.predicted, key=lambda name: (-self.gold[name], name))
        return [Row(self.matched[name], self.gold[name], self.predicted[name], name) for name in names]

    def to_json(self) -> dict[str, Any]:
        total = self.total()
        figures = {"precision": total.precision, "recall": total.recall, "f1": total.f1, "accuracy": self.accuracy}
        return {**figures, "by_function": [row.to_json() for row in self.rows()]}


def score_functions(gold: Sequence[Tree], predicted: Iterable[Tree]) -> FunctionCounts:
    """Compares trees whose labels have functions: ``NP-SBJ``."""
    counts = FunctionCounts()
    for number, (right, found) in enumerate(zip(gold, predicted, strict=True), 1):
        if right.words() != found.words():
            raise MismatchError(f"the two trees of sentence {number} have different words")
        counts.add(marked_phrases(right), [(phrase, mark.function) for phrase, mark in marked_phrases(found)])
    return counts


def marked_phrases(tree: Tree) -> list[tuple[Phrase, Mark]]:
    """The phrases of a tree below its root symbol, outer before inner, each with its function."""
    plain, marks = split_functions(tree)
    return list(zip(phrases(spans_below_root(plain)), marks, strict=True))


class FunctionBaseline:
    """Gives each phrase the function that is most frequent in training for its label below its parent's label."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        counts: dict[tuple[str, str], Counter[str]] = {}
        for tree in trees:
            for phrase, mark in marked_phrases(tree):
                if not mark.maybe:
                    counts.setdefault((phrase.label, phrase.parent), Counter())[mark.function or ""] += 1
        self._function = {key: counter.most_common(1)[0][0] or None for key, counter in counts.items()}

    def functions(self, tree: Tree) -> list[tuple[Phrase, str | None]]:
        return [
            (phrase, self._function.get((phrase.label, phrase.parent))) for phrase in phrases(spans_below_root(tree))
        ]
