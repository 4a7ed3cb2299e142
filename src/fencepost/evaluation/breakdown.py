"""Breaks scores down by label, by length of the phrase and by length of the sentence, to show where errors are."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fencepost.evaluation.brackets import Brackets
from fencepost.evaluation.evalb import Bracket, Comparison, Status

Key: TypeAlias = Callable[[Bracket, Comparison], str | int]
PHRASE_LENGTHS: Final = (1, 2, 3, 4, 5, 10, 20, 40)  # the longest phrase of each row; one more row has all longer ones
SENTENCE_LENGTHS: Final = (10, 20, 30, 40)


@dataclass(frozen=True)
class Row(Brackets):
    """The brackets of one kind."""

    name: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "matched": self.matched,
            "gold": self.gold,
            "predicted": self.predicted,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
        }


def breakdown(comparisons: Iterable[Comparison], by: str) -> list[Row]:
    """Counts the brackets of valid sentences ``by`` "label", "length" (its words) or "sentence" (its length)."""
    key, name = _KINDS[by]
    matched, gold, predicted = Counter[str | int](), Counter[str | int](), Counter[str | int]()
    for comparison in comparisons:
        if comparison.status is Status.VALID:
            for total, brackets in zip(
                (matched, gold, predicted), (comparison.matched, comparison.gold, comparison.predicted), strict=True
            ):
                for bracket, count in brackets.items():
                    total[key(bracket, comparison)] += count
    keys = sorted(gold | predicted, key=lambda each: (-gold[each], each) if isinstance(each, str) else (each,))
    return [Row(matched[each], gold[each], predicted[each], name(each)) for each in keys]


def table(rows: Iterable[Row], by: str) -> str:
    """The rows as text, in columns."""
    head = f"{by:<12}{'gold':>8}{'test':>8}{'matched':>9}{'recall':>8}{'prec.':>8}{'F1':>8}\n"
    return head + "".join(
        f"{row.name:<12}{row.gold:>8}{row.predicted:>8}{row.matched:>9}"
        f"{row.recall:>8.2f}{row.precision:>8.2f}{row.f1:>8.2f}\n"
        for row in rows
    )


def _range_name(ends: tuple[int, ...]) -> Callable[[str | int], str]:
    def name(index: str | int) -> str:
        assert isinstance(index, int)
        first = ends[index - 1] + 1 if index else 1
        if index == len(ends):
            return f"{first}+"
        return f"{first}" if first == ends[index] else f"{first}-{ends[index]}"

    return name


_KINDS: Final[dict[str, tuple[Key, Callable[[str | int], str]]]] = {
    "label": (lambda bracket, _: bracket[0], str),
    "length": (lambda bracket, _: bisect_left(PHRASE_LENGTHS, bracket[2] - bracket[1]), _range_name(PHRASE_LENGTHS)),
    "sentence": (lambda _, comparison: bisect_left(SENTENCE_LENGTHS, comparison.length), _range_name(SENTENCE_LENGTHS)),
}
BY: Final = tuple(_KINDS)
