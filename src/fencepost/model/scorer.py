"""From vectors in context to scores: of labelled spans, of part-of-speech tags, and of grammatical functions.

Scores are summed over trees and compared with each other, so all scorers compute in fp32 under autocast too; next
to the encoder they cost little.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.model.cuda import available
from fencepost.model.cuda.spans import span_hidden_in_one_launch

if TYPE_CHECKING:
    from fencepost.model.parser_model import TorchBatch, TorchConstituents


class SpanScorer(nn.Module):
    """§2.3. s(i, j, ·) = M_2 relu(LayerNorm(M_1 v + c_1)) + c_2, where v = [y→_j - y→_i; y←_{j+1} - y←_{i+1}].

    y→ has the even coordinates of y, y← the odd ones; token 0 is the start token, so fencepost k has y→ of the token
    to its left and y← of the token to its right. M_1 v is the difference of M_1 [y→_k; y←_{k+1}] between two
    fenceposts: each fencepost is projected once, and each span takes only a subtraction.
    y: [T, d_model] -> [S, labels], where the empty label's column 0 is exactly 0.
    """

    def __init__(self, d_model: int, hidden: int, labels: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(d_model, hidden)  # M_1, c_1
        self.norm = nn.LayerNorm(hidden)
        self.output = nn.Linear(hidden, labels - 1)  # M_2, c_2

    def forward(self, y: Tensor, batch: TorchBatch) -> Tensor:
        return self.score(self.project(y, batch), batch.span_starts, batch.span_ends)

    def project(self, y: Tensor, batch: TorchBatch) -> Tensor:
        """M_1 [y→_k; y←_{k+1}] for each fencepost k: [F, hidden]."""
        return project(y, batch, self.hidden.weight)

    def score(self, fenceposts: Tensor, starts: Tensor, ends: Tensor) -> Tensor:
        """s(i, j, ·) for any spans of the projected fenceposts, so that a long chart can be scored in pieces."""
        with torch.autocast(fenceposts.device.type, enabled=False):
            hidden = span_hidden(fenceposts, starts, ends, self.hidden.bias, self.norm)
            # A row of zeros before M_2 and c_2 scores the empty label 0 without copying all the scores.
            return F.linear(hidden, F.pad(self.output.weight, (0, 0, 1, 0)), F.pad(self.output.bias, (1, 0)))


def project(y: Tensor, batch: TorchBatch, weight: Tensor) -> Tensor:
    """§2.3. A matrix times [y→_k; y←_{k+1}] for each fencepost k: [F, hidden]."""
    with torch.autocast(y.device.type, enabled=False):
        left = y.index_select(0, batch.fencepost_tokens).float()
        right = y.index_select(0, batch.fencepost_tokens + 1).float()
        return F.linear(torch.cat([left[:, 0::2], right[:, 1::2]], -1), weight)


def span_hidden(fenceposts: Tensor, starts: Tensor, ends: Tensor, bias: Tensor, norm: nn.LayerNorm) -> Tensor:
    """§2.3. relu(LayerNorm(f_j - f_i + c_1)) of spans (i, j), where f is M_1 [y→; y←]: [F, H] -> [S, H]."""
    if available.spans(fenceposts):
        return span_hidden_in_one_launch(fenceposts, starts, ends, bias, norm)
    difference = fenceposts.index_select(0, ends) - fenceposts.index_select(0, starts)
    hidden: Tensor = norm(difference + bias).relu()
    return hidden


class TagScorer(nn.Module):
    """Part-of-speech tags, predicted along with the tree; the same form as §2.3, from the y_t of each word.

    M_2 relu(LayerNorm(M_1 y_t + c_1)) + c_2. y: [T, d_model] -> [W, tags].
    """

    def __init__(self, d_model: int, hidden: int, tags: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(d_model, hidden), nn.LayerNorm(hidden), nn.ReLU(), nn.Linear(hidden, tags)
        )

    def forward(self, y: Tensor, batch: TorchBatch) -> Tensor:
        with torch.autocast(y.device.type, enabled=False):
            scores: Tensor = self.layers(y.index_select(0, batch.word_tokens).float())
            return scores


class FunctionScorer(nn.Module):
    """The grammatical function of each constituent, predicted after its tree is known; in the form of §2.3.

    M_2 relu(LayerNorm(M_1 [f_i; f_j] + e_label + e_parent + c_1)) + c_2, where f_k = [y→_k; y←_{k+1}] is the vector of
    a fencepost, (i, j) is the constituent's span, and the vectors e are learned for its label and for its parent's.
    The first and the last word of a phrase say different things about its function, so both ends are read, not their
    difference. Spans and labels don't depend on this scorer.

    With ``words``, M_3 [h_{i+1}; h_j] is added inside the norm: h_{i+1} and h_j are a pre-trained encoder's vectors of
    the constituent's first and last word. They say more about the words themselves than y does.
    y: [T, d_model], words: [T, words] and C constituents -> [C, functions]; column 0 is for no function.
    """

    def __init__(self, d_model: int, hidden: int, labels: int, functions: int, words: int = 0) -> None:
        super().__init__()
        self.hidden = nn.Linear(2 * d_model, hidden)  # M_1, c_1
        self.words = nn.Linear(2 * words, hidden, bias=False) if words else None  # M_3
        self.label = nn.Embedding(labels, hidden)
        self.parent = nn.Embedding(labels, hidden)
        self.norm = nn.LayerNorm(hidden)
        self.output = nn.Linear(hidden, functions)  # M_2, c_2

    def forward(
        self, y: Tensor, batch: TorchBatch, constituents: TorchConstituents, words: Tensor | None = None
    ) -> Tensor:
        return self.score(self.project(y, batch, words), constituents)

    def project(self, y: Tensor, batch: TorchBatch, words: Tensor | None = None) -> Tensor:
        """What each fencepost k adds to a constituent that starts there, and to one that ends there: [F, 2 hidden].

        They are M_1 [f_k; 0] + M_3 [h_{k+1}; 0] and M_1 [0; f_k] + M_3 [0; h_k].
        """
        posts = project(y, batch, torch.cat(self.hidden.weight.chunk(2, dim=1)))
        if self.words is None:
            return posts
        assert words is not None
        with torch.autocast(y.device.type, enabled=False):
            first, last = self.words.weight.chunk(2, dim=1)
            right = words.index_select(0, batch.fencepost_tokens + 1).float()
            left = words.index_select(0, batch.fencepost_tokens).float()
            return posts + torch.cat([F.linear(right, first), F.linear(left, last)], dim=1)

    def score(self, fenceposts: Tensor, constituents: TorchConstituents) -> Tensor:
        """The scores of the functions of any constituents of the projected fenceposts."""
        with torch.autocast(fenceposts.device.type, enabled=False):
            start, end = fenceposts.chunk(2, dim=1)
            span = start.index_select(0, constituents.starts) + end.index_select(0, constituents.ends)
            context = self.label(constituents.labels) + self.parent(constituents.parents)
            scores: Tensor = self.output(self.norm(span + context + self.hidden.bias).relu())
            return scores
