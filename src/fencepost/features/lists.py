"""Lists that lie end to end in one array."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from fencepost.features.batch import Array, Ints


def firsts(counts: Ints) -> Ints:
    """Where each list begins, given how long each is."""
    return np.asarray(np.cumsum(counts) - counts)


def ranges(starts: Ints, counts: Ints) -> Ints:
    """The numbers from each start on, as many as its count: ``ranges([7, 3], [2, 1])`` is ``[7, 8, 3]``."""
    return np.asarray(np.arange(counts.sum()) + np.repeat(starts - firsts(counts), counts))


def with_ends(values: Ints, counts: Ints, before: Sequence[int] | Ints, after: Sequence[int] | Ints) -> Ints:
    """Each list with the same values before it and after it, or, given one row per list, with its own."""
    before, after = np.asarray(before, np.int64), np.asarray(after, np.int64)
    ahead, behind = before.shape[-1], after.shape[-1]
    first = firsts(counts + ahead + behind)
    longer = np.empty(counts.sum() + (ahead + behind) * len(counts), np.int64)
    longer[ranges(first + ahead, counts)] = values
    longer[first[:, None] + np.arange(ahead)] = before
    longer[(first + ahead + counts)[:, None] + np.arange(behind)] = after
    return longer


class Lists:
    """Many lists end to end. A column has one row for each member of the lists."""

    def __init__(self, counts: Ints, columns: Mapping[str, Array]) -> None:
        self.counts = counts  # how long each list is
        self._firsts = firsts(counts)
        self._columns = dict(columns)

    def pick(self, chosen: Ints) -> dict[str, Array]:
        """The columns of some of the lists, in the order of their indices."""
        rows = ranges(self._firsts[chosen], self.counts[chosen])
        return {name: column[rows] for name, column in self._columns.items()}
