"""Sentences of several sources, drawn in fixed shares: those of each in an order of their own, again and again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from corpus import Collator
from targets import Beliefs, Targets

from fencepost.features.batch import Batch, Ints


@dataclass(frozen=True, eq=False)
class Source:
    """Some sentences of a corpus."""

    name: str
    share: float  # of a batch, in proportion to the shares of the other sources
    places: Ints  # in the corpus


@dataclass(eq=False)
class Mixture:
    """What a step reads depends on the seed and the step alone, so that a run can go on from any step."""

    collator: Collator
    targets: Targets
    sources: Sequence[Source]
    batch_size: int
    seed: int
    _orders: dict[tuple[int, int], Ints] = field(default_factory=dict)

    def draw(self, step: int) -> Ints:
        """The places that a step reads; steps count from 0. As many as a batch has, give or take one a source."""
        total = sum(source.share for source in self.sources)
        drawn = []
        for number, source in enumerate(self.sources):
            pace = self.batch_size * source.share / total
            turns = np.arange(int(step * pace), int((step + 1) * pace))
            size = len(source.places)
            order = [self._order(number, turn // size)[turn % size] for turn in turns.tolist()]
            drawn.append(source.places[np.array(order, np.int64)])
        return np.concatenate(drawn)

    def _order(self, number: int, epoch: int) -> Ints:
        if (number, epoch) not in self._orders:
            self._orders.pop((number, epoch - 2), None)
            random = np.random.default_rng([self.seed, number, epoch])
            self._orders[number, epoch] = random.permutation(len(self.sources[number].places))
        return self._orders[number, epoch]

    def batch(self, step: int) -> tuple[Batch, Beliefs]:
        places = self.draw(step)
        batch = self.collator.batch(places)
        return batch, self.targets.batch(places, batch.lengths)
