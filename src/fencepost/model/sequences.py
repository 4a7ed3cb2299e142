"""Sequences of different lengths in one tensor, and how they get to a device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import PackedSequence

from fencepost.features.batch import Array, Ints
from fencepost.features.batch_arrays import layout_arrays, longest_first
from fencepost.features.flat import Form, forms, lay_out

ALIGNMENT = 8  # fused attention kernels read masks whose rows are multiples of 8 without copying them first
DTYPES: Final = {"float32": torch.float32, "bool": torch.bool}


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
        arrays = layout_arrays(lengths)
        return cls.sent(arrays, send(arrays, device))

    @classmethod
    def sent(cls, arrays: Mapping[str, Array], tensors: Mapping[str, Tensor], name: str = "") -> Layout:
        """The layout made of its ``layout_arrays``, on the host and on the device."""
        lengths = arrays[name + "lengths"]
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
        order = longest_first(self.on_host)
        longest = int(self.on_host.max())
        time, rank = np.nonzero(np.arange(longest)[:, None] < self.on_host[order])
        by_time = (np.cumsum(self.on_host) - self.on_host)[order[rank]] + time
        arrays = {"by_time": by_time, "from_time": _inverse(by_time), "rank": _inverse(order)}
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


def _inverse(order: Ints) -> Ints:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


def send(arrays: Mapping[str, Array], device: torch.device) -> dict[str, Tensor]:
    """Sends all arrays in one copy. It comes from pinned memory, so the host doesn't have to wait for it."""
    on_cuda = device.type == "cuda"
    own = forms(arrays)
    buffer = torch.empty(sum(form.size for form in own), dtype=torch.int64, pin_memory=on_cuda)
    lay_out(list(arrays.values()), buffer.numpy())
    return split(buffer.to(device, non_blocking=on_cuda), own)


def split(numbers: Tensor, own: Sequence[Form]) -> dict[str, Tensor]:
    """The arrays that ``lay_out`` put into these numbers, as tensors."""
    pieces = torch.split(numbers, [form.size for form in own])
    return {form.name: _shaped(piece, form) for form, piece in zip(own, pieces, strict=True)}


def _shaped(numbers: Tensor, form: Form) -> Tensor:
    if form.dtype == "int64":
        return numbers.view(form.shape)
    return numbers.view(DTYPES[form.dtype])[: form.items].view(form.shape)
