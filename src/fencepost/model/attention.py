"""Multi-head attention over sequences laid end to end, and what its queries and keys read."""

from __future__ import annotations

import math
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.model.cuda import available
from fencepost.model.cuda.packed_attention import attend_packed
from fencepost.model.heads import HeadSizes, roles
from fencepost.model.linear import BlockDiagonal, Dense, near_zero_, split_blocks
from fencepost.model.plan import EVERYWHERE, Reach, Terms
from fencepost.model.sequences import Layout, Sequences


class Reader(Protocol):
    """Makes the queries, keys and values of all heads.

    They are columns of one or two tensors [blocks, R, columns]: first all queries, then all keys, then all values, each
    ordered by head.
    """

    d_k: int

    def __call__(self, x: Tensor, p: Tensor) -> tuple[Tensor, ...]: ...


class FromInput(nn.Module):
    """§2.2.1. Q = X W_Q, K = X W_K, V = X W_V, for all heads in one product; block by block in §3.

    x: [R, d_model] -> [blocks, R, heads * (2 * d_k + d_v) / blocks].
    """

    def __init__(self, d_model: int, heads: int, d_k: int, d_v: int, blocks: int) -> None:
        super().__init__()
        self.d_k = d_k
        self.projection = BlockDiagonal(d_model, heads * (2 * d_k + d_v), blocks=blocks)
        near_zero_(self.projection.weight)

    def forward(self, x: Tensor, p: Tensor) -> tuple[Tensor, ...]:
        return (self.projection(split_blocks(x, self.projection.blocks)),)


class FromPosition(nn.Module):
    """§3, position-only attention. Q = P W_Q, K = P W_K, V = X W_V, for all heads.

    P holds the position embeddings used at the input of the encoder.
    p: [R, d_position], x: [R, d_model] -> [1, R, 2 * heads * d_k], [1, R, heads * d_v].
    """

    def __init__(self, d_model: int, d_position: int, heads: int, d_k: int, d_v: int) -> None:
        super().__init__()
        self.d_k = d_k
        self.query_key = Dense(d_position, 2 * heads * d_k)
        self.value = Dense(d_model, heads * d_v)
        near_zero_(self.query_key.weight)
        near_zero_(self.value.weight)

    def forward(self, x: Tensor, p: Tensor) -> tuple[Tensor, ...]:
        return self.query_key(split_blocks(p, 1)), self.value(split_blocks(x, 1))


class MultiHeadAttention(nn.Module):
    """§2.2.1. MultiHead(X) = sum over heads n of SingleHead^(n)(X), where

    SingleHead(X) = [Softmax(Q K^T / sqrt(d_k)) V] W_O. The sum over heads is one product with the stacked W_O of all
    heads. If given, ``divisor`` replaces d_k under the root.
    In §3 each head's query is [q^(c); q^(p)] and its key [k^(c); k^(p)], so that q · k = q^(c) · k^(c) + q^(p) · k^(p).

    x: [R, d_model], p: [R, d_position] -> [blocks, R, d_model / blocks]. ``mask`` is true where attention is allowed,
    or contains what to add to q · k; it is broadcast to [B, heads, width, width]. Without a mask each token attends as
    far as ``reach`` says. There are no biases. Dropout is applied to the attention probabilities.
    """

    def __init__(
        self,
        reader: Reader,
        d_model: int,
        heads: int,
        d_v: int,
        blocks: int,
        dropout: float,
        divisor: int | None = None,
    ) -> None:
        super().__init__()
        self.reader = reader
        self.output = BlockDiagonal(heads * d_v, d_model, blocks=blocks)
        near_zero_(self.output.weight)
        self.sizes = HeadSizes(heads, reader.d_k, d_v, divisor)
        self.dropout = dropout

    def needs_no_mask(self) -> bool:
        """True if kernels for packed sentences are available."""
        return available.attention(self.sizes, self.output.weight.dtype, self.output.weight.device)

    def forward(
        self, x: Tensor, p: Tensor, layout: Sequences, mask: Tensor | None, terms: Terms, reach: Reach = EVERYWHERE
    ) -> Tensor:
        dropout = self.dropout if self.training else 0.0
        if mask is None:
            parts = self._switch(self.reader(x, p), terms)
            average = attend_packed(parts, self.sizes, layout.starts, dropout, reach)
        else:
            average = self._to_blocks(attend(*self._read(x, p, terms), layout, mask, dropout, self.sizes.scale))
        blocks: Tensor = self.output(average)
        return blocks

    def probabilities(self, x: Tensor, p: Tensor, layout: Layout, mask: Tensor, terms: Terms) -> Tensor:
        """p(i -> j), the softmax of the logits, without dropout: [B, heads, width, width], for analysis."""
        return self.logits(x, p, layout, terms).masked_fill(~mask, -math.inf).softmax(-1)

    def logits(self, x: Tensor, p: Tensor, layout: Layout, terms: Terms) -> Tensor:
        """Scaled Q K^T, or one of its terms in a factored model: [B, heads, width, width], for analysis."""
        query, key, _ = self._read(x, p, terms)
        query, key = _pad(query, layout).float(), _pad(key, layout).float()
        return query @ key.transpose(-1, -2) * self.sizes.scale

    def _read(self, x: Tensor, p: Tensor, terms: Terms) -> tuple[Tensor, Tensor, Tensor]:
        """Queries, keys and values: [R, heads, d]."""
        query, key, value = roles(self._switch(self.reader(x, p), terms), self.sizes)
        return self._to_heads(query), self._to_heads(key), self._to_heads(value)

    def _switch(self, parts: tuple[Tensor, ...], terms: Terms) -> tuple[Tensor, ...]:
        """Sets the queries of unused terms to 0."""
        if terms == Terms():
            return parts
        first, *others = parts
        used = torch.ones_like(first[:, :1])
        for block, is_used in enumerate(terms):
            used[block, :, : self.sizes.heads * self.sizes.d_k // len(first)] = float(is_used)
        return first * used, *others

    def _to_heads(self, blocks: Tensor) -> Tensor:
        """[blocks, R, heads * d / blocks] -> [R, heads, d], where each head has [content; position]."""
        return torch.unflatten(blocks, -1, (self.sizes.heads, -1)).permute(1, 2, 0, 3).flatten(-2)

    def _to_blocks(self, rows: Tensor) -> Tensor:
        """[R, heads, d] -> [blocks, R, heads * d / blocks]."""
        return torch.unflatten(rows, -1, (self.output.blocks, -1)).permute(2, 0, 1, 3).flatten(-2)


def _pad(rows: Tensor, layout: Layout) -> Tensor:
    """[R, heads, d] -> [B, heads, width, d]."""
    return layout.pad(rows).transpose(1, 2)


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    layout: Sequences,
    mask: Tensor | None,
    dropout: float,
    scale: float | None = None,
    distances: Tensor | None = None,
) -> Tensor:
    """Softmax(Q K^T / sqrt(d_k)) V: [R, heads, d_k] twice and [R, heads, d_v] -> [R, heads, d_v].

    Without a mask each token attends to its whole sequence, ``distances`` may be given as in ``attend_packed``, and
    ``scale`` must be None.
    """
    if mask is None:
        assert scale is None
        sizes = HeadSizes(query.shape[1], query.shape[2], value.shape[2])
        parts = [rows.flatten(1)[None] for rows in (query, key, value)]
        return attend_packed(parts, sizes, layout.starts, dropout, EVERYWHERE, distances).view_as(value)
    assert isinstance(layout, Layout)
    query, key, value = (_pad(rows, layout) for rows in (query, key, value))
    padded = F.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout, scale=scale)
    return layout.unpad(padded.transpose(1, 2))
