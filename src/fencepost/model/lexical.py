"""Word vectors before any context: representations that are summed to make the encoder's input.

Each reads a batch and gives [T, d_content], one vector for each token. Those made of letters are computed once for
each distinct word of the batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.errors import UsageError
from fencepost.model.cuda import available
from fencepost.model.cuda.letters import last_states_in_one_launch
from fencepost.model.dropout import SharedDropout
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.model.plan import AttentionPlan
from fencepost.model.pretrained import Pretrained

if TYPE_CHECKING:
    from fencepost.model.parser_model import TorchBatch
    from fencepost.model.sequences import Layout

UNKNOWN_WORD = 0
PADDING_LETTER = 0


class WordEmbedding(nn.Module):
    """§2.2. A learned vector w_t for each word.

    Training reads a word seen c times as unknown with probability 1 / (1 + c) (Stern et al. 2017), so that the
    unknown word's vector is trained too. Tokens with a count of 0 (start, stop) are never replaced.
    counts: [words], or None to replace nothing.
    """

    unknown_probability: Tensor | None  # [words]

    def __init__(self, words: int, size: int, dropout: SharedDropout, counts: Tensor | None = None) -> None:
        super().__init__()
        self.embedding = nn.Embedding(words, size)
        self.dropout = dropout
        probability = None if counts is None else torch.where(counts > 0, 1 / (1 + counts.float()), 0.0)
        self.register_buffer("unknown_probability", probability, persistent=False)

    def forward(self, batch: TorchBatch) -> Tensor:
        words = _present(batch.words, "words")
        if self.training and self.unknown_probability is not None:
            probability = self.unknown_probability.index_select(0, words)
            words = words.masked_fill(torch.rand_like(probability) < probability, UNKNOWN_WORD)
        vectors: Tensor = self.dropout(self.embedding(words), batch.tokens)
        return vectors


class TagEmbedding(nn.Module):
    """§2.2. A learned vector m_t for the part-of-speech tag that came with each word."""

    def __init__(self, tags: int, size: int, dropout: SharedDropout) -> None:
        super().__init__()
        self.embedding = nn.Embedding(tags, size)
        self.dropout = dropout

    def forward(self, batch: TorchBatch) -> Tensor:
        vectors: Tensor = self.dropout(self.embedding(_present(batch.tags, "tags")), batch.tokens)
        return vectors


class TreebankEmbedding(nn.Module):
    """§2.2, for several treebanks: a learned vector for the treebank of each word's sentence, in the place of m_t."""

    def __init__(self, treebanks: int, size: int, dropout: SharedDropout) -> None:
        super().__init__()
        self.embedding = nn.Embedding(treebanks, size)
        self.dropout = dropout

    def forward(self, batch: TorchBatch) -> Tensor:
        vectors: Tensor = self.dropout(self.embedding(_present(batch.treebanks, "treebanks")), batch.tokens)
        return vectors


class CharLSTM(nn.Module):
    """§5.1. [h→ at the last letter; h← at the first letter] of a bidirectional LSTM over the letters of a word.

    letters: [letters of U words] -> [U, d_content] -> [T, d_content].
    """

    def __init__(self, letters: int, letter_size: int, size: int, input_dropout: float, dropout: SharedDropout) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, letter_size)
        self.input_dropout = nn.Dropout(input_dropout)
        self.lstm = nn.LSTM(letter_size, size // 2, bidirectional=True)
        self.dropout = dropout

    def forward(self, batch: TorchBatch) -> Tensor:
        letters, layout = _letters(batch)
        vectors = self.input_dropout(self.embedding(letters))
        return _of_tokens(last_states(self.lstm, vectors, layout), batch, self.dropout)


def last_states(lstm: nn.LSTM, rows: Tensor, layout: Layout) -> Tensor:
    """§5.1. [h→ at the last row; h← at the first row] of each sequence, by a one-layer LSTM: [R, d] -> [B, 2H]."""
    if available.letters(lstm, rows):
        return last_states_in_one_launch(lstm, rows, layout)
    final: Tensor = lstm(layout.for_lstm(rows))[1][0]  # [2, B, H]
    return final.transpose(0, 1).flatten(1)


class CharConcat(nn.Module):
    """§5.1. The embeddings of a word's first and last letters side by side: [e_1; ..; e_8; e_{n-7}; ..; e_n].

    In a word that is too short, padding letters come after the first and before the last letters. Word-start and
    word-stop marks don't count.

    letters: [letters of U words] -> [U, 2 * ends * letter_size = d_content] -> [T, d_content].
    """

    def __init__(self, letters: int, letter_size: int, ends: int, dropout: SharedDropout) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, letter_size)
        self.ends = ends
        self.dropout = dropout

    def forward(self, batch: TorchBatch) -> Tensor:
        ids, layout = _letters(batch)
        stop = layout.lengths[:, None] - 1  # where the word-stop mark is
        end = torch.arange(self.ends, device=ids.device)
        index = torch.cat([(1 + end).expand(layout.count, -1), stop - self.ends + end], dim=1)  # [U, 2 * ends]
        outside = (index < 1) | (index >= stop)
        letters = ids[(index + layout.starts[:-1, None]).masked_fill(outside, 0)].masked_fill(outside, PADDING_LETTER)
        return _of_tokens(self.embedding(letters).flatten(1), batch, self.dropout)


class CharAttention(nn.Module):
    """§5.1, end. A small self-attentive encoder over the letters of a word; its vector is W y of the word-start mark.

    letters: [letters of U words] -> [U, d_content] -> [T, d_content].
    """

    def __init__(
        self,
        letters: int,
        letter_size: int,
        size: int,
        input_dropout: float,
        encoder: SelfAttentiveEncoder,
        dropout: SharedDropout,
    ) -> None:
        super().__init__()
        self.embedding = nn.Embedding(letters, letter_size)
        self.input_dropout = nn.Dropout(input_dropout)
        self.encoder = encoder
        self.output = nn.Linear(letter_size, size, bias=False)
        self.dropout = dropout

    def forward(self, batch: TorchBatch) -> Tensor:
        letters, layout = _letters(batch)
        y = self.encoder(self.input_dropout(self.embedding(letters)), layout, AttentionPlan())
        word_starts = layout.lengths.cumsum(0) - layout.lengths
        return _of_tokens(self.output(y.index_select(0, word_starts)), batch, self.dropout)


class Vectors(nn.Module):
    """§5.2. W v_t of vectors v_t that came with the words; those of start and stop are learned.

    vectors: [T, vector_size] -> [T, d_content].
    """

    def __init__(self, vector_size: int, size: int, dropout: SharedDropout) -> None:
        super().__init__()
        self.ends = nn.Parameter(torch.randn(2, vector_size))  # start, stop
        self.projection = nn.Linear(vector_size, size, bias=False)
        self.dropout = dropout

    def forward(self, batch: TorchBatch) -> Tensor:
        lengths = batch.tokens.lengths
        stops = lengths.cumsum(0) - 1
        ends = torch.stack([stops - lengths + 1, stops]).flatten()
        vectors = _present(batch.vectors, "vectors")
        vectors = vectors.index_copy(0, ends, self.ends.repeat_interleave(len(lengths), 0))
        projected: Tensor = self.dropout(self.projection(vectors), batch.tokens)
        return projected


class Lexical(nn.Module):
    """§2.2, §5. The sum of the representations, as in w_t + m_t: [T, d_content]."""

    def __init__(self, representations: Iterable[nn.Module]) -> None:
        super().__init__()
        self.representations = nn.ModuleList(representations)

    def forward(self, batch: TorchBatch) -> Tensor:
        return self.read(batch)[0]

    def read(self, batch: TorchBatch) -> tuple[Tensor, Tensor | None]:
        """The sum, and the vectors of the pre-trained encoder if there is one: [T, d_content], [T, hidden]."""
        vectors, words = [], None
        for representation in self.representations:
            if isinstance(representation, Pretrained):
                words = representation.words(batch)
                vectors.append(representation.project(words, batch))
            else:
                vectors.append(representation(batch))
        total: Tensor = sum(vectors[1:], start=vectors[0])
        return total, words


def _of_tokens(word_vectors: Tensor, batch: TorchBatch, dropout: SharedDropout) -> Tensor:
    """[U, d] of distinct words -> [T, d] of tokens."""
    spelling_of_token = _present(batch.spelling_of_token, "spelling_of_token")
    vectors: Tensor = dropout(F.embedding(spelling_of_token, word_vectors), batch.tokens)
    return vectors


def _letters(batch: TorchBatch) -> tuple[Tensor, Layout]:
    if batch.letters is None:
        raise UsageError("this model reads the letters of words, but the batch has no spellings")
    return _present(batch.letter_ids, "letter_ids"), batch.letters


def _present(values: Tensor | None, name: str) -> Tensor:
    if values is None:
        raise UsageError(f"this model reads {name}, but the batch has none")
    return values
