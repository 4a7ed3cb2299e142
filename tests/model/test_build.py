"""Every configuration on the axes of the design becomes a model that runs and learns."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import nn

from fencepost.config.settings import Config, TagsConfig, WordsConfig
from fencepost.model.attention import MultiHeadAttention
from fencepost.model.build import VocabSizes, build_model
from fencepost.model.dropout import SharedDropout
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.model.lexical import CharAttention
from fencepost.model.parser_model import ModelOutput, ParserModel
from tests.model.model_samples import LEXICALS, SENTENCES, SIZES, VARIANTS, small_config, small_model, torch_batch

SPANS = sum(len(sentence) * (len(sentence) + 1) // 2 for sentence in SENTENCES)
WORDS = sum(map(len, SENTENCES))


def assert_shapes(output: ModelOutput) -> None:
    assert output.span_scores.shape == (SPANS, SIZES.labels)
    assert output.tag_scores is not None
    assert output.tag_scores.shape == (WORDS, SIZES.tags)


def parameters_without_gradient(model: ParserModel) -> list[str]:
    torch.manual_seed(0)
    output = model.train()(torch_batch(SENTENCES))
    assert output.tag_scores is not None
    (output.span_scores.square().sum() + output.tag_scores.square().sum()).backward()
    return [name for name, p in model.named_parameters() if p.grad is None or not p.grad.any()]


@pytest.mark.parametrize("name", VARIANTS)
def test_every_encoder_gives_scores_of_the_right_shape(name: str) -> None:
    assert_shapes(small_model(small_config(**VARIANTS[name]))(torch_batch(SENTENCES)))


@pytest.mark.parametrize("lexical", LEXICALS)
@pytest.mark.parametrize("position", ["added", "concatenated"])
def test_every_lexical_representation_fits_every_way_position_enters(lexical: tuple[str, ...], position: str) -> None:
    assert_shapes(small_model(small_config(lexical, position=position))(torch_batch(SENTENCES)))


@pytest.mark.parametrize("name", VARIANTS)
def test_gradients_reach_every_parameter_of_every_encoder(name: str) -> None:
    assert parameters_without_gradient(small_model(small_config(**VARIANTS[name]))) == []


@pytest.mark.parametrize("lexical", LEXICALS)
def test_gradients_reach_every_parameter_of_every_representation(lexical: tuple[str, ...]) -> None:
    assert parameters_without_gradient(small_model(small_config(lexical))) == []


@pytest.mark.parametrize("name", VARIANTS)
def test_every_encoder_runs_in_bfloat16_near_its_scores_in_full_precision(name: str) -> None:
    model, batch = small_model(small_config(**VARIANTS[name])), torch_batch(SENTENCES)
    with torch.autocast("cpu", torch.bfloat16):
        scores = model(batch).span_scores
    assert scores.dtype == torch.float32
    torch.testing.assert_close(scores, model(batch).span_scores, atol=0.15, rtol=0.05)


@pytest.mark.parametrize(("scale", "words", "letters"), [("d_k", 8, 4), ("d_model", 16, 8)])
def test_attention_is_scaled_as_the_configuration_says(scale: str, words: int, letters: int) -> None:
    model = small_model(small_config(("char_attention",), attention_scale=scale))
    scales = {
        part: {each.sizes.scale for each in module.modules() if isinstance(each, MultiHeadAttention)}
        for part, module in (("words", model.encoder), ("letters", model.lexical))
        if isinstance(module, nn.Module)
    }
    assert scales == {"words": {1 / math.sqrt(words)}, "letters": {1 / math.sqrt(letters)}}


def test_every_dropout_of_the_configuration_is_where_it_belongs() -> None:
    lexical = ("words", "tags", "char_lstm", "char_concat", "char_attention")
    base = small_config(lexical, attention_dropout=0.01, relu_dropout=0.02, residual_dropout=0.03)
    config = dataclasses.replace(
        base,
        words=WordsConfig(dropout=0.04),
        tags=TagsConfig(dropout=0.05),
        char_lstm=dataclasses.replace(base.char_lstm, dropout=0.06, input_dropout=0.07),
        char_concat=dataclasses.replace(base.char_concat, dropout=0.08),
        char_attention=dataclasses.replace(base.char_attention, dropout=0.09, input_dropout=0.10),
    )
    model = small_model(config)
    layer = model.encoder.layers[0]  # type: ignore[attr-defined]
    assert (layer.attention.dropout, layer.feed_forward.dropout.p, layer.dropout.p) == (0.01, 0.02, 0.03)
    representations = [module.get_submodule("dropout") for module in model.lexical.representations]
    assert [dropout.p for dropout in representations] == [0.04, 0.05, 0.06, 0.08, 0.09]
    inputs = [model.lexical.representations[place].get_submodule("input_dropout").p for place in (2, 4)]
    assert inputs == [0.07, 0.10]


@pytest.mark.parametrize("kind", ["words", "tags", "char_lstm", "char_concat", "char_attention"])
def test_the_dropout_of_a_representation_falls_on_its_vectors_in_training_alone(kind: str) -> None:
    representation = small_model(small_config((kind,))).lexical.representations[0]
    dropout: Any = representation.get_submodule("dropout")
    dropout.p = 1.0
    assert representation.eval()(torch_batch(SENTENCES)).abs().sum() > 0
    assert representation.train()(torch_batch(SENTENCES)).abs().sum() == 0


@pytest.mark.parametrize("kind", ["char_lstm", "char_attention"])
def test_the_input_dropout_of_a_representation_falls_on_its_letters_in_training_alone(kind: str) -> None:
    representation = small_model(small_config((kind,))).lexical.representations[0]
    dropout: Any = representation.get_submodule("dropout")
    input_dropout: Any = representation.get_submodule("input_dropout")
    dropout.p, input_dropout.p = 0.0, 1.0
    words = [["the", "cat"]]  # of three letters each, so that without letters they are alike
    _, the, cat, _ = representation.eval()(torch_batch(words))
    assert not torch.allclose(the, cat)
    if kind == "char_attention":
        representation.get_submodule("encoder").eval()
    representation.training = True
    representation.get_submodule("input_dropout").train()
    _, the, cat, _ = representation(torch_batch(words))
    torch.testing.assert_close(the, cat)


@pytest.mark.parametrize("shared", [False, True])
def test_dropout_is_shared_by_a_sentence_everywhere_or_nowhere(shared: bool) -> None:
    lexical = ("words", "tags", "char_lstm", "char_concat", "char_attention")
    model = small_model(small_config(lexical, shared_dropout=shared))
    assert {module.shared for module in model.modules() if isinstance(module, SharedDropout)} == {shared}


def test_tags_are_scored_only_where_asked() -> None:
    config = small_config()
    plain = dataclasses.replace(config, scorer=dataclasses.replace(config.scorer, predict_tags=False))
    assert small_model(plain)(torch_batch(SENTENCES)).tag_scores is None


def test_a_model_of_one_lstm_layer_can_be_built() -> None:
    assert_shapes(small_model(small_config(kind="lstm", lstm_layers=1))(torch_batch(SENTENCES)))


def test_the_papers_factored_model_has_26_million_parameters() -> None:
    with torch.device("meta"):
        model = build_model(Config(), VocabSizes(labels=100, words=0, tags=0, letters=128))
    assert sum(parameter.numel() for parameter in model.parameters()) == 26_436_607


def test_factoring_halves_the_parameters_of_the_layers() -> None:
    def size(projection: str) -> int:
        layers = small_model(small_config(projection=projection)).encoder.layers  # type: ignore[attr-defined]
        return sum(p.numel() for name, p in layers.named_parameters() if name.endswith("weight") and "norm" not in name)

    assert 2 * size("block") == size("dense")


def test_attention_over_words_starts_near_zero_and_over_letters_does_not() -> None:
    model = build_model(small_config(["words", "char_attention"]), SIZES)
    letters = next(part for part in model.lexical.representations if isinstance(part, CharAttention))
    assert isinstance(model.encoder, SelfAttentiveEncoder)
    for encoder, near_zero in ((model.encoder, True), (letters.encoder, False)):
        weights = [weight for name, weight in encoder.layers.named_parameters() if ".attention." in name]
        assert weights
        assert all((weight.detach().std().item() < 0.02) == near_zero for weight in weights)
