"""torch's LSTMs as ONNX: the same numbers in another order."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch import nn

from fencepost.chart.scores import Floats
from fencepost.export.attention import numbers
from fencepost.export.builder import Graph


def add_lstm(graph: Graph, lstm: nn.LSTM, steps: str, lengths: str) -> Iterator[tuple[str, str]]:
    """[T, B, inputs] -> all states [T, 2, B, H] and last states [2, B, H] of each layer, both directions.

    ``lengths`` [B] are int32. States beyond a sequence's end are 0.
    """
    for layer in range(lstm.num_layers):
        names = [f"_l{layer}", f"_l{layer}_reverse"]
        from_input = np.stack([_gates(lstm, "weight_ih" + name) for name in names])  # [2, 4H, inputs]
        from_state = np.stack([_gates(lstm, "weight_hh" + name) for name in names])  # [2, 4H, H]
        biases = [[_gates(lstm, kind + name) for kind in ("bias_ih", "bias_hh")] for name in names]
        weights = [graph.constant(weight) for weight in (from_input, from_state, np.reshape(biases, (2, -1)))]
        hidden = {"hidden_size": lstm.hidden_size, "direction": "bidirectional"}
        states, last = graph.nodes("LSTM", 2, steps, *weights, lengths, **hidden)
        yield states, last
        steps = graph.reshape(graph.node("Transpose", states, perm=(0, 2, 1, 3)), 0, 0, -1)


def _gates(lstm: nn.LSTM, name: str) -> Floats:
    """torch orders the gates input, forget, cell, output; ONNX orders them input, output, forget, cell."""
    into, forget, cell, out = np.split(numbers(getattr(lstm, name)), 4)
    return np.concatenate([into, out, forget, cell])
