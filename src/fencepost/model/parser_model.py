"""The whole model, and the batch of tensors that it reads.

All index arrays are made here, when a batch moves to its device, so that nothing in the model has to wait for a number
from the device.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from fencepost.features.batch import Batch, Ints
from fencepost.features.constituents import Constituents
from fencepost.model.plan import AttentionPlan
from fencepost.model.sequences import Layout, ranges, send

if TYPE_CHECKING:
    from fencepost.model.encoder import Encoder
    from fencepost.model.lexical import Lexical
    from fencepost.model.scorer import FunctionScorer, SpanScorer, TagScorer


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
    spelling_lengths: Tensor | None  # [U]
    spelling_of_token: Tensor | None  # [T]
    letters: Layout | None  # of the letters in distinct words
    letter_ids: Tensor | None  # [letters] the letters of all distinct words, end to end
    windows: Layout | None  # of the sub-tokens in windows
    subwords: Tensor | None  # [P] the sub-tokens of all windows, end to end
    subword_rows: Tensor | None  # [M] indices into subwords of what each token is made of
    token_of_row: Tensor | None  # [M] the token that each of these belongs to
    rows_of_token: Tensor | None  # [T] how many of these each token has
    vectors: Tensor | None  # [T, size] precomputed vectors
    treebanks: Tensor | None  # [T]
    spellings_on_host: Ints | None  # [U, C] letters of each distinct word, padded with 0

    def __len__(self) -> int:
        return self.tokens.count

    @cached_property
    def spellings(self) -> Tensor | None:
        """[U, C] letters of each distinct word, padded with 0: few models read them in this form."""
        if self.spellings_on_host is None:
            return None
        return send({"spellings": self.spellings_on_host}, self.lengths.device)["spellings"]

    @classmethod
    def of(cls, batch: Batch, device: torch.device | str = "cpu") -> TorchBatch:
        return cls.sent(batch, send(arrays_of(batch), torch.device(device)))

    @classmethod
    def sent(cls, batch: Batch, tensors: dict[str, Tensor]) -> TorchBatch:
        """The batch made of its ``arrays_of`` that were sent to the device."""
        starts, ends = _spans(tensors, int((batch.lengths * (batch.lengths + 1) // 2).sum()))
        letter_counts = batch.spelling_lengths
        return cls(
            lengths=tensors["lengths"],
            max_length=int(batch.lengths.max()),
            tokens=Layout.sent(batch.lengths + 2, tensors, "tokens."),
            word_tokens=tensors["word_tokens"],
            fencepost_tokens=tensors["fencepost_tokens"],
            span_starts=starts,
            span_ends=ends,
            words=tensors.get("words"),
            tags=tensors.get("tags"),
            spelling_lengths=tensors.get("letters.lengths"),
            spelling_of_token=tensors.get("spelling_of_token"),
            letters=None if letter_counts is None else Layout.sent(letter_counts, tensors, "letters."),
            letter_ids=tensors.get("letter_ids"),
            windows=None if batch.window_lengths is None else Layout.sent(batch.window_lengths, tensors, "windows."),
            subwords=tensors.get("subwords"),
            subword_rows=tensors.get("subword_rows"),
            token_of_row=tensors.get("token_of_row"),
            rows_of_token=tensors.get("rows_of_token"),
            vectors=None if batch.vectors is None else torch.from_numpy(batch.vectors).to(starts.device),
            treebanks=tensors.get("treebanks"),
            spellings_on_host=batch.spellings,
        )


@dataclass(frozen=True)
class TorchConstituents:
    """``Constituents`` on a device; starts and ends count the fenceposts of the whole batch. [C] each."""

    starts: Tensor
    ends: Tensor
    labels: Tensor
    parents: Tensor

    @classmethod
    def of(cls, constituents: Constituents, lengths: Ints, device: torch.device | str = "cpu") -> TorchConstituents:
        starts, ends = constituents.fenceposts(lengths)
        arrays = {"starts": starts, "ends": ends, "labels": constituents.labels, "parents": constituents.parents}
        return cls(**send(arrays, torch.device(device)))


@dataclass(frozen=True)
class ModelOutput:
    """Scores of spans, tags and functions, in fp32."""

    span_scores: Tensor  # [S, L]; column 0, the empty label, is exactly 0
    tag_scores: Tensor | None  # [W, number of tags]
    function_scores: Tensor | None = None  # [C, number of functions], of the constituents that were given


class ParserModel(nn.Module):
    """§2: s(i, j, l) for every span and label of a batch: words -> w_t -> y_t -> s(i, j, ·)."""

    def __init__(
        self,
        lexical: Lexical,
        encoder: Encoder,
        span_scorer: SpanScorer,
        tag_scorer: TagScorer | None = None,
        function_scorer: FunctionScorer | None = None,
    ) -> None:
        super().__init__()
        self.lexical = lexical
        self.encoder = encoder
        self.span_scorer = span_scorer
        self.tag_scorer = tag_scorer
        self.function_scorer = function_scorer

    def forward(
        self, batch: TorchBatch, plan: AttentionPlan | None = None, constituents: TorchConstituents | None = None
    ) -> ModelOutput:
        y = self.encode(batch, plan)
        tag_scores = None if self.tag_scorer is None else self.tag_scorer(y, batch)
        functions = None
        if self.function_scorer is not None and constituents is not None:
            functions = self.function_scorer(y, batch, constituents)
        return ModelOutput(self.span_scorer(y, batch), tag_scores, functions)

    def encode(self, batch: TorchBatch, plan: AttentionPlan | None = None) -> Tensor:
        """y_t, a vector in context for each token: [T, d_model]."""
        return self.encoder(self.lexical(batch), batch.tokens, plan or AttentionPlan())


def arrays_of(batch: Batch) -> dict[str, Ints]:
    """The arrays that make up a ``TorchBatch``, still on the host."""
    lengths = batch.lengths
    word, length = ranges(lengths), np.repeat(lengths, lengths)
    sentence = np.repeat(np.arange(len(lengths)), lengths)
    numbers, count = np.arange(len(word)), length - word
    arrays = {
        "lengths": lengths,
        "word_tokens": numbers + 2 * sentence + 1,
        "fencepost_tokens": np.arange(len(word) + len(lengths)) + np.repeat(np.arange(len(lengths)), lengths + 1),
        # Each word has one diagonal of the chart: how many spans it has, and their width. The first of them starts at
        # the first fencepost of its sentence; "shift" is that fencepost minus the number of the first span.
        "diagonals.count": count,
        "diagonals.width": word + 1,
        "diagonals.shift": numbers - word + sentence - (np.cumsum(count) - count),
        **Layout.arrays(lengths + 2, "tokens."),
    }
    of_tokens = ("words", "tags", "treebanks", "spelling_of_token")
    for name in (*of_tokens, "subwords", "subword_rows", "rows_of_token"):
        array = getattr(batch, name)
        if array is not None:
            arrays[name] = array
    if batch.spellings is not None and batch.spelling_lengths is not None:
        arrays |= Layout.arrays(batch.spelling_lengths, "letters.")
        is_letter = np.arange(batch.spellings.shape[1]) < batch.spelling_lengths[:, None]
        arrays["letter_ids"] = batch.spellings[is_letter]
    if batch.window_lengths is not None and batch.rows_of_token is not None:
        arrays |= Layout.arrays(batch.window_lengths, "windows.")
        arrays["token_of_row"] = np.repeat(np.arange(len(batch.rows_of_token)), batch.rows_of_token)
    return arrays


def _spans(tensors: dict[str, Tensor], spans: int) -> tuple[Tensor, Tensor]:
    """The fenceposts, counted through the batch, where each span starts and ends: computed on the device.

    They are by far the longest arrays of a batch. ``spans`` says how long, without asking the device.
    """
    count, width, shift = (tensors["diagonals." + name] for name in ("count", "width", "shift"))
    diagonal = torch.repeat_interleave(count, output_size=spans)
    starts = shift.index_select(0, diagonal).add_(torch.arange(spans, device=count.device))
    return starts, width.index_select(0, diagonal).add_(starts)
