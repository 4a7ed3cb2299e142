"""The parts in which MPNet differs from BERT: every layer adds a number to q · k for the distance of two sub-tokens."""

from __future__ import annotations

import math
from typing import Any, Final

import torch
from torch import Tensor, nn

from fencepost.model.attention import attend
from fencepost.model.cuda import available
from fencepost.model.heads import HeadSizes
from fencepost.model.linear import Linear
from fencepost.model.sequences import Sequences

FARTHEST: Final = 128  # greater distances count as this one


class Distances(nn.Embedding):
    """What each head adds to q · k for each bucket of distances: [buckets, heads].

    These few hundred numbers keep their pre-trained values, so the kernels don't have to compute a gradient for them.
    """

    @classmethod
    def of(cls, config: Any) -> Distances:
        return cls(config.relative_attention_num_buckets, config.num_attention_heads)

    @torch.no_grad()
    def by_distance(self) -> Tensor:
        """The numbers for all distances j - i from -FARTHEST to FARTHEST: [heads, 2 * FARTHEST + 1]."""
        distance = torch.arange(-FARTHEST, FARTHEST + 1, device=self.weight.device)
        return self.weight[bucket_of(distance, self.num_embeddings)].T.contiguous()

    @torch.no_grad()
    def in_square(self, width: int) -> Tensor:
        """The numbers for all pairs of ``width`` sub-tokens: [1, heads, width, width]."""
        place = torch.arange(width, device=self.weight.device)
        distance = (place - place[:, None]).clamp(-FARTHEST, FARTHEST)
        return self.by_distance()[:, distance + FARTHEST][None]


def bucket_of(distance: Tensor, buckets: int) -> Tensor:
    """The bucket of each distance: the first half is for sub-tokens before, the second half for those after.

    In each half, the first buckets hold one distance each, and the others grow wider logarithmically.
    """
    half = buckets // 2
    exact = half // 2
    far = distance.abs().clamp(min=exact)
    grown = exact + (torch.log(far.float() / exact) / math.log(FARTHEST / exact) * (half - exact)).long()
    near = distance.abs() < exact
    return torch.where(near, distance.abs(), grown.clamp(max=half - 1)) + half * (distance > 0)


class Attention(nn.Module):
    """LayerNorm(x + Dropout(W heads + b)): [R, hidden_size] -> [R, hidden_size]."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.attn = Heads(config)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def needs_no_mask(self) -> bool:
        return self.attn.needs_no_mask()

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None, distances: Tensor | None) -> Tensor:
        z: Tensor = self.LayerNorm(x + self.dropout(self.attn(x, layout, mask, distances)))
        return z


class Heads(nn.Module):
    """[Softmax(Q K^T / sqrt(d) + distances) V] W + b, over all heads: [R, hidden_size] -> [R, hidden_size]."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.q, self.k, self.v, self.o = (Linear(config.hidden_size, config.hidden_size) for _ in range(4))
        self.dropout = config.attention_probs_dropout_prob

    def needs_no_mask(self) -> bool:
        size = self.q.out_features // self.heads
        return available.attention(HeadSizes(self.heads, size, size), self.q.weight.dtype, self.q.weight.device)

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None, distances: Tensor | None) -> Tensor:
        x = x.to(self.q.weight.dtype)
        query, key, value = (torch.unflatten(matrix(x), -1, (self.heads, -1)) for matrix in (self.q, self.k, self.v))
        mask = None if mask is None else mask.to(x.dtype)
        dropout = self.dropout if self.training else 0.0
        y: Tensor = self.o(attend(query, key, value, layout, mask, dropout, distances=distances).flatten(1))
        return y
