"""BERT and encoders like it, over sequences laid end to end: without padding, and in the rest of the model's precision.

Modules have the names they have in the transformers library, so that its weights load unchanged. We implement only the
few families that most people use; all others run in that library. ``model.mpnet`` has the parts in which MPNet differs
from BERT.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fencepost.features.encoder_families import family_of
from fencepost.model import mpnet
from fencepost.model.attention import attend
from fencepost.model.cuda import available
from fencepost.model.heads import HeadSizes
from fencepost.model.linear import Linear
from fencepost.model.sequences import Layout, Sequences

ACTIVATIONS: Final[dict[str, Callable[[Tensor], Tensor]]] = {"gelu": F.gelu, "relu": F.relu}


def is_ours(config: dict[str, Any]) -> bool:
    """True if the encoder with this configuration is built here rather than by the transformers library."""
    return (
        family_of(config["model_type"]).ours
        and config.get("hidden_act") in ACTIVATIONS
        and (config.get("position_embedding_type") or "absolute") == "absolute"
        and not config.get("is_decoder")
    )


class Bert(nn.Module):
    """sub-tokens [R] -> layers + 1 tensors of vectors, before the first layer and after each: [R, hidden_size]."""

    def __init__(self, config: str) -> None:
        super().__init__()
        self.config = SimpleNamespace(**{"is_encoder_decoder": False, **json.loads(config)})
        self.embeddings = Embeddings(self.config)
        size, hidden = self.embeddings.word_embeddings.embedding_dim, self.config.hidden_size
        self.embeddings_project = None if size == hidden else Linear(size, hidden)  # ELECTRA has one
        self.encoder = Layers(self.config)

    def forward(self, subwords: Tensor, layout: Layout) -> list[Tensor]:
        states: list[Tensor] = self.encoder(self.embed(subwords, layout), layout, self.mask(layout))
        return states

    def mask(self, layout: Layout) -> Tensor | None:
        """True for real sub-tokens, False for padding: [V, 1, 1, width]. None if a kernel runs, which needs no mask.

        MPNet's mask contains the numbers to add to q · k: [V, heads, width, width].
        """
        if self.encoder.needs_no_mask():
            return None
        place = torch.arange(layout.width, device=layout.lengths.device)
        allowed = (place < layout.lengths[:, None])[:, None, None]
        distances = self.encoder.relative_attention_bias
        return allowed if distances is None else distances.in_square(layout.width).masked_fill(~allowed, -math.inf)

    def embed(self, subwords: Tensor, layout: Layout) -> Tensor:
        x: Tensor = self.embeddings(subwords, self._positions(subwords, layout))
        return x if self.embeddings_project is None else self.embeddings_project(x).float()

    def _positions(self, subwords: Tensor, layout: Layout) -> Tensor:
        """Positions counted from 0. RoBERTa and MPNet start after the padding token's number, and skip padding."""
        if not family_of(self.config.model_type).counts_from_padding:
            return layout.position
        padding = self.embeddings.padding_idx
        real = (subwords != padding).long()
        count = real.cumsum(0)
        before = (count - real).index_select(0, layout.starts[:-1].long())
        return (count - before.index_select(0, layout.sequence)) * real + padding


class Embeddings(nn.Module):
    """LayerNorm(word + position + token type): [R] and [R] -> [R, embedding_size].

    The token type is always the first one. MPNet has no token types.
    """

    def __init__(self, config: Any) -> None:
        super().__init__()
        family = family_of(config.model_type)
        size = config.embedding_size if family.sizes_embeddings else config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, size)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, size)
        has_kinds = family.layers != "mpnet"
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, size) if has_kinds else None
        self.LayerNorm = nn.LayerNorm(size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.padding_idx = family.padding(config.pad_token_id)

    def forward(self, subwords: Tensor, position: Tensor) -> Tensor:
        place = self.position_embeddings(position)
        if self.token_type_embeddings is not None:
            place = place + self.token_type_embeddings.weight[0]
        x: Tensor = self.dropout(self.LayerNorm(self.word_embeddings(subwords) + place))
        return x


class Layers(nn.Module):
    """A stack of layers, each LayerNorm(x + Dropout(SubLayer(x))) twice, as in §2.2 of the paper, with biases."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.layer = nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))
        has_distances = family_of(config.model_type).layers == "mpnet"
        self.relative_attention_bias = mpnet.Distances.of(config) if has_distances else None

    def needs_no_mask(self) -> bool:
        """True if kernels for packed sequences are available."""
        return all(isinstance(layer, Layer) and layer.attention.needs_no_mask() for layer in self.layer)

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None) -> list[Tensor]:
        states = [x]
        distances = self.relative_attention_bias
        by_distance = None if distances is None or mask is not None else distances.by_distance()  # a mask includes them
        # The matrices decide the precision of products; autocast would convert each of them in every step.
        with torch.autocast(x.device.type, enabled=False):
            for layer in self.layer:
                x = layer(x, layout, mask, by_distance)
                states.append(x)
        return states


class Layer(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        attention = mpnet.Attention if family_of(config.model_type).layers == "mpnet" else Attention
        self.attention = attention(config)
        self.intermediate = nn.ModuleDict({"dense": Linear(config.hidden_size, config.intermediate_size)})
        self.output = AddAndNorm(config, config.intermediate_size)
        self.activation: Callable[[Tensor], Tensor] = ACTIVATIONS[config.hidden_act]

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None, distances: Tensor | None) -> Tensor:
        x = self.attention(x, layout, mask, distances)
        z: Tensor = self.output(self.activation(self.intermediate["dense"](x)), x)
        return z


class Attention(nn.Module):
    def __init__(self, config: Any) -> None:
        super().__init__()
        self.self = Heads(config)
        self.output = AddAndNorm(config, config.hidden_size)

    def needs_no_mask(self) -> bool:
        return self.self.needs_no_mask()

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None, distances: None = None) -> Tensor:
        z: Tensor = self.output(self.self(x, layout, mask), x)
        return z


class Heads(nn.Module):
    """Softmax(Q K^T / sqrt(d)) V of all heads, side by side: [R, hidden_size] -> [R, hidden_size]."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.query = Linear(config.hidden_size, config.hidden_size)
        self.key = Linear(config.hidden_size, config.hidden_size)
        self.value = Linear(config.hidden_size, config.hidden_size)
        self.dropout = config.attention_probs_dropout_prob

    def needs_no_mask(self) -> bool:
        size = self.query.out_features // self.heads
        sizes = HeadSizes(self.heads, size, size)
        return available.attention(sizes, self.query.weight.dtype, self.query.weight.device)

    def forward(self, x: Tensor, layout: Sequences, mask: Tensor | None) -> Tensor:
        x = x.to(self.query.weight.dtype)
        query, key, value = (
            torch.unflatten(matrix(x), -1, (self.heads, -1)) for matrix in (self.query, self.key, self.value)
        )
        return attend(query, key, value, layout, mask, self.dropout if self.training else 0.0).flatten(1)


class AddAndNorm(nn.Module):
    """LayerNorm(x + Dropout(W y + b)), in fp32 even if W is in another precision."""

    def __init__(self, config: Any, inputs: int) -> None:
        super().__init__()
        self.dense = Linear(inputs, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, y: Tensor, x: Tensor) -> Tensor:
        z: Tensor = self.LayerNorm(x + self.dropout(self.dense(y)))
        return z
