"""Draws sentences from several sources in fixed shares. Each source is shuffled anew each time it has been used up."""

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
    """The batch of a step depends only on the seed and the step, so a run can resume from any step."""

    collator: Collator
    targets: Targets
    sources: Sequence[Source]
    batch_size: int
    seed: int
    _orders: dict[tuple[int, int], Ints] = field(default_factory=dict)

    def draw(self, step: int) -> Ints:
        """The places of a step's sentences; steps count from 0.

        Rounding may change the size of a batch by one sentence per source.
        """
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
