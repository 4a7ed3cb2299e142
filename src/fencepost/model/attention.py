"""Multi-head attention over sequences laid end to end, and what its queries and keys read."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.model.linear import BlockDiagonal, Dense, join_blocks, split_blocks, xavier_
from fencepost.model.plan import Terms

if TYPE_CHECKING:
    from fencepost.model.parser_model import Layout


class Reader(Protocol):
    """Makes the queries, keys and values of all heads: [blocks, R, heads * d / blocks] each."""

    def __call__(self, x: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]: ...


class FromInput(nn.Module):
    """§2.2.1. Q = X W_Q, K = X W_K, V = X W_V, for all heads in one product; block by block in §3.

    x: [R, d_model] -> q, k: [blocks, R, heads * d_k / blocks], v: [blocks, R, heads * d_v / blocks].
    Columns stand in the order queries, keys, values, and head by head within each.
    """

    def __init__(self, d_model: int, heads: int, d_k: int, d_v: int, blocks: int) -> None:
        super().__init__()
        self.sizes = [heads * d // blocks for d in (d_k, d_k, d_v)]
        self.projection = BlockDiagonal(d_model, blocks * sum(self.sizes), blocks=blocks)
        for part, d in zip(torch.split(self.projection.weight.detach(), self.sizes, -1), (d_k, d_k, d_v), strict=True):
            xavier_(part, d_model // blocks, d // blocks)

    def forward(self, x: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        projected = self.projection(split_blocks(x, self.projection.blocks))
        query, key, value = torch.split(projected, self.sizes, -1)
        return query, key, value


class FromPosition(nn.Module):
    """§3, position-only attention. Q = P W_Q, K = P W_K, V = X W_V, for all heads.

    P holds the position embeddings used at the input of the encoder.
    p: [R, d_position], x: [R, d_model] -> q, k: [1, R, heads * d_k], v: [1, R, heads * d_v].
    """

    def __init__(self, d_model: int, d_position: int, heads: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.query_key = Dense(d_position, 2 * heads * d_k)
        self.value = Dense(d_model, heads * d_v)
        xavier_(self.query_key.weight, d_position, d_k)
        xavier_(self.value.weight, d_model, d_v)

    def forward(self, x: Tensor, p: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        query, key = self.query_key(split_blocks(p, 1)).chunk(2, -1)
        return query, key, self.value(split_blocks(x, 1))


class MultiHeadAttention(nn.Module):
    """§2.2.1. MultiHead(X) = sum over heads n of SingleHead^(n)(X), where

    SingleHead(X) = [Softmax(Q K^T / sqrt(d_k)) V] W_O. The sum over heads is one product with the heads' W_O stacked.
    In §3 each head's query is [q^(c); q^(p)], its key likewise, so that q · k = q^(c) · k^(c) + q^(p) · k^(p).

    x: [R, d_model], p: [R, d_position], mask: true where attention is allowed, broadcast to [B, heads, width, width]
    -> [R, d_model]. No biases. Dropout falls on the attention probabilities.
    """

    def __init__(self, reader: Reader, d_model: int, heads: int, d_v: int, blocks: int, dropout: float) -> None:
        super().__init__()
        self.reader = reader
        self.output = BlockDiagonal(heads * d_v, d_model, blocks=blocks)
        xavier_(self.output.weight, d_v // blocks, d_model // blocks)
        self.heads = heads
        self.dropout = dropout

    def forward(self, x: Tensor, p: Tensor, layout: Layout, mask: Tensor, terms: Terms) -> Tensor:
        query, key, value = self._read(x, p, layout, terms)
        dropout = self.dropout if self.training else 0.0
        average = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
        return join_blocks(self.output(self._to_blocks(average, layout)))

    def probabilities(self, x: Tensor, p: Tensor, layout: Layout, mask: Tensor, terms: Terms) -> Tensor:
        """p(i -> j) = Softmax(Q K^T / sqrt(d_k)), without dropout: [B, heads, width, width], for analysis."""
        query, key, _ = self._read(x, p, layout, terms)
        with torch.autocast(x.device.type, enabled=False):
            logits = query.float() @ key.float().transpose(-1, -2) / math.sqrt(query.shape[-1])
        return logits.masked_fill(~mask, -math.inf).softmax(-1)

    def _read(self, x: Tensor, p: Tensor, layout: Layout, terms: Terms) -> tuple[Tensor, Tensor, Tensor]:
        query, key, value = self.reader(x, p)
        if terms != Terms():
            query = torch.stack(
                [half if used else torch.zeros_like(half) for half, used in zip(query, terms, strict=True)]
            )
        return self._to_heads(query, layout), self._to_heads(key, layout), self._to_heads(value, layout)

    def _to_heads(self, blocks: Tensor, layout: Layout) -> Tensor:
        """[blocks, R, heads * d / blocks] -> [B, heads, width, d], where each head has [content; position]."""
        rows = torch.unflatten(blocks, -1, (self.heads, -1)).permute(1, 2, 0, 3)
        return layout.pad(rows).flatten(-2).transpose(1, 2)

    def _to_blocks(self, heads: Tensor, layout: Layout) -> Tensor:
        """[B, heads, width, d] -> [blocks, R, heads * d / blocks]."""
        rows = layout.unpad(heads.transpose(1, 2))
        return torch.unflatten(rows, -1, (self.output.blocks, -1)).permute(2, 0, 1, 3).flatten(-2)
