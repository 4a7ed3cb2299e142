"""The model's confidence: the k best trees of a sentence, and the probability of each constituent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, Literal, TypeAlias

import numpy as np

from fencepost.chart import inside, risk
from fencepost.chart.cky import Decoded
from fencepost.chart.inside import Posterior
from fencepost.chart.kbest import k_best
from fencepost.chart.scores import SpanScores
from fencepost.errors import UsageError
from fencepost.trees.spans import Chain, spans_below_root
from fencepost.trees.tree import Tree

LARGEST_CHART: Final = 1 << 29  # bytes of scores, which take most of the memory of an analysis
# "best": the tree with the highest score; "risk": the tree with the fewest expected errors.
Decoding: TypeAlias = Literal["best", "risk"]


@dataclass(frozen=True)
class Constituent:
    """A phrase over the words ``start`` to ``end``, half-open."""

    label: str
    start: int
    end: int
    probability: float | None = None  # that these words have this label, whatever the rest of the tree
    function: str | None = None  # its grammatical function, such as SBJ; None if it has none or it wasn't asked for
    function_probability: float | None = None  # of this function, or of having none


@dataclass(frozen=True)
class ScoredTree:
    tree: Tree
    score: float  # the sum of the scores of its constituents
    probability: float | None = None
    constituents: tuple[Constituent, ...] = ()  # with probabilities, as in ``Analysis``; empty if not asked for

    def _repr_svg_(self) -> str:
        return self.tree.to_svg()  # notebooks call this method


@dataclass(frozen=True)
class Analysis:
    """The analysis of a sentence. ``constituents`` are those of ``tree``, outer before inner."""

    tree: Tree
    score: float
    constituents: tuple[Constituent, ...]
    trees: tuple[ScoredTree, ...] = ()  # the k best, best first
    too_long: bool = False  # the sentence is too long for anything but the best tree

    def _repr_html_(self) -> str:
        from fencepost.drawing.html import notebook_drawings
        from fencepost.parsing.pictures import drawings_of

        return notebook_drawings(drawings_of(self))


def without_probabilities(tree: Tree, score: float, trees: tuple[ScoredTree, ...] = ()) -> Analysis:
    """The analysis if probabilities were not asked for."""
    spans = spans_below_root(tree)
    constituents = tuple(Constituent(label, span.start, span.end) for span in spans for label in span.label)
    return Analysis(tree, score, constituents, trees)


def hide_probabilities(analysis: Analysis) -> Analysis:
    """Drops the probabilities that were computed only to rank k trees."""
    return replace(
        analysis,
        constituents=tuple(replace(part, probability=None) for part in analysis.constituents),
        trees=tuple(replace(one, constituents=()) for one in analysis.trees),
    )


class ConstituentReader:
    """Finds the constituents of a tree, with the probability that a label, alone or in a chain, covers the words."""

    def __init__(self, chains: Sequence[Chain]) -> None:
        self._chains = chains
        labels = dict.fromkeys(label for chain in chains for label in chain)
        self._column = {label: column for column, label in enumerate(labels)}
        self._holds = np.array([[label in chain for label in labels] for chain in chains], np.float64)

    def read(self, tree: Decoded, posterior: Posterior, sentence: int = 0) -> list[Constituent]:
        """The constituents of a tree, outer before inner; ``sentence`` is its row in the batch."""
        # [C, chains] times which chain holds which label: [C, labels]
        probabilities = np.minimum(posterior.of_spans(sentence, tree.starts, tree.ends) @ self._holds, 1.0)
        spans = zip(tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist(), probabilities, strict=True)
        return [
            Constituent(label, start, end, float(row[self._column[label]]))
            for start, end, number, row in spans
            for label in self._chains[number]
        ]


@dataclass(frozen=True)
class Analyst:
    """Analyzes sentences: how many trees, at which temperature, by which decoding."""

    chains: tuple[Chain, ...]  # the labels of the model
    force_root: bool
    k: int
    temperature: float = 1.0  # above 1, all probabilities are less extreme
    decoding: Decoding = "best"

    def __post_init__(self) -> None:
        if self.k < 0:
            raise UsageError(f"the number of trees can't be negative, got {self.k}")
        if not self.temperature > 0:
            raise UsageError(f"the temperature must be greater than 0, got {self.temperature}")

    def can_analyze(self, length: int) -> bool:
        """True if a sentence of this many words fits in memory for more than its best tree."""
        return 4 * (length + 1) ** 2 * len(self.chains) <= LARGEST_CHART

    def best_alone(self, tree: Tree, score: float) -> Analysis:
        """The analysis of a sentence that is too long for more."""
        analysis = without_probabilities(tree, score, (ScoredTree(tree, score),)[: self.k])
        return replace(analysis, too_long=True)

    def analyze(self, scores: SpanScores, row: int, build: Callable[[Decoded], Tree]) -> Analysis:
        """The analysis of one sentence of a batch; ``build`` makes a tree of its words."""
        length = int(scores.lengths[row])
        own = scores.scores[row : row + 1, : length + 1, : length + 1]
        alone = SpanScores(own, scores.lengths[row : row + 1])
        posterior = inside.posterior(alone, self.force_root, self.temperature)
        log_z = float(posterior.log_z[0])
        best = k_best(alone, 0, max(self.k, 1), self.force_root)
        trees = tuple(
            ScoredTree(
                build(tree),
                tree.score,
                float(np.exp(tree.score / self.temperature - log_z)),
                tuple(self._reader.read(tree, posterior)),
            )
            for tree in best[: self.k]
        )
        chosen = best[0]
        if self.decoding == "risk":
            (chosen,) = risk.decode(posterior, self.force_root)
            chosen = replace(chosen, score=float(own[0, chosen.starts, chosen.ends, chosen.labels].sum()))
        constituents = tuple(self._reader.read(chosen, posterior))
        return Analysis(build(chosen), chosen.score, constituents, trees)

    @cached_property
    def _reader(self) -> ConstituentReader:
        return ConstituentReader(self.chains)
