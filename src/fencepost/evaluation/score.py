"""Scores as counts that can be added, so that shards, batches and processes can be scored separately."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from fencepost.errors import UsageError
from fencepost.evaluation.brackets import Brackets, percent
from fencepost.evaluation.evalb import Comparer, Comparison, Status
from fencepost.evaluation.params import ScoreParams, load_params
from fencepost.evaluation.sentences import Parses, load_pairs


@dataclass(frozen=True)
class Counts(Brackets):
    """Counts, and the percentages that follow from them; 0 if there is nothing to divide by."""

    sentences: int = 0
    errors: int = 0  # sentences whose two trees have different words
    tag_errors: int = 0  # errors caused only by tags, which delete different words
    skipped: int = 0  # sentences without a prediction
    left_out: int = 0  # gold brackets of sentences that are errors or skipped
    crossing: int = 0
    words: int = 0
    correct_tags: int = 0
    complete: int = 0  # sentences with exactly the gold brackets
    uncrossed: int = 0  # sentences without crossing brackets
    hardly_crossed: int = 0  # sentences with at most two crossing brackets

    @staticmethod
    def of(comparisons: Sequence[Comparison]) -> Counts:
        """The counts of sentences that were compared one by one."""
        valid = [comparison for comparison in comparisons if comparison.status is Status.VALID]
        brackets = [(each.matched.total(), each.gold.total(), each.predicted.total()) for each in valid]
        errors = [comparison for comparison in comparisons if comparison.status is Status.ERROR]
        return Counts(
            sentences=len(comparisons),
            errors=len(errors),
            tag_errors=sum(error.tags_disagree for error in errors),
            skipped=len(comparisons) - len(valid) - len(errors),
            matched=sum(matched for matched, _, _ in brackets),
            gold=sum(gold for _, gold, _ in brackets),
            predicted=sum(predicted for _, _, predicted in brackets),
            left_out=sum(each.gold.total() for each in comparisons if each.status is not Status.VALID),
            crossing=sum(each.crossing for each in valid),
            words=sum(each.words for each in valid),
            correct_tags=sum(each.correct_tags for each in valid),
            complete=sum(matched == gold == predicted for matched, gold, predicted in brackets),
            uncrossed=sum(each.crossing == 0 for each in valid),
            hardly_crossed=sum(each.crossing <= 2 for each in valid),
        )

    def __add__(self, other: Counts) -> Counts:
        return Counts(**_sums(self, other))

    @property
    def valid(self) -> int:
        """The number of sentences that the percentages cover."""
        return self.sentences - self.errors - self.skipped

    @property
    def f1_with_errors(self) -> float:
        """F1 if all gold brackets of the sentences left out count as missed."""
        return percent(2 * self.matched, self.gold + self.left_out + self.predicted)

    @property
    def complete_match(self) -> float:
        """Sentences with exactly the gold brackets."""
        return percent(self.complete, self.valid)

    @property
    def tag_accuracy(self) -> float:
        """Words with the gold tag."""
        return percent(self.correct_tags, self.words)

    @property
    def average_crossing(self) -> float:
        """Crossing brackets per sentence; the only figure here that is not a percentage."""
        return self.crossing / self.valid if self.valid else 0.0

    @property
    def no_crossing(self) -> float:
        """Sentences without crossing brackets."""
        return percent(self.uncrossed, self.valid)

    @property
    def two_or_less_crossing(self) -> float:
        """Sentences with at most two crossing brackets."""
        return percent(self.hardly_crossed, self.valid)

    def to_json(self) -> dict[str, Any]:
        """All counts and percentages, for ``json.dumps``."""
        return {
            "sentences": self.sentences,
            "precision": self.precision,
            "recall": self.recall,
            "f1": self.f1,
            "complete_match": self.complete_match,
            "tag_accuracy": self.tag_accuracy,
            "errors": self.errors,
            "tag_errors": self.tag_errors,
            "skipped": self.skipped,
            "valid": self.valid,
            "f1_with_errors": self.f1_with_errors,
            "average_crossing": self.average_crossing,
            "no_crossing": self.no_crossing,
            "two_or_less_crossing": self.two_or_less_crossing,
            "matched_brackets": self.matched,
            "gold_brackets": self.gold,
            "predicted_brackets": self.predicted,
            "left_out_gold_brackets": self.left_out,
        }


def _sums(one: Counts, other: Counts) -> dict[str, int]:
    return {count.name: getattr(one, count.name) + getattr(other, count.name) for count in fields(Counts)}


@dataclass(frozen=True)
class Score(Counts):
    """The counts of all sentences, and of the short ones: up to ``cutoff`` words. Scores can be added.

    >>> one = score(["(TOP (S (NP (NN rain)) (VP (VBD fell))))"], ["(TOP (S (NP (NN rain)) (VP (VBD fell))))"])
    >>> other = score(["(TOP (S (NP (NN rain)) (VP (VBD fell))))"], ["(TOP (S (NP (NN rain)) (NP (VBD fell))))"])
    >>> one.f1, (one + other).matched, (one + other).gold
    (100.0, 5, 6)
    >>> (one + other).complete_match
    50.0
    """

    short: Counts = Counts()
    cutoff: int = ScoreParams.cutoff

    @staticmethod
    def over(comparisons: Sequence[Comparison], cutoff: int) -> Score:
        """The score of sentences that were compared one by one."""
        short = Counts.of([comparison for comparison in comparisons if comparison.length <= cutoff])
        long = Counts.of([comparison for comparison in comparisons if comparison.length > cutoff])
        return Score(**_sums(short, long), short=short, cutoff=cutoff)

    def __add__(self, other: Counts) -> Score:
        if not isinstance(other, Score):
            return NotImplemented
        if self.cutoff != other.cutoff:
            raise UsageError(f"scores with different cutoffs can't be added: {self.cutoff} and {other.cutoff}")
        return Score(**_sums(self, other), short=self.short + other.short, cutoff=self.cutoff)

    def to_json(self) -> dict[str, Any]:
        """All counts and percentages, for ``json.dumps``."""
        return {**super().to_json(), "cutoff": self.cutoff, "short": self.short.to_json()}


def compare(gold: Parses, predicted: Parses, params: str | Path | ScoreParams = "collins") -> list[Comparison]:
    """Compares every sentence, in order."""
    comparer = Comparer(load_params(params))
    return [comparer.compare(*pair) for pair in load_pairs(gold, predicted)]


def score(gold: Parses, predicted: Parses, params: str | Path | ScoreParams = "collins") -> Score:
    """Scores predicted trees as evalb does.

    Each side is a path or a sequence of trees (``Tree``, ``nltk.Tree`` or bracket strings; None for a missing
    parse). ``params`` is ``collins``, ``spmrl``, ``none`` or the path of a .prm file.

    >>> gold = ["(TOP (S (NP (PRP I)) (VP (VBD ate) (NP (NNS figs)))))"]
    >>> predicted = ["(TOP (S (NP (PRP I)) (VP (VBD ate)) (NP (NNS figs))))"]
    >>> result = score(gold, predicted)
    >>> result.precision, result.recall, result.f1
    (75.0, 75.0, 75.0)
    """
    params = load_params(params)
    return Score.over(compare(gold, predicted, params), params.cutoff)
