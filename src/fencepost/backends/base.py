"""What every backend does: a batch of sentences in, charts out. Everything before and after it is shared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from fencepost.chart.cky import Decoded
from fencepost.chart.scores import Floats, SpanScores
from fencepost.errors import ModelError
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


def require_finite(*numbers: npt.NDArray[Any]) -> None:
    """Raises ModelError if any of a model's numbers is infinite or not a number: trees made from them mean nothing."""
    if not all(np.isfinite(each).all() for each in numbers):
        raise not_finite()


def not_finite() -> ModelError:
    return ModelError("the model's scores are not finite numbers", hint="get or train the model again")
