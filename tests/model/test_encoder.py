"""The self-attentive encoder, its layout of rows, and its dropout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.nn.functional import layer_norm

from fencepost.errors import ConfigError
from fencepost.model.attention import FromInput, MultiHeadAttention
from fencepost.model.dropout import SharedDropout
from fencepost.model.encoder import EncoderLayer, FeedForward, Rows, SelfAttentiveEncoder
from fencepost.model.linear import BlockDiagonal, join_blocks
from fencepost.model.plan import AttentionPlan, Terms
from fencepost.model.sequences import Layout
from tests.model.model_samples import ATTENTION_VARIANTS, SENTENCES, layout_of, small_config, small_model, torch_batch

LAYOUT = layout_of(3, 5, 1)
NO_DROPOUT = SharedDropout(0.0, shared=True)


def encoder_of(**variant: Any) -> SelfAttentiveEncoder:
    encoder = small_model(small_config(**variant)).encoder
    assert isinstance(encoder, SelfAttentiveEncoder)
    return encoder


def content_of(encoder: SelfAttentiveEncoder, rows: int = 9, seed: int = 0) -> Tensor:
    p = encoder.positions(torch.tensor([0]))
    width = p.shape[-1]  # content and position are of one size, added or concatenated
    return torch.randn(rows, width, generator=torch.Generator().manual_seed(seed))


# Layout


def test_padding_puts_rows_in_their_sentences_with_zeros_after() -> None:
    padded = LAYOUT.pad(torch.arange(1.0, 10.0)[:, None])[..., 0]
    assert padded.tolist() == [[1, 2, 3, 0, 0, 0, 0, 0], [4, 5, 6, 7, 8, 0, 0, 0], [9, 0, 0, 0, 0, 0, 0, 0]]


def test_unpadding_undoes_padding() -> None:
    rows = torch.randn(9, 4)
    assert torch.equal(LAYOUT.unpad(LAYOUT.pad(rows)), rows)


def test_rows_for_an_lstm_are_what_torch_itself_packs() -> None:
    rows = torch.randn(9, 4)
    ours = LAYOUT.for_lstm(rows)
    theirs = torch.nn.utils.rnn.pack_sequence([rows[0:3], rows[3:8], rows[8:9]], enforce_sorted=False)
    assert torch.equal(ours.data, theirs.data)
    assert torch.equal(ours.batch_sizes, theirs.batch_sizes)
    assert ours.unsorted_indices is not None
    assert theirs.unsorted_indices is not None
    assert torch.equal(ours.unsorted_indices, theirs.unsorted_indices)


def test_rows_come_back_from_an_lstm_in_order() -> None:
    rows = torch.randn(9, 4)
    assert torch.equal(LAYOUT.from_lstm(LAYOUT.for_lstm(rows)), rows)


def test_spans_and_fenceposts_are_counted_through_the_batch() -> None:
    batch = torch_batch([["slept"], ["the", "cat"]])
    assert batch.fencepost_tokens.tolist() == [0, 1, 3, 4, 5]
    spans = list(zip(batch.span_starts.tolist(), batch.span_ends.tolist(), strict=True))
    assert spans == [(0, 1), (2, 3), (3, 4), (2, 4)]
    assert batch.word_tokens.tolist() == [1, 4, 5]


def test_arrays_that_cant_be_written_can_be_read() -> None:
    lengths = np.array([2, 1])
    lengths.setflags(write=False)
    assert Layout.of(lengths, torch.device("cpu")).lengths.tolist() == [2, 1]


# Dropout


def test_shared_dropout_has_one_mask_a_sentence() -> None:
    torch.manual_seed(0)
    dropped = SharedDropout(0.5, shared=True)(torch.ones(9, 20), LAYOUT)
    first, second = dropped[:3], dropped[3:8]
    assert (first == first[0]).all()
    assert (second == second[0]).all()
    assert not torch.equal(first[0], second[0])


def test_unshared_dropout_has_a_mask_for_each_row() -> None:
    torch.manual_seed(0)
    dropped = SharedDropout(0.5, shared=False)(torch.ones(9, 20), LAYOUT)
    assert not torch.equal(dropped[0], dropped[1])


@pytest.mark.parametrize("shared", [True, False])
def test_dropout_keeps_the_expected_value(shared: bool) -> None:
    torch.manual_seed(0)
    dropped = SharedDropout(0.25, shared)(torch.ones(9, 4000), LAYOUT)
    assert dropped.unique().tolist() == pytest.approx([0.0, 4 / 3])
    assert dropped.mean().item() == pytest.approx(1.0, abs=0.05)


def test_shared_dropout_reaches_each_block_with_its_own_mask() -> None:
    torch.manual_seed(0)
    dropped = SharedDropout(0.5, shared=True)(torch.ones(2, 9, 20), LAYOUT)
    assert torch.equal(dropped[0, 0], dropped[0, 1])
    assert not torch.equal(dropped[0, 0], dropped[1, 0])


def test_dropout_is_off_outside_training() -> None:
    x = torch.randn(9, 4)
    assert torch.equal(SharedDropout(0.5, shared=True).eval()(x, LAYOUT), x)


# Layers


def test_relu_dropout_falls_on_what_relu_gives_in_training_alone() -> None:
    module, x = FeedForward(4, 6, 1, SharedDropout(1.0, shared=True)), torch.randn(9, 4)
    assert module.train()(x, LAYOUT).abs().sum() == 0
    assert module.eval()(x, LAYOUT).abs().sum() > 0


def test_residual_dropout_falls_on_both_sublayers_in_training_alone() -> None:
    torch.manual_seed(0)
    attention = MultiHeadAttention(FromInput(8, 2, 4, 4, 1), 8, 2, 4, 1, dropout=0.0)
    layer = EncoderLayer(8, attention, FeedForward(8, 6, 1, NO_DROPOUT), SharedDropout(1.0, shared=True))
    for weight in layer.parameters():
        weight.data.normal_()
    x = torch.randn(9, 8)
    mask = AttentionPlan().mask(LAYOUT.lengths, LAYOUT.width)
    first, second = layer.attention_norm, layer.feed_forward_norm
    alone = layer_norm(layer_norm(x, (8,), first.weight, first.bias), (8,), second.weight, second.bias)
    torch.testing.assert_close(layer.train()(Rows(x, x), x, LAYOUT, mask, Terms()).x, alone)
    assert not torch.allclose(layer.eval()(Rows(x, x), x, LAYOUT, mask, Terms()).x, alone, atol=0.1)


def test_feed_forward_follows_the_formula() -> None:
    torch.manual_seed(0)
    module, x = FeedForward(4, 6, 1, NO_DROPOUT), torch.randn(9, 4)
    assert module.inner.bias is not None
    hidden = torch.relu(x @ module.inner.weight[0] + module.inner.bias[0])
    # b_2 is added with x.
    torch.testing.assert_close(module(x, LAYOUT), (hidden @ module.outer.weight[0])[None])


def test_feed_forward_of_two_blocks_keeps_the_halves_apart() -> None:
    module, x = FeedForward(8, 12, 2, NO_DROPOUT), torch.randn(9, 8)
    other = torch.cat([x[:, :4], torch.randn(9, 4)], dim=1)
    assert torch.equal(module(x, LAYOUT)[0], module(other, LAYOUT)[0])
    assert not torch.equal(module(x, LAYOUT)[1], module(other, LAYOUT)[1])


def test_a_layer_adds_and_norms_around_each_sublayer() -> None:
    layer = encoder_of().layers[0]
    assert isinstance(layer, EncoderLayer)
    x, p = torch.randn(9, 16), torch.randn(9, 8)
    mask, terms = AttentionPlan().mask(LAYOUT.lengths, LAYOUT.width), Terms()
    for norm in (layer.attention_norm, layer.feed_forward_norm):
        torch.nn.init.normal_(norm.weight)
        torch.nn.init.normal_(norm.bias)
    bias = layer.feed_forward.outer.bias
    assert bias is not None
    middle = normed(layer.attention_norm, x + join_blocks(layer.attention(x, p, LAYOUT, mask, terms)))
    expected = normed(layer.feed_forward_norm, middle + join_blocks(layer.feed_forward(middle, LAYOUT) + bias))
    torch.testing.assert_close(layer(Rows(x, x), p, LAYOUT, mask, terms).x, expected)


def normed(norm: torch.nn.LayerNorm, x: Tensor) -> Tensor:
    return torch.nn.functional.layer_norm(x, norm.normalized_shape, norm.weight, norm.bias, norm.eps)


# The whole encoder


def attention_of(encoder: SelfAttentiveEncoder, content: Tensor, plan: AttentionPlan) -> list[Tensor]:
    """p(i -> j) in each layer when the encoder runs: [B, heads, width, width] each."""
    mask, found = plan.mask(LAYOUT.lengths, LAYOUT.width), []

    def note(attention: MultiHeadAttention, arguments: tuple[Any, ...]) -> None:
        x, p, _, _, terms, _ = arguments
        found.append(attention.probabilities(x, p, LAYOUT, mask, terms))

    hooks = [layer.get_submodule("attention").register_forward_pre_hook(note) for layer in encoder.layers]
    encoder(content, LAYOUT, plan)
    for hook in hooks:
        hook.remove()
    return found


def changed_content(encoder: SelfAttentiveEncoder, plan: AttentionPlan) -> tuple[list[Tensor], list[Tensor]]:
    """The attention probabilities of every layer, for two contents of the same lengths."""
    one, other = content_of(encoder, seed=0), content_of(encoder, seed=1)
    return attention_of(encoder, one, plan), attention_of(encoder, other, plan)


@pytest.mark.parametrize("name", ["position-only", "position-only concatenated"])
def test_position_only_attention_is_the_same_for_different_words(name: str) -> None:
    one, other = changed_content(encoder_of(**ATTENTION_VARIANTS[name]), AttentionPlan())
    assert all(map(torch.equal, one, other))


def test_position_only_values_still_carry_content() -> None:
    encoder = encoder_of(**ATTENTION_VARIANTS["position-only"])
    changed = content_of(encoder)
    changed[3] *= -1
    same, different = encoder(content_of(encoder), LAYOUT, AttentionPlan()), encoder(changed, LAYOUT, AttentionPlan())
    assert not torch.allclose(same[7], different[7])


def test_without_content_attention_a_factored_model_attends_by_position_alone() -> None:
    # No norm over all of z_t: it would let content scale the position half.
    encoder = encoder_of(embedding_norm=False, layers=1)
    one, other = changed_content(encoder, AttentionPlan(content=()))
    assert all(map(torch.equal, one, other))


def test_with_content_attention_a_factored_model_attends_by_content_too() -> None:
    one, other = changed_content(encoder_of(embedding_norm=False, layers=1), AttentionPlan())
    assert not torch.allclose(one[0], other[0])


def test_terms_are_switched_only_in_the_layers_named() -> None:
    encoder = encoder_of()
    content = content_of(encoder)
    full = attention_of(encoder, content, AttentionPlan())
    switched = attention_of(encoder, content, AttentionPlan(content=(1,)))
    assert torch.equal(full[0], switched[0])
    assert not torch.allclose(full[1], switched[1])


@pytest.mark.parametrize("name", ["base", "concatenated", "added block", "position-only"])
def test_terms_cant_be_switched_in_a_model_that_is_not_factored(name: str) -> None:
    encoder = encoder_of(**ATTENTION_VARIANTS[name])
    with pytest.raises(ConfigError, match="factored"):
        encoder(content_of(encoder), LAYOUT, AttentionPlan(position=(1,)))


def test_probabilities_of_each_real_token_sum_to_one() -> None:
    encoder = encoder_of()
    for layer in attention_of(encoder, content_of(encoder), AttentionPlan(window=1)):
        torch.testing.assert_close(layer.sum(-1), torch.ones(3, 2, 8))


def test_information_travels_one_window_a_layer() -> None:
    encoder = encoder_of(layers=2)
    changed = content_of(encoder)
    changed[3] *= -1
    plan = AttentionPlan(window=1)
    same, different = encoder(content_of(encoder), LAYOUT, plan), encoder(changed, LAYOUT, plan)
    moved = (same - different).abs().amax(-1) > 1e-6
    assert moved[3:8].tolist() == [True, True, True, False, False]


def test_a_factored_encoder_keeps_halves_apart_in_every_product() -> None:
    encoder = encoder_of()
    assert {module.blocks for module in encoder.modules() if isinstance(module, BlockDiagonal)} == {2}


def test_no_encoder_reads_past_its_position_table() -> None:
    model = small_model(small_config(max_length=4))
    assert model(torch_batch(SENTENCES)).span_scores.isfinite().all()
