"""From word vectors to vectors in context: the self-attentive encoder."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, Protocol

import torch
from torch import Tensor, nn

from fencepost.model.attention import MultiHeadAttention
from fencepost.model.cuda import available, layer_sums
from fencepost.model.dropout import SharedDropout
from fencepost.model.linear import BlockDiagonal, join_blocks, split_blocks
from fencepost.model.plan import EVERYWHERE, AttentionPlan, Reach, Terms

if TYPE_CHECKING:
    from fencepost.model.cuda.graphs import CudaGraphs
    from fencepost.model.sequences import Layout, Sequences


class Encoder(Protocol):
    """§2.2. Assigns each token a vector y_t that knows its context: [R, d_content] -> [R, d_model]."""

    def __call__(self, content: Tensor, layout: Layout, plan: AttentionPlan) -> Tensor: ...


class NoEncoder(nn.Module):
    """No layers at all, for word vectors that already know their context: y_t is the word's vector."""

    def forward(self, content: Tensor, layout: Layout, plan: AttentionPlan) -> Tensor:
        return content


def relu_and_drop(h: Tensor, bias: Tensor, dropout: SharedDropout, layout: Sequences) -> Tensor:
    """§2.2.2. Dropout(relu(h + b)): [blocks, R, size] -> the same."""
    if available.layer_sums(h, h, dropout):
        return layer_sums.relu_and_drop(h, bias, dropout, layout)
    dropped: Tensor = dropout((h + bias).relu(), layout)
    return dropped


class FeedForward(nn.Module):
    """§2.2.2. FeedForward(x) = W_2 relu(W_1 x + b_1) + b_2; in §3 two such maps side by side, one for each half.

    [R, d_model] -> [blocks, R, d_model / blocks], through d_ff numbers. The caller adds b_2, together with x.
    """

    def __init__(self, d_model: int, d_ff: int, blocks: int, dropout: SharedDropout) -> None:
        super().__init__()
        self.inner = BlockDiagonal(d_model, d_ff, blocks=blocks, bias=True)
        self.outer = BlockDiagonal(d_ff, d_model, blocks=blocks, bias=True)
        self.dropout = dropout

    def forward(self, x: Tensor, layout: Sequences) -> Tensor:
        product, bias = self.inner.product(split_blocks(x, self.inner.blocks)), self.inner.bias
        assert bias is not None
        return self.outer.product(relu_and_drop(product, bias, self.dropout, layout))


class Rows(NamedTuple):
    """§2.2. The vectors that go from one sublayer to the next."""

    x: Tensor  # [R, d_model] in fp32
    low: Tensor  # the same, perhaps already in the precision of the matrices


class ResidualNorm(nn.LayerNorm):
    """§2.2. LayerNorm(x + Dropout(change + b)) after a sublayer, where b is its bias if it has one.

    x: [R, d_model], change: [blocks, R, d_model / blocks] -> [R, d_model]. Sums and norms are in the precision of x,
    fp32, even if the matrices are in another.
    """

    def forward(  # type: ignore[override]
        self, x: Tensor, change: Tensor, bias: Tensor | None, dropout: SharedDropout, layout: Sequences
    ) -> Rows:
        if available.layer_sums(x, change, dropout) and self.elementwise_affine:
            return Rows(*layer_sums.add_and_norm(x, change, bias, dropout, layout, self))
        added = join_blocks(change).to(x.dtype)
        z = super().forward(x + dropout(added if bias is None else added + bias.flatten(), layout))
        return Rows(z, z)


class EncoderLayer(nn.Module):
    """§2.2. Two sublayers, attention and feed-forward, each LayerNorm(x + Dropout(SubLayer(x))).

    [R, d_model] -> [R, d_model].
    """

    def __init__(
        self, d_model: int, attention: MultiHeadAttention, feed_forward: FeedForward, dropout: SharedDropout
    ) -> None:
        super().__init__()
        self.attention = attention
        self.attention_norm = ResidualNorm(d_model)
        self.feed_forward = feed_forward
        self.feed_forward_norm = ResidualNorm(d_model)
        self.dropout = dropout

    def forward(
        self, rows: Rows, p: Tensor, layout: Sequences, mask: Tensor | None, terms: Terms, reach: Reach = EVERYWHERE
    ) -> Rows:
        attended = self.attention(rows.low, p, layout, mask, terms, reach)
        rows = self.attention_norm(rows.x, attended, None, self.dropout, layout)
        mapped = self.feed_forward(rows.low, layout)
        z: Rows = self.feed_forward_norm(rows.x, mapped, self.feed_forward.outer.bias, self.dropout, layout)
        return z


class Layers(nn.ModuleList):
    """A stack of layers: [R, d_model] -> [R, d_model]."""

    def need_no_mask(self) -> bool:
        """True if kernels for packed sentences are available."""
        return all(isinstance(layer, EncoderLayer) and layer.attention.needs_no_mask() for layer in self)

    def forward(self, x: Tensor, p: Tensor, layout: Sequences, mask: Tensor | None, plan: AttentionPlan) -> Tensor:
        rows = Rows(x, x)
        for number, layer in enumerate(self, 1):
            rows = layer(rows, p, layout, mask, plan.terms(number), plan.reach)
        return rows.x


class SelfAttentiveEncoder(nn.Module):
    """§2.2 and §3. z_t, from a word's vector and p_t, through a stack of layers to y_t.

    content: [R, d_content] -> [R, d_model]. ``combine`` is how position enters: ``added`` or ``concatenated``.
    ``norm`` is applied to z_t: a LayerNorm, or nothing.
    """

    def __init__(
        self,
        positions: nn.Module,
        combine: Callable[[Tensor, Tensor], Tensor],
        norm: nn.LayerNorm | nn.Identity,
        layers: Iterable[EncoderLayer],
        *,
        factored: bool,
    ) -> None:
        super().__init__()
        self.positions = positions
        self.combine = combine
        self.norm = norm
        self.layers = Layers(layers)
        self.factored = factored
        self.cuda_graphs: CudaGraphs | None = None  # runs the layers, if training uses CUDA graphs

    def forward(self, content: Tensor, layout: Layout, plan: AttentionPlan) -> Tensor:
        x, p = self._start(content, layout, plan)
        # The matrices decide the precision of products; autocast would convert each of them in every step.
        with torch.autocast(x.device.type, enabled=False):
            if plan.needs_mask(layout) or not self.layers.need_no_mask():
                y: Tensor = self.layers(x, p, layout, self._added(plan.mask(layout.lengths, layout.width)), plan)
            elif self.cuda_graphs is not None and self.training and torch.is_grad_enabled():
                y = self.cuda_graphs((x, p), layout, plan)
            else:
                y = self.layers(x, p, layout, None, plan)
        return y

    def to_record(self) -> nn.Module:
        """The layers that ``cuda_graphs`` runs."""
        return self.layers

    def _added(self, mask: Tensor) -> Tensor:
        """The numbers to add to q · k: 0 where attention is allowed, else -inf."""
        dtype = next(self.layers.parameters()).dtype
        return torch.zeros(mask.shape, dtype=dtype, device=mask.device).masked_fill_(~mask, -torch.inf)

    def _start(self, content: Tensor, layout: Layout, plan: AttentionPlan) -> tuple[Tensor, Tensor]:
        plan.require_factored(self.factored)
        p = self.positions(plan.row_positions(layout))
        return self.norm(self.combine(content, p).float()), p
