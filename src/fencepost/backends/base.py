"""What every backend does: a batch of sentences in, charts out. Everything before and after it is shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from fencepost.chart.cky import Decoded
from fencepost.chart.scores import Floats, SpanScores
from fencepost.features.batch import Batch, Ints
from fencepost.features.constituents import Constituents

FunctionReader: TypeAlias = Callable[[Constituents], Floats]
"""Constituents of a batch, whatever their trees -> the probability of each function: [C, functions]."""


@dataclass(frozen=True)
class Parsed:
    """The best tree of each sentence of a batch."""

    trees: Sequence[Decoded]
    tags: Ints | None  # [W] predicted tag of each word, where the model predicts tags
    functions: FunctionReader | None = None  # if they were asked for


@dataclass(frozen=True)
class Scored:
    """All label scores of each span of a batch, for probabilities and k best trees."""

    spans: SpanScores
    tags: Ints | None
    functions: FunctionReader | None = None


class Backend(Protocol):
    """Runs one model."""

    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Parsed]:
        """Starts work on a batch; the returned function waits for the result and returns it.

        On a GPU the host can build the trees of one batch while the device works on the next. ``functions`` asks a
        model that predicts functions for a reader of them.
        """
        ...

    def score(self, batch: Batch, *, functions: bool = False) -> Scored: ...

    @property
    def overlaps(self) -> bool:
        """True if ``launch`` returns while a device is still at work, so that the host can do something else."""
        ...

    @property
    def threads(self) -> int:
        """The number of threads in this process that share the work on a batch."""
        ...

    @property
    def batch_tokens(self) -> int:
        """A good size for a batch, as ``features.batching`` counts."""
        ...
