"""The last states of a bidirectional LSTM over the letters of words (§5.1), all steps in one launch.

torch's LSTM launches kernels step by step and keeps the host busy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

if TYPE_CHECKING:
    from fencepost.model.sequences import Layout


def last_states_in_one_launch(lstm: nn.LSTM, rows: Tensor, layout: Layout) -> Tensor:
    """``model.lexical.last_states`` by Triton's kernels, on any device."""
    from_input, from_state, input_bias, state_bias = (torch.cat(both) for both in zip(*lstm.all_weights, strict=True))
    gates = F.linear(rows, from_input, input_bias + state_bias).view(len(rows), 2, -1)  # [R, 2, 4H]
    weight = from_state.view(2, -1, lstm.hidden_size).to(gates.dtype)  # [2, 4H, H]
    starts = layout.lengths.cumsum(0) - layout.lengths
    final: Tensor = _LastStates.apply(gates, weight, layout.longest_first, starts, layout.lengths)  # type: ignore[no-untyped-call]
    return final


class _LastStates(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, gates: Tensor, weight: Tensor, *sequences: Tensor) -> Tensor:
        from fencepost.model.cuda import lstm_kernels

        ctx.precision = lstm_kernels.precision_of(weight)
        final, opened, hidden, cells = lstm_kernels.forward(ctx.precision, gates, weight, *sequences)
        ctx.save_for_backward(weight, opened, hidden, cells, *sequences)
        return final

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_final: Tensor) -> tuple[Tensor | None, ...]:
        from fencepost.model.cuda import lstm_kernels

        weight, opened, hidden, cells, *sequences = ctx.saved_tensors
        d_gates = lstm_kernels.backward(ctx.precision, d_final.contiguous(), weight, opened, cells, *sequences)
        d_weight = d_gates.permute(1, 2, 0) @ hidden.transpose(0, 1)  # [2, 4H, R] x [2, R, H]
        return d_gates, d_weight, None, None, None
