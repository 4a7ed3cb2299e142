"""The encoder that the paper compares its own encoder with: a bidirectional LSTM."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from fencepost.errors import ConfigError
from fencepost.model.plan import AttentionPlan

if TYPE_CHECKING:
    from fencepost.model.sequences import Layout


class LSTMEncoder(nn.Module):
    """Table 5, first row (Stern et al. 2017, Gaddy et al. 2018). y→_t and y←_t are the states of the two directions.

    content: [R, d_model] -> [R, d_model]. The forward state is in the even coordinates and the backward state in the
    odd ones, where the span scorer looks for y→ and y←. Dropout is applied between the layers.
    """

    def __init__(self, d_model: int, layers: int, dropout: float) -> None:
        super().__init__()
        between = dropout if layers > 1 else 0.0
        self.lstm = nn.LSTM(d_model, d_model // 2, layers, bidirectional=True, dropout=between)

    def forward(self, content: Tensor, layout: Layout, plan: AttentionPlan) -> Tensor:
        if plan != AttentionPlan(longest=plan.longest):
            raise ConfigError("an LSTM encoder can't follow an attention plan")
        states, _ = self.lstm(layout.for_lstm(content))
        directions = torch.unflatten(layout.from_lstm(states), -1, (2, -1))  # [R, 2, d_model / 2]
        return directions.transpose(1, 2).flatten(1)
