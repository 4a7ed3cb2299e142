"""The k best trees of a sentence, by the lazy algorithm of Huang and Chiang (2005, algorithm 3).

It works on the items of ``chart.inside``, which build each tree in one way only, so no tree is found twice.
An item asks the items below it for their next best value only when its own next best value could depend on that.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from fencepost.chart.cky import Decoded
from fencepost.chart.groups import groups
from fencepost.chart.inside import MAX, Doubles, inside, label_sums
from fencepost.chart.scores import Floats, SpanScores

NODE, INNER, SEQUENCE = range(3)


class Item(NamedTuple):
    """A part of a tree over a span; the kinds are those of ``chart.inside``."""

    kind: int
    start: int
    end: int


class Edge(NamedTuple):
    """One way to build an item: from other items, under a label (0: none)."""

    weight: float
    label: int
    parts: tuple[Item, ...]


class Candidate(NamedTuple):
    """An edge with the rank of the derivation taken for each of its parts. The best compare lowest."""

    cost: float
    edge: int
    ranks: tuple[int, ...]


@dataclass
class Ranking:
    """The search state of an item: its best derivations so far, in order, and the candidates for the next one."""

    edges: list[Edge]
    heap: list[Candidate]
    derivations: list[Candidate] = field(default_factory=list)
    waiting: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)  # enter the heap before the next pop

    def knows(self, rank: int) -> bool:
        """True if the derivation of this rank has been found, or can't exist."""
        return len(self.derivations) > rank or not (self.heap or self.waiting)


def k_best(scores: SpanScores, sentence: int, k: int, force_root: bool = False) -> list[Decoded]:
    """The k best distinct trees of a sentence, or all if there are fewer, best first."""
    posts = slice(0, int(scores.lengths[sentence]) + 1)
    search = _Search(scores.scores[sentence, posts, posts], k, force_root)
    return [search.tree(rank) for rank in range(k) if search.settle(search.root, rank)]


class _Search:
    def __init__(self, scores: Floats, k: int, force_root: bool) -> None:
        length = len(scores) - 1
        self.scores = scores  # [n+1, n+1, L]
        self.k = k
        self.bare_words = not (force_root and length == 1)
        self.root = Item(NODE, 0, length) if force_root else _sequence(0, length)
        self.rankings: dict[Item, Ranking] = {}
        chart = SpanScores(scores[None], np.array([length]))
        self.best = inside(label_sums(chart, MAX), next(groups(chart.lengths)), MAX)

    def tree(self, rank: int) -> Decoded:
        """The tree of this rank, once ``settle`` has found it."""
        spans: list[tuple[int, int, int]] = []
        stack = [(self.root, rank)]
        while stack:
            item, rank_of_item = stack.pop()
            self.settle(item, rank_of_item)
            ranking = self.rankings[item]
            derivation = ranking.derivations[rank_of_item]
            edge = ranking.edges[derivation.edge]
            if edge.label:
                spans.append((item.start, -item.end, edge.label))
            stack.extend(zip(edge.parts, derivation.ranks, strict=True))
        starts, ends, labels = np.array(sorted(spans), dtype=np.int64).reshape(-1, 3).T
        return Decoded(-self.rankings[self.root].derivations[rank].cost, starts, -ends, labels)

    def settle(self, item: Item, rank: int) -> bool:
        """Finds the derivation of this rank; False if it doesn't exist. A stack, because sentences can be long."""
        stack = [(item, rank)]
        while stack:
            asked, rank_asked = stack[-1]
            ranking = self.ranking(asked)
            if ranking.knows(rank_asked):
                stack.pop()
                continue
            needed = [
                (part, part_rank)
                for edge, ranks in ranking.waiting
                for part, part_rank in zip(ranking.edges[edge].parts, ranks, strict=True)
                if part_rank > 0 and not self.ranking(part).knows(part_rank)
            ]
            if needed:
                stack.extend(needed)
            else:
                self.advance(ranking)
        return len(self.rankings[item].derivations) > rank

    def advance(self, ranking: Ranking) -> None:
        """Takes the next best candidate; its successors wait until a further rank is asked for."""
        for edge, ranks in ranking.waiting:
            self.push(ranking, edge, ranks)
        ranking.waiting = []
        if ranking.heap:
            best = heapq.heappop(ranking.heap)
            ranking.derivations.append(best)
            ranking.waiting = [(best.edge, ranks) for ranks in _next_ranks(best.ranks)]

    def ranking(self, item: Item) -> Ranking:
        if item not in self.rankings:
            ranking = self.rankings[item] = Ranking(self.edges(item), [])
            for number, edge in enumerate(ranking.edges):
                self.push(ranking, number, (0,) * len(edge.parts))
        return self.rankings[item]

    def push(self, ranking: Ranking, edge: int, ranks: tuple[int, ...]) -> None:
        parts = zip(ranking.edges[edge].parts, ranks, strict=True)
        cost = -ranking.edges[edge].weight + sum(self.cost(part, rank) for part, rank in parts)
        if cost < np.inf:
            heapq.heappush(ranking.heap, Candidate(cost, edge, ranks))

    def cost(self, item: Item, rank: int) -> float:
        """Minus the score of a derivation; infinite if it doesn't exist."""
        if rank > 0:
            derivations = self.rankings[item].derivations
            return derivations[rank].cost if rank < len(derivations) else np.inf
        if item.kind == INNER:
            return -float(self.splits(item).max())
        grid = self.best.node if item.kind == NODE else self.best.sequence
        return -float(grid.by_start[item.end - item.start, item.start, 0])

    def splits(self, item: Item) -> Doubles:
        """The best score for each fencepost where the first constituent of a sequence may end."""
        width = item.end - item.start
        first = self.best.node.by_start[1:width, item.start, 0]
        rest = self.best.sequence.by_end[width - 1 : 0 : -1, item.end, 0]
        return np.asarray(first + rest)

    def edges(self, item: Item) -> list[Edge]:
        """The ways to build an item. Only the k best splits or labels can matter.

        The first of equal ways wins, as in ``chart.cky``: no label before any label, the lowest label, the leftmost
        split.
        """
        kind, start, end = item
        if kind == SEQUENCE:
            return [Edge(0.0, 0, (Item(INNER, start, end),)), Edge(0.0, 0, (Item(NODE, start, end),))]
        if kind == INNER:
            middles = [start + 1 + split for split in _top(self.splits(item), self.k)]
            return [Edge(0.0, 0, (Item(NODE, start, middle), _sequence(middle, end))) for middle in middles]
        labels = [1 + label for label in _top(self.scores[start, end, 1:], self.k)]
        parts = (Item(INNER, start, end),) if end - start > 1 else ()
        edges = [Edge(float(self.scores[start, end, label]), label, parts) for label in labels]
        return edges if parts or not self.bare_words else [Edge(0.0, 0, ()), *edges]


def _sequence(start: int, end: int) -> Item:
    """One or more constituents: over a single word, one."""
    return Item(SEQUENCE if end - start > 1 else NODE, start, end)


def _next_ranks(ranks: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The successors of a choice of ranks. Every choice is the successor of exactly one other."""
    if not ranks:
        return []
    *first, last = ranks
    following = [(*first, last + 1)]
    if first and last == 0:
        following.append((first[0] + 1, 0))
    return following


def _top(values: Doubles | Floats, k: int) -> list[int]:
    """The indices of the k greatest values, greatest first; equal values keep their order."""
    return [int(index) for index in np.argsort(-values, kind="stable")[:k]]
