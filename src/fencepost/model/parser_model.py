"""The whole model, and the batch of tensors that it reads.

All index arrays are made here, on the host, when a batch moves to its device: nothing in the model waits for
the device to say a number.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence

from fencepost.features.batch import Batch, Ints
from fencepost.model.plan import AttentionPlan

if TYPE_CHECKING:
    from fencepost.model.encoder import Encoder
    from fencepost.model.lexical import Lexical
    from fencepost.model.scorer import SpanScorer, TagScorer

ALIGNMENT = 8  # fused attention kernels read masks whose rows are multiples of 8 without copying them first


@dataclass(frozen=True)
class Layout:
    """B sequences of different lengths laid end to end without padding, in R rows; and the ways out of that form."""

    lengths: Tensor  # [B] rows of each sequence
    position: Tensor  # [R] place of each row in its sequence, from 0
    sequence: Tensor  # [R] sequence of each row
    slot: Tensor  # [R] where each row goes in [B * width]
    by_time: Tensor  # [R] rows ordered by position, those of longer sequences first: as LSTM kernels read them
    from_time: Tensor  # [R] the inverse of by_time
    longest_first: Tensor  # [B] sequences by falling length
    rank: Tensor  # [B] the inverse of longest_first
    sequences_at_time: Tensor  # [longest length] how many sequences reach each position; always on the host
    count: int  # B
    width: int  # the longest length, rounded up

    @classmethod
    def of(cls, lengths: Ints, device: torch.device) -> Layout:
        count, longest = len(lengths), int(lengths.max())
        width = -(-longest // ALIGNMENT) * ALIGNMENT
        position, sequence = _ranges(lengths), np.repeat(np.arange(count), lengths)
        longest_first = np.argsort(-lengths, kind="stable")
        present = np.arange(longest)[:, None] < lengths[longest_first]
        time, rank = np.nonzero(present)
        by_time = (np.cumsum(lengths) - lengths)[longest_first[rank]] + time
        return cls(
            lengths=_to_device(lengths, device),
            position=_to_device(position, device),
            sequence=_to_device(sequence, device),
            slot=_to_device(sequence * width + position, device),
            by_time=_to_device(by_time, device),
            from_time=_to_device(np.argsort(by_time), device),
            longest_first=_to_device(longest_first, device),
            rank=_to_device(np.argsort(longest_first), device),
            sequences_at_time=torch.tensor(present.sum(1)),
            count=count,
            width=width,
        )

    def pad(self, rows: Tensor) -> Tensor:
        """[R, ...] -> [B, width, ...] with zeros after the end of each sequence."""
        slots = rows.new_zeros(self.count * self.width, *rows.shape[1:])
        return slots.index_copy_(0, self.slot, rows).view(self.count, self.width, *rows.shape[1:])

    def unpad(self, padded: Tensor) -> Tensor:
        """[B, width, ...] -> [R, ...]."""
        return padded.flatten(0, 1).index_select(0, self.slot)

    def for_lstm(self, rows: Tensor) -> PackedSequence:
        """[R, d] -> the form that torch's LSTMs read; their final states come back in the order of the sequences."""
        return PackedSequence(rows.index_select(0, self.by_time), self.sequences_at_time, self.longest_first, self.rank)

    def from_lstm(self, packed: PackedSequence) -> Tensor:
        """What an LSTM made of ``for_lstm`` -> [R, d]."""
        return packed.data.index_select(0, self.from_time)


@dataclass(frozen=True)
class TorchBatch:
    """A ``Batch`` on a device: T tokens (start and stop included) and W words in B sentences.

    A sentence of n words has n + 1 fenceposts and n(n+1)/2 spans, F and S in all. Spans are ordered by sentence,
    then width, then start: span (i, j) of width w = j - i is number (w-1)(n+1) - w(w-1)/2 + i of its sentence.
    """

    lengths: Tensor  # [B] words in each sentence
    max_length: int  # words in the longest sentence
    tokens: Layout  # of the tokens in sentences
    word_tokens: Tensor  # [W] the token of each word
    fencepost_tokens: Tensor  # [F] the token to the left of each fencepost
    span_starts: Tensor  # [S] the fencepost where each span starts
    span_ends: Tensor  # [S] the fencepost where it ends
    words: Tensor | None  # [T]
    tags: Tensor | None  # [T]
    spellings: Tensor | None  # [U, C] letters of each distinct word, padded with 0
    spelling_lengths: Tensor | None  # [U]
    spelling_of_token: Tensor | None  # [T]
    letters: Layout | None  # of the letters in distinct words
    letter_ids: Tensor | None  # [letters] the letters of all distinct words, end to end

    def __len__(self) -> int:
        return self.tokens.count

    @classmethod
    def of(cls, batch: Batch, device: torch.device | str = "cpu") -> TorchBatch:
        device = torch.device(device)
        lengths = batch.lengths
        position, length = _ranges(lengths + 2), np.repeat(lengths, lengths + 2)
        starts, ends = _spans(lengths)
        letters = letter_ids = None
        if batch.spellings is not None and batch.spelling_lengths is not None:
            letters = Layout.of(batch.spelling_lengths, device)
            is_letter = np.arange(batch.spellings.shape[1]) < batch.spelling_lengths[:, None]
            letter_ids = _to_device(batch.spellings[is_letter], device)
        return cls(
            lengths=_to_device(lengths, device),
            max_length=int(lengths.max()),
            tokens=Layout.of(lengths + 2, device),
            word_tokens=_to_device(np.flatnonzero((position > 0) & (position <= length)), device),
            fencepost_tokens=_to_device(np.flatnonzero(position <= length), device),
            span_starts=_to_device(starts, device),
            span_ends=_to_device(ends, device),
            words=_if_there(batch.words, device),
            tags=_if_there(batch.tags, device),
            spellings=_if_there(batch.spellings, device),
            spelling_lengths=_if_there(batch.spelling_lengths, device),
            spelling_of_token=_if_there(batch.spelling_of_token, device),
            letters=letters,
            letter_ids=letter_ids,
        )


@dataclass(frozen=True)
class ModelOutput:
    """Scores of spans and tags, in fp32."""

    span_scores: Tensor  # [S, L]; column 0, the empty label, is exactly 0
    tag_scores: Tensor | None  # [W, number of tags]


class ParserModel(nn.Module):
    """§2: s(i, j, l) for every span and label of a batch: words -> w_t -> y_t -> s(i, j, ·)."""

    def __init__(
        self, lexical: Lexical, encoder: Encoder, span_scorer: SpanScorer, tag_scorer: TagScorer | None = None
    ) -> None:
        super().__init__()
        self.lexical = lexical
        self.encoder = encoder
        self.span_scorer = span_scorer
        self.tag_scorer = tag_scorer

    def forward(self, batch: TorchBatch, plan: AttentionPlan | None = None) -> ModelOutput:
        content = self.lexical(batch)  # [T, d_content]
        y = self.encoder(content, batch.tokens, plan or AttentionPlan())  # [T, d_model]
        tag_scores = None if self.tag_scorer is None else self.tag_scorer(y, batch)
        return ModelOutput(self.span_scorer(y, batch), tag_scores)


def _ranges(counts: Ints) -> Ints:
    """0 .. c-1 for each count c, end to end."""
    return np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)


def _spans(lengths: Ints) -> tuple[Ints, Ints]:
    """The fenceposts, counted through the batch, where each span starts and ends."""
    width = _ranges(lengths) + 1  # one for each diagonal of each chart
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    spans = lengths[sentence] - width + 1
    first_fencepost = (np.cumsum(lengths + 1) - (lengths + 1))[sentence]
    starts = np.repeat(first_fencepost, spans) + _ranges(spans)
    return starts, starts + np.repeat(width, spans)


def _if_there(array: Ints | None, device: torch.device) -> Tensor | None:
    return None if array is None else _to_device(array, device)


def _to_device(array: Ints, device: torch.device) -> Tensor:
    tensor = torch.tensor(array, dtype=torch.int64)
    if device.type == "cuda":  # only a copy from pinned memory lets the host go on
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor.to(device)
