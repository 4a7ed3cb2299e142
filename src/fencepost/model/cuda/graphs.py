"""Layers recorded as CUDA graphs: a training step launches two of them instead of 700 kernels.

The host takes longer to launch those kernels than the GPU takes to run them. A graph has one fixed shape, so each batch
is filled up to one of a few capacities with rows of zeros, which form short sequences of their own.
"""

from __future__ import annotations

import warnings
from collections.abc import Hashable
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.model.sequences import Sequences

LONGEST: Final = 512  # rows; batches with a longer sequence are not recorded
ROWS: Final = 128  # capacities are multiples of this ...
MANY_ROWS: Final = 512  # ... or of this, beyond eight times this many rows
SEQUENCES: Final = 64
PIECE: Final = 32  # spare rows in one sequence: attention costs the square of this
MOST: Final = 24  # graphs at most: each takes memory


class CudaGraphs:
    """Runs ``layers(*rows, sequences, None, *how)``, and records each capacity and each ``how`` when it first occurs.

    Every run overwrites the gradients of the last one, so it can't be used for a batch in several pieces, whose
    gradients add up.
    """

    def __init__(self, layers: nn.Module) -> None:
        self._layers = layers
        self._recorded: dict[tuple[Hashable, ...], nn.Module] = {}
        self._pool = torch.cuda.graph_pool_handle()
        # Recording uses a stream of its own; torch warns about that in the first backward pass, without need.
        silence = getattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch", None)
        if silence is not None:
            silence(False)

    def __call__(self, rows: tuple[Tensor, ...], sequences: Sequences, *how: Hashable) -> Tensor:
        used = len(rows[0])
        capacity = _capacity(used)
        count = _round_up(sequences.count + _pieces(MANY_ROWS), SEQUENCES)
        key = capacity, count, *how
        # CUDA graphs ignore autocast: the layers' matrices decide the precision of products.
        with torch.autocast(rows[0].device.type, enabled=False):
            if sequences.width > LONGEST:
                y: Tensor = self._layers(*rows, sequences, None, *how)
                return y
            room = (0, 0, 0, capacity - used)
            filled = (*(F.pad(x, room) for x in rows), *_filled(sequences, used, capacity, count))
            layers = _Recordable(self._layers, how, count)
            if key not in self._recorded and len(self._recorded) < MOST:
                self._recorded[key] = self._record(layers, filled)
            # Unrecorded layers run on the filled-up rows too: dropout must not depend on what was recorded before.
            y = self._recorded.get(key, layers)(*filled)
        return y[:used]

    def _record(self, layers: _Recordable, inputs: tuple[Tensor, ...]) -> nn.Module:
        samples = tuple(tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in inputs)
        # The warm-up runs before a recording must not change the random numbers of this step.
        with torch.random.fork_rng(devices=[inputs[0].device]):
            try:
                return torch.cuda.make_graphed_callables(  # type: ignore[return-value]
                    layers, samples, allow_unused_input=True, pool=self._pool
                )
            except RuntimeError as error:  # a recording only saves time
                reason = str(error).partition("\n")[0]
                warnings.warn(f"no CUDA graph could be recorded, so training is slower: {reason}", stacklevel=2)
                return layers


class _Recordable(nn.Module):
    """Layers that take only tensors: rows, then the sequence of each row, then the starts."""

    def __init__(self, layers: nn.Module, how: tuple[Hashable, ...], count: int) -> None:
        super().__init__()
        self.layers = layers
        self.how = how
        self.count = count

    def forward(self, *inputs: Tensor) -> Tensor:
        *rows, sequence, starts = inputs
        y: Tensor = self.layers(*rows, Sequences(sequence, starts, self.count, LONGEST), None, *self.how)
        return y


def _capacity(rows: int) -> int:
    return _round_up(rows, ROWS if rows <= 8 * MANY_ROWS else MANY_ROWS)


def _filled(sequences: Sequences, used: int, rows: int, count: int) -> tuple[Tensor, Tensor]:
    """The sequence of each row, and the starts; spare rows are short sequences at the end, then come empty ones."""
    sequence = F.pad(sequences.sequence, (0, rows - used), value=count - 1)
    more = torch.arange(1, count - sequences.count + 1, dtype=torch.int32, device=sequence.device)
    return sequence, torch.cat([sequences.starts, (used + PIECE * more).clamp_(max=rows)])


def _pieces(rows: int) -> int:
    return -(-rows // PIECE)


def _round_up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
