"""A running mean of the weights, which often scores better than the weights themselves. Not in the paper."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor

from fencepost.model.precision import Masters


class Average:
    """m <- d m + (1 - d) w after each step, where d is the decay, or step / (step + 10) if that is smaller.

    The smaller d makes the mean forget the first weights quickly. Without a decay no mean is kept.
    """

    def __init__(self, masters: Masters, decay: float | None) -> None:
        self._masters = masters
        self._decay = decay
        self.tensors: list[Tensor] = [] if decay is None else [p.detach().clone() for p in masters.parameters]

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Adds the weights after a step to the mean; steps count from 1."""
        if self._decay is not None:
            decay = min(self._decay, step / (step + 10))
            torch._foreach_lerp_(self.tensors, self._weights(), 1 - decay)

    @contextmanager
    def in_place(self) -> Iterator[None]:
        """Lets the model use the mean as its weights inside the ``with`` block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def load(self, tensors: Sequence[Tensor]) -> None:
        for mine, theirs in zip(self.tensors, tensors, strict=True):
            mine.copy_(theirs)

    @torch.no_grad()
    def _swap(self) -> None:
        if self._decay is None:
            return
        before = [weight.clone() for weight in self._weights()]
        torch._foreach_copy_(self._weights(), self.tensors)
        torch._foreach_copy_(self.tensors, before)
        self._masters.give_values()

    def _weights(self) -> list[Tensor]:
        return [parameter.data for parameter in self._masters.parameters]
