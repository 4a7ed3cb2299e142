"""Which sentences each step reads: all of them in every epoch, in an order set by the seed and the epoch alone."""

from __future__ import annotations

import numpy as np


class BatchOrder:
    """The batches of a whole run, by step number. Steps count from 0."""

    def __init__(self, sentences: int, batch_size: int, seed: int) -> None:
        self._sentences, self._batch_size, self._seed = sentences, batch_size, seed
        self.batches_per_epoch = -(-sentences // batch_size)
        self._epoch, self._order = -1, [0]  # the order of the sentences in one epoch

    def batch(self, step: int) -> list[int]:
        """The indices of a step's sentences."""
        epoch, done = divmod(step, self.batches_per_epoch)
        if epoch != self._epoch:
            random = np.random.default_rng([self._seed, epoch])
            self._epoch, self._order = epoch, random.permutation(self._sentences).tolist()
        return self._order[done * self._batch_size : (done + 1) * self._batch_size]
