"""Renames and reshapes the weights of benepar models to match ours."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import torch
from torch import Tensor

from fencepost.features.vocabularies import TOKEN_MARKS

Weights = Mapping[str, Tensor]
Named = Iterator[tuple[str, Tensor]]
Reshape = Callable[[Tensor], Tensor]
HALVES = ("c", "p")  # content and position


def letters(weights: Weights, rows: Sequence[int]) -> Named:
    """The CharLSTM. ``rows`` are the rows of benepar's embeddings in our order, starting with the unknown letter."""
    embeddings = weights["char_encoder.emb.weight"]
    padding = embeddings.new_zeros(1, embeddings.shape[1])
    yield "lexical.representations.0.embedding.weight", torch.cat([padding, embeddings[list(rows)]])
    for name, tensor in _below("char_encoder.lstm.", weights).items():
        yield f"lexical.representations.0.lstm.{name}", tensor


def pretrained(weights: Weights, *, layers: bool) -> Named:
    """The pre-trained encoder and the projection of its vectors; without layers, the scorer reads its two halves."""
    yield from _renamed("pretrained_model.", "lexical.representations.0.encoder.", weights)
    projection = weights["project_pretrained.weight"]
    yield "lexical.representations.0.projection.weight", projection if layers else interleaved(projection.T).T


def encoder(weights: Weights, layers: int) -> Named:
    yield "encoder.positions.table", weights["add_timing.timing_table"]
    yield from _renamed("add_timing.norm.", "encoder.norm.", weights)
    for number in range(layers):
        ours = f"encoder.layers.{number}."
        layer = _below(ours, weights)
        yield ours + "attention.reader.projection.weight", _halves(layer, "self_attn.w_qkv_{}", _queries_keys_values)
        yield ours + "attention.output.weight", _halves(layer, "self_attn.w_o_{}", lambda w_o: w_o.flatten(0, 1))
        for name, theirs in (("inner", "linear1"), ("outer", "linear2")):
            yield f"{ours}feed_forward.{name}.weight", _halves(layer, theirs + ".linear_{}.weight", lambda w: w.T)
            yield f"{ours}feed_forward.{name}.bias", _halves(layer, theirs + ".linear_{}.bias", lambda b: b[None])
        yield from _renamed("norm_attn.", ours + "attention_norm.", layer)
        yield from _renamed("norm_ff.", ours + "feed_forward_norm.", layer)


def span_scorer(weights: Weights) -> Named:
    for number, name in ((0, "hidden"), (1, "norm"), (3, "output")):
        yield from _renamed(f"f_label.{number}.", f"span_scorer.{name}.", weights)


def tag_scorer(weights: Weights) -> Named:
    """benepar's tag scorer reads the even coordinates of y_t first, then the odd ones; ours reads y_t as it is."""
    ours = dict(_renamed("f_tag.", "tag_scorer.layers.", weights))
    ours["tag_scorer.layers.0.weight"] = interleaved(ours["tag_scorer.layers.0.weight"])
    for name in ("tag_scorer.layers.3.weight", "tag_scorer.layers.3.bias"):
        marks = ours[name].new_zeros(TOKEN_MARKS, *ours[name].shape[1:])
        ours[name] = torch.cat([marks, ours[name]])
    yield from ours.items()


def interleaved(halves: Tensor) -> Tensor:
    """[..., d]: moves the first half to the even coordinates, and the second half to the odd ones."""
    return torch.stack(halves.chunk(2, -1), -1).flatten(-2)


def _queries_keys_values(w_qkv: Tensor) -> Tensor:
    """[heads, d, 3, size] -> [d, 3 * heads * size]."""
    return w_qkv.permute(1, 2, 0, 3).flatten(1)


def _halves(layer: Weights, name: str, reshape: Reshape) -> Tensor:
    return torch.stack([reshape(layer[name.format(half)]) for half in HALVES])


def _renamed(theirs: str, ours: str, weights: Weights) -> Named:
    for name, tensor in _below(theirs, weights).items():
        yield ours + name, tensor


def _below(prefix: str, weights: Weights) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in weights.items() if name.startswith(prefix)}
