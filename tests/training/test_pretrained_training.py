"""Training over a pre-trained encoder: frozen or not, at its own rate, into a folder that needs nothing else."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table, load_config
from fencepost.errors import ConfigError, ModelError, UsageError
from fencepost.model.pretrained import Pretrained, pretrained_encoders
from fencepost.parsing.load import load
from fencepost.training.saving import resume_run, save_run
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.treebank import Sentence
from tests.function_samples import function_trees
from tests.pretrained_samples import write_encoder
from tests.samples import TREES, tiny_config

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_encoder(tmp_path_factory.mktemp("encoder"))


def config_over(encoder: Path, layers: int = 1, **pretrained: Any) -> Config:
    return config_from_table(
        {
            "lexical": ["pretrained"],
            "pretrained": {"model": str(encoder), **pretrained},
            "encoder": {"layers": layers, "d_model": 16, "heads": 2, "d_k": 4, "d_v": 4, "d_ff": 8},
            "scorer": {"hidden": 8},
            "train": {"batch_size": 5, "warmup_batches": 0, "learning_rate": 0.01, "max_epochs": 2},
        }
    )


def weights_of(trainer: Trainer) -> dict[str, Tensor]:
    (found,) = pretrained_encoders(trainer.model)
    return {name: tensor.clone() for name, tensor in found.state_dict().items()}


def steps(trainer: Trainer, count: int = 2) -> Trainer:
    for _, batch in zip(range(count), trainer.batches(), strict=False):
        trainer.step(batch)
    return trainer


def test_training_starts_from_the_weights_in_the_folder(encoder: Path) -> None:
    from transformers import AutoModel

    theirs = AutoModel.from_pretrained(encoder).state_dict()
    ours = weights_of(Trainer(config_over(encoder), TREES, TREES, CPU))
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)
    assert len(ours) > 10


def test_the_optimizer_keeps_nothing_of_a_frozen_encoder_in_bf16(encoder: Path) -> None:
    config = config_over(encoder, frozen=True)
    config = replace(config, train=replace(config.train, precision="bf16"))
    trainer = steps(Trainer(config, TREES, TREES, CPU))
    frozen = [not parameter.requires_grad for parameter in trainer.model.parameters()]
    kept = [bool(trainer.optimizer.state[parameter]) for parameter in trainer.parameters]
    assert any(frozen)
    assert kept == [not is_frozen for is_frozen in frozen]


def test_a_frozen_encoder_keeps_its_weights_and_a_fine_tuned_one_does_not(encoder: Path) -> None:
    for frozen in (True, False):
        trainer = Trainer(config_over(encoder, frozen=frozen), TREES, TREES, CPU)
        before = weights_of(trainer)
        after = weights_of(steps(trainer))
        assert all(torch.equal(before[name], after[name]) for name in before) is frozen


def test_a_frozen_encoder_drops_nothing_out_from_the_first_step_on(encoder: Path) -> None:
    trainer = Trainer(config_over(encoder, frozen=True), TREES, TREES, CPU)
    (found,) = (module for module in trainer.model.modules() if isinstance(module, Pretrained))
    for _ in range(2):
        assert found.training
        assert not found.encoder.training
        steps(trainer, 1)
        trainer.check()
        steps(trainer, 1)


def test_training_over_a_frozen_encoder_goes_on_exactly(encoder: Path, tmp_path: Path) -> None:
    config = config_over(encoder, frozen=True)
    trainer = steps(Trainer(config, TREES, TREES, CPU), 2)
    trainer.check()
    save_run(trainer, tmp_path)
    resumed = Trainer(config, TREES, TREES, CPU)
    resume_run(resumed, tmp_path)
    one, other = steps(trainer, 2).masters.state_dict(), steps(resumed, 2).masters.state_dict()
    assert all(torch.equal(one[name], other[name]) for name in one)


def test_the_encoder_learns_at_its_own_rate(encoder: Path) -> None:
    trainer = Trainer(config_over(encoder, learning_rate=0.0001), TREES, TREES, CPU)
    (found,) = (module for module in trainer.model.modules() if isinstance(module, Pretrained))
    inside, outside = next(found.encoder.parameters()), found.projection.weight
    before = inside.detach().clone(), outside.detach().clone()
    steps(trainer, 1)
    # The first step of Adam is as long as the rate, whatever the gradient.
    assert (inside - before[0]).abs().max().item() == pytest.approx(0.0001, rel=0.01)
    assert (outside - before[1]).abs().max().item() == pytest.approx(0.01, rel=0.01)


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_no_part_of_the_encoder_learns_at_the_rate_of_the_rest(encoder: Path, precision: Any) -> None:
    config = config_over(encoder, learning_rate=0.0001)
    trainer = Trainer(replace(config, train=replace(config.train, precision=precision)), TREES, TREES, CPU)
    before = {name: weight.clone() for name, weight in trainer.masters.state_dict().items()}
    steps(trainer, 1)
    moved = {name: (weight - before[name]).abs().max().item() for name, weight in trainer.masters.state_dict().items()}
    inside = {name: length for name, length in moved.items() if ".encoder." in name and name.startswith("lexical.")}
    assert len(inside) > 10
    assert max(inside.values()) == pytest.approx(0.0001, rel=0.01)


@pytest.mark.parametrize("layers", [0, 1])
def test_a_trained_model_needs_neither_the_encoder_nor_a_network(
    tmp_path: Path, encoder: Path, monkeypatch: pytest.MonkeyPatch, layers: int
) -> None:
    own = shutil.copytree(encoder, tmp_path / "encoder")
    parser = train(config_over(own, layers), TREES, TREES, tmp_path / "model")
    sentences = [Sentence.of(tree) for tree in TREES]
    expected = parser.parse(sentences)
    shutil.rmtree(own)
    monkeypatch.setattr("socket.socket.connect", None)
    assert load(tmp_path / "model").parse(sentences) == expected


def test_t5_is_saved_without_the_same_embeddings_twice(tmp_path: Path) -> None:
    t5 = write_encoder(tmp_path / "t5", "t5")
    train(config_over(t5), TREES, TREES, tmp_path / "model")
    assert len(load(tmp_path / "model").parse([["the", "cat"]])) == 1


def test_an_encoder_that_is_not_there_is_an_error_that_says_where_it_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no pre-trained encoder") as caught:
        Trainer(config_over(tmp_path / "nothing"), TREES, TREES, CPU)
    assert "hub's cache" in str(caught.value.hint)


def test_models_without_an_encoder_learn_at_one_rate() -> None:
    assert len(Trainer(tiny_config(), TREES, TREES, CPU).optimizer.param_groups) == 1


def test_a_resumed_run_goes_on_exactly_at_both_rates(tmp_path: Path, encoder: Path) -> None:
    config = config_over(encoder, learning_rate=0.001)
    straight = steps(Trainer(config, TREES, TREES, CPU), 3)
    first = steps(Trainer(config, TREES, TREES, CPU), 2)
    save_run(first, tmp_path / "model")
    second = Trainer(config, TREES, TREES, CPU)
    resume_run(second, tmp_path / "model")
    steps(second, 1)
    expected, found = straight.model.state_dict(), second.model.state_dict()
    assert all(torch.equal(expected[name], found[name]) for name in expected)


def with_function_words(encoder: Path) -> Config:
    config = config_over(encoder)
    return replace(config, scorer=replace(config.scorer, functions=True, function_hidden=8, function_words=True))


def test_functions_are_learned_from_the_vectors_of_words_too(encoder: Path) -> None:
    trees = function_trees(20)
    trainer = Trainer(with_function_words(encoder), trees, trees, CPU)
    scorer = trainer.model.function_scorer
    assert scorer is not None
    assert scorer.words is not None
    before = scorer.words.weight.detach().clone()
    steps(trainer)
    assert (scorer.words.weight != before).any()


def test_functions_from_words_change_neither_trees_nor_their_scores(encoder: Path) -> None:
    trees = function_trees(20)
    reading = steps(Trainer(with_function_words(encoder), trees, trees, CPU))
    plain = replace(reading.config, scorer=replace(reading.config.scorer, function_words=False))
    other = Trainer(plain, trees, trees, CPU)
    weights = reading.model.state_dict()
    other.model.load_state_dict({name: weight for name, weight in weights.items() if "scorer.words" not in name})
    assert other.dev.score(other.backend).matched == reading.dev.score(reading.backend).matched


def test_a_scorer_that_reads_words_has_another_form_than_one_that_does_not(encoder: Path, tmp_path: Path) -> None:
    trees, config = function_trees(8), with_function_words(encoder)
    train(config, trees, trees, tmp_path / "first")
    without = replace(config, scorer=replace(config.scorer, function_words=False))
    with pytest.raises(UsageError, match=r"scorer\.function_words is True, not False"):
        train(without, trees, trees, tmp_path / "second", start_from=tmp_path / "first")


def test_a_scorer_that_reads_words_can_be_added_to_a_model_without_functions(encoder: Path, tmp_path: Path) -> None:
    train(config_over(encoder), TREES, TREES, tmp_path / "plain")
    trees = function_trees(8)
    parser = train(with_function_words(encoder), trees, trees, tmp_path / "more", start_from=tmp_path / "plain")
    assert parser.parse([["the", "cat", "sleeps"]], functions=True)


def test_words_without_an_encoder_are_refused() -> None:
    settings = ["scorer.functions=true", "scorer.function_words=true"]
    with pytest.raises(ConfigError, match=r"scorer\.function_words needs a pre-trained encoder"):
        load_config("small", ['lexical=["char_lstm"]', *settings])


def test_a_model_without_functions_may_start_from_one_whose_scorer_reads_words(encoder: Path, tmp_path: Path) -> None:
    trees, config = function_trees(8), with_function_words(encoder)
    train(config, trees, trees, tmp_path / "first")
    plain = replace(config, scorer=replace(config.scorer, functions=False))
    parser = train(plain, TREES, TREES, tmp_path / "plain", start_from=tmp_path / "first")
    assert parser.parse([["the", "cat", "sleeps"]])
