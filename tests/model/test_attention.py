"""Attention over sentences laid end to end, against the paper's formulas one sentence and one head at a time."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from fencepost.model.attention import FromInput, FromPosition, MultiHeadAttention
from fencepost.model.linear import join_blocks
from fencepost.model.plan import AttentionPlan, Terms
from tests.model.model_samples import layout_of

D_MODEL, HEADS, D_K, D_V, D_POSITION = 12, 2, 8, 4, 6
LAYOUT = layout_of(3, 6, 2)
STARTS = [0, 3, 9]


def attention(kind: str, divisor: int | None = None) -> MultiHeadAttention:
    torch.manual_seed(0)
    blocks = 2 if kind == "block" else 1
    reader = (
        FromPosition(D_MODEL, D_POSITION, HEADS, D_K, D_V)
        if kind == "position"
        else FromInput(D_MODEL, HEADS, D_K, D_V, blocks)
    )
    module = MultiHeadAttention(reader, D_MODEL, HEADS, D_V, blocks, 0.0, divisor)
    for weight in module.parameters():
        weight.data.mul_(50)  # fresh weights barely attend
    return module


def inputs() -> tuple[Tensor, Tensor]:
    torch.manual_seed(1)
    return torch.randn(11, D_MODEL), torch.randn(11, D_POSITION)


def columns(weight: Tensor, head: int, size: int) -> Tensor:
    """[blocks, in, heads * size / blocks] -> the block-diagonal matrix [blocks * in, size] of one head."""
    part = size // len(weight)
    matrix: Tensor = torch.block_diag(*[block[:, head * part : (head + 1) * part] for block in weight])
    return matrix


def matrices(module: MultiHeadAttention, head: int) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """W_Q, W_K, W_V and W_O of one head."""
    reader = module.reader
    if isinstance(reader, FromInput):
        weight = reader.projection.weight
        values = HEADS * D_V // len(weight)
        query_key, value = weight[..., :-values], weight[..., -values:]
    else:
        assert isinstance(reader, FromPosition)
        query_key, value = reader.query_key.weight, reader.value.weight
    query, key = query_key.chunk(2, -1)
    output = columns(module.output.weight.transpose(1, 2), head, D_V).T
    return columns(query, head, D_K), columns(key, head, D_K), columns(value, head, D_V), output


def single_head(module: MultiHeadAttention, head: int, X: Tensor, P: Tensor, window: float) -> tuple[Tensor, Tensor]:
    """p(i -> j), and [Softmax(Q K^T / sqrt(d_k)) V] W_O, of one sentence."""
    W_Q, W_K, W_V, W_O = matrices(module, head)
    read = P if isinstance(module.reader, FromPosition) else X
    Q, K, V = read @ W_Q, read @ W_K, X @ W_V
    logits = Q @ K.T / math.sqrt(module.sizes.divisor or D_K)
    places = torch.arange(len(X))
    logits[(places[:, None] - places).abs() > window] = -math.inf
    probabilities = logits.softmax(-1)
    return probabilities, probabilities @ V @ W_O


@pytest.mark.parametrize("divisor", [None, D_MODEL])
@pytest.mark.parametrize("window", [None, 1])
@pytest.mark.parametrize("kind", ["dense", "block", "position"])
def test_attention_equals_the_papers_formula_for_each_head_and_sentence(
    kind: str, window: int | None, divisor: int | None
) -> None:
    module, (x, p) = attention(kind, divisor), inputs()
    mask = AttentionPlan(window=window).mask(LAYOUT.lengths, LAYOUT.width)
    result = join_blocks(module(x, p, LAYOUT, mask, Terms()))
    for start, length in zip(STARTS, LAYOUT.lengths.tolist(), strict=True):
        X, P = x[start : start + length], p[start : start + length]
        distance = math.inf if window is None else window
        expected = sum(single_head(module, head, X, P, distance)[1] for head in range(HEADS))
        torch.testing.assert_close(result[start : start + length], expected, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize("divisor", [None, D_MODEL])
@pytest.mark.parametrize("kind", ["dense", "block", "position"])
def test_probabilities_are_those_of_the_papers_formula(kind: str, divisor: int | None) -> None:
    module, (x, p) = attention(kind, divisor), inputs()
    mask = AttentionPlan(window=2).mask(LAYOUT.lengths, LAYOUT.width)
    probabilities = module.probabilities(x, p, LAYOUT, mask, Terms())
    for head in range(HEADS):
        expected = single_head(module, head, x[3:9], p[3:9], window=2)[0]
        torch.testing.assert_close(probabilities[1, head, :6, :6], expected)


def test_probabilities_are_the_ones_that_attention_uses() -> None:
    module, (x, p) = attention("block"), inputs()
    mask = AttentionPlan(window=2).mask(LAYOUT.lengths, LAYOUT.width)
    terms = Terms(content=False)
    value = module._read(x, p, terms)[2]
    average = module.probabilities(x, p, LAYOUT, mask, terms) @ LAYOUT.pad(value).transpose(1, 2)
    expected = module.output(module._to_blocks(LAYOUT.unpad(average.transpose(1, 2))))
    torch.testing.assert_close(module(x, p, LAYOUT, mask, terms), expected)


@pytest.mark.parametrize(("terms", "kept"), [(Terms(content=False), 1), (Terms(position=False), 0)])
def test_a_switched_off_term_leaves_the_logits_of_the_other(terms: Terms, kept: int) -> None:
    module, (x, p) = attention("block"), inputs()
    mask = AttentionPlan().mask(LAYOUT.lengths, LAYOUT.width)
    probabilities = module.probabilities(x, p, LAYOUT, mask, terms)
    W_Q, W_K, _, _ = matrices(module, 0)
    features = slice(kept * D_MODEL // 2, (kept + 1) * D_MODEL // 2)
    X = x[3:9, features]
    logits = (X @ W_Q[features]) @ (X @ W_K[features]).T / math.sqrt(D_K)
    torch.testing.assert_close(probabilities[1, 0, :6, :6], logits.softmax(-1))


def test_with_both_terms_off_attention_is_even() -> None:
    module, (x, p) = attention("block"), inputs()
    mask = AttentionPlan().mask(LAYOUT.lengths, LAYOUT.width)
    probabilities = module.probabilities(x, p, LAYOUT, mask, Terms(content=False, position=False))
    torch.testing.assert_close(probabilities[1, :, :6, :6], torch.full((HEADS, 6, 6), 1 / 6))


def test_the_window_of_padding_makes_no_gradient_nan() -> None:
    module, (x, p) = attention("block"), inputs()
    mask = AttentionPlan(window=0).mask(LAYOUT.lengths, LAYOUT.width)
    module(x, p, LAYOUT, mask, Terms()).sum().backward()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in module.parameters())


def test_attention_dropout_changes_training_only() -> None:
    module, (x, p) = attention("dense"), inputs()
    module.dropout = 0.5
    mask = AttentionPlan().mask(LAYOUT.lengths, LAYOUT.width)
    in_training = module(x, p, LAYOUT, mask, Terms())
    in_use = module.eval()(x, p, LAYOUT, mask, Terms())
    assert torch.equal(in_use, module(x, p, LAYOUT, mask, Terms()))
    assert not torch.allclose(in_training, in_use)


def test_attention_starts_nearly_uniform_and_adds_nearly_nothing() -> None:
    reader = FromInput(64, heads=8, d_k=16, d_v=4, blocks=2)
    output = MultiHeadAttention(reader, 64, 8, 4, 2, 0.0).output
    for weight in (reader.projection.weight, output.weight):
        assert weight.std().item() == pytest.approx(0.01, rel=0.2)
