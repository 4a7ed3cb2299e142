from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table
from fencepost.errors import ConfigError, UsageError
from fencepost.features.batch import Batch
from fencepost.features.indexer import Indexer
from fencepost.features.pretrained_files import mask_token
from fencepost.features.vocab import Labels, Vocab
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import VocabSizes, build_model
from fencepost.model.encoder import NoEncoder
from fencepost.model.parser_model import ParserModel, TorchBatch
from fencepost.model.pretrained import Hiding, Pretrained, ScalarMix, build_encoder
from fencepost.trees.treebank import Sentence
from tests.pretrained_samples import KINDS, pretrained_files

SENTENCES = [Sentence(("the", "cats", "sleep", ".")), Sentence(("sleeping",)), Sentence(("a", "cat") * 8)]


def config_with(encoder_layers: int = 1, **pretrained: Any) -> Config:
    sizes = {"layers": encoder_layers, "d_model": 16, "heads": 2, "d_k": 4, "d_v": 4, "d_ff": 8}
    section = {"model": "small", **pretrained}
    return config_from_table({"lexical": ["pretrained"], "pretrained": section, "encoder": sizes})


def model_of(config: Config, kind: str = "bert") -> ParserModel:
    torch.manual_seed(0)
    sizes = VocabSizes(labels=4, words=3, tags=4, letters=6, pretrained=pretrained_files(kind))
    model = build_model(config, sizes).eval()
    for parameter in representation(model).encoder.parameters():
        torch.nn.init.normal_(parameter, std=0.3)  # so that attention is worth something
    return model


def representation(model: ParserModel) -> Pretrained:
    (found,) = model.lexical.representations
    assert isinstance(found, Pretrained)
    return found


def batch_of(sentences: list[Sentence], config: Config, kind: str = "bert") -> TorchBatch:
    empty = Vocab((), (), 3)
    vocabularies = Vocabularies(Labels(((),)), empty, empty, Vocab((), (), 6), "TOP", pretrained_files(kind))
    return TorchBatch.of(Indexer(config, vocabularies).batch(sentences))


def vectors(sentences: list[Sentence], config: Config, kind: str = "bert") -> list[Tensor]:
    model, batch = model_of(config, kind), batch_of(sentences, config, kind)
    with torch.no_grad():
        return list(torch.split(model.lexical(batch), (batch.lengths + 2).tolist()))


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated")  # in transformers' DeBERTa
@pytest.mark.parametrize("layers", ["last", "mix"])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_do_not_depend_on_the_company_in_the_batch(kind: str, layers: str) -> None:
    config = config_with(layers=layers, words="mean")
    together = vectors(SENTENCES, config, kind)
    for sentence, expected in zip(SENTENCES, together, strict=True):
        assert expected.shape == (len(sentence) + 2, config.d_content)
        torch.testing.assert_close(vectors([sentence], config, kind)[0], expected, atol=1e-5, rtol=1e-4)


def test_a_window_wider_than_the_sentence_changes_nothing() -> None:
    narrow, wide = (vectors(SENTENCES, config_with(window=size, overlap=4)) for size in (20, 40))
    for left, right in zip(narrow, wide, strict=True):
        torch.testing.assert_close(left, right)


def test_a_sentence_longer_than_the_encoder_reads_has_a_vector_for_every_word() -> None:
    (long,) = vectors([Sentence(("a", "cat") * 100)], config_with(overlap=10))
    assert long.shape == (202, 8)
    assert long.isfinite().all()


def test_the_mix_starts_as_the_mean_of_all_layers() -> None:
    layers = tuple(torch.randn(3, 4) for _ in range(5))
    torch.testing.assert_close(ScalarMix(5)(layers), torch.stack(layers).mean(0))


def test_the_mix_weighs_layers_by_the_softmax_of_its_weights() -> None:
    mix = ScalarMix(2)
    with torch.no_grad():
        mix.weights.copy_(torch.tensor([3.0, 1.0]).log())
        mix.scale.fill_(2)
    assert mix((torch.tensor([4.0]), torch.tensor([8.0]))).item() == pytest.approx(10)


def gradients(config: Config) -> tuple[bool, bool]:
    """Whether the encoder and the projection have gradients after a step."""
    model = model_of(config).train()
    model(batch_of(SENTENCES, config)).span_scores.square().sum().backward()
    found = representation(model)
    return any(p.grad is not None for p in found.encoder.parameters()), found.projection.weight.grad is not None


def test_a_fine_tuned_encoder_learns_with_the_projection() -> None:
    assert gradients(config_with()) == (True, True)


def test_a_frozen_encoder_learns_nothing_and_the_projection_does() -> None:
    assert gradients(config_with(frozen=True)) == (False, True)


def test_a_frozen_encoder_has_no_dropout_in_training() -> None:
    found = representation(model_of(config_with(frozen=True)).train())
    assert found.training
    assert not found.encoder.training


def test_without_layers_spans_are_scored_from_the_projected_vectors() -> None:
    config = config_with(encoder_layers=0)
    model, batch = model_of(config), batch_of(SENTENCES, config)
    assert isinstance(model.encoder, NoEncoder)
    assert torch.equal(model.encode(batch, None), model.lexical(batch))
    assert model(batch).span_scores.shape[1] == 4


def test_a_batch_without_sub_tokens_is_refused() -> None:
    with pytest.raises(UsageError, match="reads sub-tokens"):
        model_of(config_with()).lexical(TorchBatch.of(Batch(lengths=np.array([1]))))


def test_decoders_that_are_not_read_word_by_word_are_refused() -> None:
    with pytest.raises(ConfigError, match="bart"):
        build_encoder('{"model_type": "bart"}')


def test_a_configuration_must_name_the_encoder() -> None:
    with pytest.raises(ConfigError, match=r"pretrained\.model is missing"):
        config_from_table({"lexical": ["pretrained"]})


def test_training_hides_some_sub_tokens_and_parsing_none() -> None:
    hiding, subwords = Hiding(0.25, mask_token=7), torch.arange(10, 4010)
    torch.manual_seed(0)
    hidden = hiding.train()(subwords)
    changed = hidden != subwords
    assert set(hidden[changed].tolist()) == {7}
    assert 0.2 < changed.float().mean() < 0.3
    assert torch.equal(hiding.eval()(subwords), subwords)


def test_the_mask_token_is_found_in_the_tokenizer() -> None:
    tokens = [{"id": 3, "content": "[SEP]"}, {"id": 103, "content": "[MASK]"}]
    assert mask_token(json.dumps({"added_tokens": tokens})) == 103
    with pytest.raises(ConfigError, match="no mask token"):
        mask_token(json.dumps({"added_tokens": tokens[:1]}))
