"""Sequences of different lengths in one tensor, and how they get to a device."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from fencepost.features.batch import Ints

ALIGNMENT = 8  # fused attention kernels read masks whose rows are multiples of 8 without copying them first


@dataclass(frozen=True)
class Sequences:
    """B sequences of different lengths laid end to end without padding, in R rows."""

    sequence: Tensor  # [R] sequence of each row
    starts: Tensor  # [B + 1] first row of each sequence, and R; int32, as kernels read them
    count: int  # B
    width: int  # the longest length, rounded up


@dataclass(frozen=True)
class Layout(Sequences):
    """Sequences, and how to convert them to other forms. What only some models read is made when it is first read."""

    lengths: Tensor  # [B] rows of each sequence
    position: Tensor  # [R] index of each row in its sequence, from 0
    longest_first: Tensor  # [B] sequences by decreasing length
    on_host: Ints  # [B] the lengths, on the host

    @classmethod
    def of(cls, lengths: Ints, device: torch.device) -> Layout:
        return cls.sent(lengths, send(cls.arrays(lengths), device))

    @staticmethod
    def arrays(lengths: Ints, name: str = "") -> dict[str, Ints]:
        """The arrays to send to the device; each is called ``name`` plus the name of its field."""
        starts = np.zeros(len(lengths) + 1, np.int64)
        np.cumsum(lengths, out=starts[1:])
        sequence = np.repeat(np.arange(len(lengths)), lengths)
        return {
            name + "lengths": lengths,
            name + "position": np.arange(len(sequence)) - starts[sequence],
            name + "sequence": sequence,
            name + "starts": starts,
            name + "longest_first": _longest_first(lengths),
        }

    @classmethod
    def sent(cls, lengths: Ints, tensors: dict[str, Tensor], name: str = "") -> Layout:
        """The layout made of the ``arrays`` that were sent to the device."""
        return cls(
            lengths=tensors[name + "lengths"],
            position=tensors[name + "position"],
            sequence=tensors[name + "sequence"],
            starts=tensors[name + "starts"].int(),
            longest_first=tensors[name + "longest_first"],
            on_host=lengths,
            count=len(lengths),
            width=-(-int(lengths.max()) // ALIGNMENT) * ALIGNMENT,
        )

    @cached_property
    def slot(self) -> Tensor:
        """[R] where each row goes in [B * width]."""
        return self.sequence * self.width + self.position

    @cached_property
    def _lstm_order(self) -> tuple[Tensor, Tensor, Tensor]:
        """[R] rows ordered by position, those of longer sequences first; its inverse; [B] that of longest_first."""
        longest_first = _longest_first(self.on_host)
        longest = int(self.on_host.max())
        time, rank = np.nonzero(np.arange(longest)[:, None] < self.on_host[longest_first])
        by_time = (np.cumsum(self.on_host) - self.on_host)[longest_first[rank]] + time
        arrays = {"by_time": by_time, "from_time": _inverse(by_time), "rank": _inverse(longest_first)}
        by_time_sent, from_time, rank_sent = send(arrays, self.lengths.device).values()
        return by_time_sent, from_time, rank_sent

    def pad(self, rows: Tensor) -> Tensor:
        """[R, ...] -> [B, width, ...] with zeros after the end of each sequence."""
        slots = rows.new_zeros(self.count * self.width, *rows.shape[1:])
        return slots.index_copy_(0, self.slot, rows).view(self.count, self.width, *rows.shape[1:])

    def unpad(self, padded: Tensor) -> Tensor:
        """[B, width, ...] -> [R, ...]."""
        return padded.flatten(0, 1).index_select(0, self.slot)

    def for_lstm(self, rows: Tensor) -> PackedSequence:
        """[R, d] -> the form that torch's LSTMs read; their final states come back in the order of the sequences."""
        by_time, _, rank = self._lstm_order
        # How many sequences reach each position; always on the host.
        sizes = torch.from_numpy(self.count - np.cumsum(np.bincount(self.on_host))[:-1])
        return PackedSequence(rows.index_select(0, by_time), sizes, self.longest_first, rank)

    def from_lstm(self, packed: PackedSequence) -> Tensor:
        """The states that an LSTM computed from ``for_lstm`` -> [R, d]."""
        return packed.data.index_select(0, self._lstm_order[1])


def ranges(counts: Ints) -> Ints:
    """0 .. c-1 for each count c, end to end."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _inverse(order: Ints) -> Ints:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def _longest_first(lengths: Ints) -> Ints:
    return np.argsort(-lengths, kind="stable")


def send(arrays: dict[str, Ints], device: torch.device) -> dict[str, Tensor]:
    """Sends all arrays in one copy. It comes from pinned memory, so the host doesn't have to wait for it."""
    on_cuda = device.type == "cuda"
    sizes = [array.size for array in arrays.values()]
    buffer = torch.empty(sum(sizes), dtype=torch.int64, pin_memory=on_cuda)
    np.concatenate([array.ravel() for array in arrays.values()], out=buffer.numpy())
    pieces = torch.split(buffer.to(device, non_blocking=on_cuda), sizes)
    return {name: piece.view(arrays[name].shape) for name, piece in zip(arrays, pieces, strict=True)}
