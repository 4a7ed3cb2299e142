"""Which attention is allowed, as data: the same weights can be run under any plan (§4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from fencepost.config import PlanConfig
from fencepost.errors import ConfigError


class Terms(NamedTuple):
    """Which terms of q · k = q^(c) · k^(c) + q^(p) · k^(p) a layer uses."""

    content: bool = True
    position: bool = True


@dataclass(frozen=True)
class AttentionPlan:
    """§4. Token i may attend to token j of its sentence where |i - j| <= window (Tables 2 and 3).

    In a relaxed window the start token, the first word, the last word and the stop token attend to all and are
    attended by all. ``content`` and ``position`` are the layers, from 1, that use that term of q · k in a factored
    model (Table 1); ``None`` means all layers.
    """

    window: int | None = None
    relaxed: bool = False
    content: tuple[int, ...] | None = None
    position: tuple[int, ...] | None = None

    @classmethod
    def of(cls, config: PlanConfig) -> AttentionPlan:
        return cls(config.window, config.relaxed, config.content, config.position)

    def terms(self, layer: int) -> Terms:
        """What layer number ``layer``, from 1, uses."""
        return Terms(
            content=self.content is None or layer in self.content,
            position=self.position is None or layer in self.position,
        )

    def require_factored(self, factored: bool) -> None:
        """An error where terms are switched in a model that doesn't keep them apart."""
        if not factored and (self.content, self.position) != (None, None):
            raise ConfigError(
                "content and position attention can only be switched where content and position are factored",
                hint='encoder.position = "concatenated" and encoder.projection = "block"',
            )

    def mask(self, lengths: Tensor, width: int) -> Tensor:
        """Allowed pairs (i, j), true or false: [B, 1, 1, width] without a window, [B, 1, width, width] with one.

        ``lengths``: [B] tokens in each sentence, start and stop included. No token attends to padding. What padding
        attends to is never read, but must not be nothing (a softmax over nothing is NaN): it attends to all tokens.
        """
        token = torch.arange(width, device=lengths.device)
        real = token < lengths[:, None]  # [B, width]
        if self.window is None:
            return real[:, None, None, :]
        near = (token[:, None] - token).abs() <= self.window  # [width, width]
        free = ~real
        if self.relaxed:
            free = free | (token < 2) | (token >= lengths[:, None] - 2)
        allowed = near | free[:, :, None] | free[:, None, :]
        return (allowed & real[:, None, :])[:, None]
