"""The encoder's layers as recordings (CUDA graphs): a training step launches two of them instead of 700 kernels.

The host takes longer to launch those kernels than the GPU to run them. A recording has one fixed shape, so a batch is
filled up with rows of zeros, a sequence of their own, to the next of a few capacities.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.model.layout import Sequences

if TYPE_CHECKING:
    from fencepost.model.encoder import Layers
    from fencepost.model.plan import AttentionPlan

ROWS: Final = 512  # capacities are multiples of this, and no sequence is longer
SEQUENCES: Final = 64
MOST: Final = 24  # recordings, each of which keeps memory


class Recordings:
    """Runs layers as ``Layers`` does, each plan and capacity recorded when it first comes.

    Gradients are where the last run left them: a batch in several pieces, whose gradients add up, can't use it.
    """

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._recorded: dict[tuple[AttentionPlan, int, int], nn.Module] = {}
        self._pool = torch.cuda.graph_pool_handle()
        # Recording happens on a stream of its own, of which torch warns in the first backward pass, for nothing.
        silence = getattr(torch.autograd.graph, "set_warn_on_accumulate_grad_stream_mismatch", None)
        if silence is not None:
            silence(False)

    def __call__(self, x: Tensor, p: Tensor, sequences: Sequences, plan: AttentionPlan) -> Tensor:
        rows, count = _up(len(x), ROWS), _up(sequences.count + 1, SEQUENCES)
        key = plan, rows, count
        fits = sequences.width <= ROWS and (key in self._recorded or len(self._recorded) < MOST)
        if not fits:
            y: Tensor = self._layers(x, p, sequences, None, plan)
            return y
        room = (0, 0, 0, rows - len(x))
        filled = (F.pad(x, room), F.pad(p, room), *_filled(sequences, len(x), rows, count))
        if key not in self._recorded:
            self._recorded[key] = self._record(_Recordable(self._layers, plan, count), filled)
        y = self._recorded[key](*filled)
        return y[: len(x)]

    def _record(self, layers: _Recordable, inputs: tuple[Tensor, ...]) -> nn.Module:
        samples = tuple(tensor.detach().clone().requires_grad_(tensor.requires_grad) for tensor in inputs)
        # What warms up before a recording must not change the random numbers of this step.
        with torch.random.fork_rng(devices=[inputs[0].device]):
            recorded: nn.Module = torch.cuda.make_graphed_callables(  # type: ignore[assignment]
                layers, samples, allow_unused_input=True, pool=self._pool
            )
        return recorded


class _Recordable(nn.Module):
    """Layers whose every argument is a tensor."""

    def __init__(self, layers: Layers, plan: AttentionPlan, count: int) -> None:
        super().__init__()
        self.layers = layers
        self.plan = plan
        self.count = count

    def forward(self, x: Tensor, p: Tensor, sequence: Tensor, starts: Tensor) -> Tensor:
        y: Tensor = self.layers(x, p, Sequences(sequence, starts, self.count, ROWS), None, self.plan)
        return y


def _filled(sequences: Sequences, used: int, rows: int, count: int) -> tuple[Tensor, Tensor]:
    """The sequence of each row and the starts, where empty sequences and one of all spare rows follow the given."""
    sequence = F.pad(sequences.sequence, (0, rows - used), value=count - 1)
    starts = F.pad(sequences.starts, (0, count - 1 - sequences.count), value=used)
    return sequence, F.pad(starts, (0, 1), value=rows)


def _up(number: int, unit: int) -> int:
    return -(-number // unit) * unit
