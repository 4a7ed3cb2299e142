"""Which attention is allowed, as data: the same weights can run under any plan (§4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import torch
from torch import Tensor

from fencepost.config.settings import REACH, PlanConfig
from fencepost.errors import ConfigError

if TYPE_CHECKING:
    from fencepost.model.sequences import Layout


class Terms(NamedTuple):
    """Which terms of q · k = q^(c) · k^(c) + q^(p) · k^(p) a layer uses."""

    content: bool = True
    position: bool = True


class Reach(NamedTuple):
    """§4.2. Token i may attend to token j of its sentence where |i - j| <= window; None: to all.

    With a relaxed window the start token, the first word, the last word and the stop token attend to all tokens, and
    all tokens attend to them.
    """

    window: int | None = None
    relaxed: bool = False


EVERYWHERE: Final = Reach()


@dataclass(frozen=True)
class AttentionPlan:
    """§4. Token i may attend to token j of its sentence where ``reach`` says so (Tables 2 and 3).

    ``content`` and ``position`` are the layers, from 1, that use that term of q · k in a factored model (Table 1);
    ``None`` means all layers.

    Not in the paper: in a sentence of more than ``longest`` tokens, positions start again from 0 every ``longest``
    tokens. A token then attends at most ``longest`` / 3 tokens away, so that it never sees the same position twice;
    tokens that a relaxed window exempts are exempt here too. Rows of the position table that training rarely reached
    are noise, and a sentence of 1,000 words would read mostly those.
    """

    window: int | None = None
    relaxed: bool = False
    content: tuple[int, ...] | None = None
    position: tuple[int, ...] | None = None
    longest: int | None = None

    @classmethod
    def of(cls, config: PlanConfig, longest: int | None = None) -> AttentionPlan:
        return cls(config.window, config.relaxed, config.content, config.position, longest)

    def terms(self, layer: int) -> Terms:
        """The terms that a layer uses; layers are numbered from 1."""
        return Terms(
            content=self.content is None or layer in self.content,
            position=self.position is None or layer in self.position,
        )

    @property
    def reach(self) -> Reach:
        return EVERYWHERE if self.window is None else Reach(self.window, self.relaxed)

    def require_factored(self, factored: bool) -> None:
        """Raises ConfigError if the plan chooses terms in a model that doesn't keep them apart."""
        if not factored and (self.content, self.position) != (None, None):
            raise ConfigError(
                "content and position attention can only be switched off in a factored model",
                hint='train with encoder.position = "concatenated" and encoder.projection = "block"',
            )

    def row_positions(self, layout: Layout) -> Tensor:
        """The position that each row reads: [R]."""
        if self.longest is None or layout.width <= self.longest:
            return layout.position
        long = layout.lengths[layout.sequence] > self.longest
        return torch.where(long, layout.position % self.longest, layout.position)

    def needs_mask(self, layout: Layout) -> bool:
        """True if the plan needs an explicit mask beyond its ``reach``."""
        return self.longest is not None and layout.width > self.longest

    def mask(self, lengths: Tensor, width: int) -> Tensor:
        """Allowed pairs (i, j), true or false: [B, 1, 1, width] without a window, [B, 1, width, width] with one.

        ``lengths``: [B] tokens in each sentence, start and stop included. No token attends to padding. Padding
        attends to all tokens: its result is never read, but a softmax over no tokens would be NaN.
        """
        token = torch.arange(width, device=lengths.device)
        real = token < lengths[:, None]  # [B, width]
        allowed = real[:, None, :]
        if self.window is not None:
            allowed = allowed & self._near(token, real, lengths, self.window)
        if self.longest is not None and width > self.longest:
            short = lengths[:, None, None] <= self.longest
            allowed = allowed & (short | self._near(token, real, lengths, self.longest // REACH))
        return allowed[:, None]

    def _near(self, token: Tensor, real: Tensor, lengths: Tensor, window: int) -> Tensor:
        near = (token[:, None] - token).abs() <= window  # [width, width]
        free = ~real
        if self.relaxed:
            free = free | (token < 2) | (token >= lengths[:, None] - 2)
        return near | free[:, :, None] | free[:, None, :]
