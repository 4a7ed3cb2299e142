"""The whole model, and the batch of tensors that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from fencepost.features.batch import Array, Batch, Ints
from fencepost.features.batch_arrays import batch_arrays, constituent_arrays
from fencepost.features.constituents import Constituents
from fencepost.model.plan import AttentionPlan
from fencepost.model.sequences import Layout, send

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

    def __len__(self) -> int:
        return self.tokens.count

    @classmethod
    def of(cls, batch: Batch, device: torch.device | str = "cpu") -> TorchBatch:
        arrays = batch_arrays(batch)
        return cls.sent(arrays, send(arrays, torch.device(device)))

    @classmethod
    def sent(cls, arrays: Mapping[str, Array], tensors: Mapping[str, Tensor]) -> TorchBatch:
        """The batch made of its ``batch_arrays``, on the host and on the device."""
        lengths = arrays["lengths"]
        starts, ends = _spans(tensors, int((lengths * (lengths + 1) // 2).sum()))
        return cls(
            lengths=tensors["lengths"],
            max_length=int(lengths.max()),
            tokens=Layout.sent(arrays, tensors, "tokens."),
            word_tokens=tensors["word_tokens"],
            fencepost_tokens=tensors["fencepost_tokens"],
            span_starts=starts,
            span_ends=ends,
            words=tensors.get("words"),
            tags=tensors.get("tags"),
            spelling_of_token=tensors.get("spelling_of_token"),
            letters=Layout.sent(arrays, tensors, "letters.") if "letter_ids" in tensors else None,
            letter_ids=tensors.get("letter_ids"),
            windows=Layout.sent(arrays, tensors, "windows.") if "subwords" in tensors else None,
            subwords=tensors.get("subwords"),
            subword_rows=tensors.get("subword_rows"),
            token_of_row=tensors.get("token_of_row"),
            rows_of_token=tensors.get("rows_of_token"),
            vectors=tensors.get("vectors"),
            treebanks=tensors.get("treebanks"),
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
        return cls.sent(send(constituent_arrays(constituents, lengths), torch.device(device)))

    @classmethod
    def sent(cls, tensors: Mapping[str, Tensor], name: str = "") -> TorchConstituents:
        return cls(*(tensors[name + field.name] for field in fields(cls)))


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
        y, words = self.read(batch, plan)
        tag_scores = None if self.tag_scorer is None else self.tag_scorer(y, batch)
        functions = None
        if self.function_scorer is not None and constituents is not None:
            functions = self.function_scorer(y, batch, constituents, words)
        return ModelOutput(self.span_scorer(y, batch), tag_scores, functions)

    def encode(self, batch: TorchBatch, plan: AttentionPlan | None = None) -> Tensor:
        """y_t, a vector in context for each token: [T, d_model]."""
        return self.read(batch, plan)[0]

    def read(self, batch: TorchBatch, plan: AttentionPlan | None = None) -> tuple[Tensor, Tensor | None]:
        """y_t, and the vectors of the pre-trained encoder if the model has one: [T, d_model], [T, hidden]."""
        content, words = self.lexical.read(batch)
        return self.encoder(content, batch.tokens, plan or AttentionPlan()), words


def _spans(tensors: Mapping[str, Tensor], spans: int) -> tuple[Tensor, Tensor]:
    """The fenceposts, counted through the batch, where each span starts and ends: computed on the device.

    They are by far the longest arrays of a batch. ``spans`` says how long, without asking the device.
    """
    count, width, shift = (tensors["diagonals." + name] for name in ("count", "width", "shift"))
    diagonal = torch.repeat_interleave(count, output_size=spans)
    starts = shift.index_select(0, diagonal).add_(torch.arange(spans, device=count.device))
    return starts, width.index_select(0, diagonal).add_(starts)
