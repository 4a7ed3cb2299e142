"""Training runs of seconds: they learn, they stop, they go on exactly where they were."""

from __future__ import annotations

import gc
import json
import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from fencepost.backends.torch import TorchBackend
from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table, config_to_toml, load_config
from fencepost.errors import TrainingError, UsageError
from fencepost.evaluation.score import score
from fencepost.model.plan import AttentionPlan
from fencepost.parsing.load import load
from fencepost.storage.model_files import CHECKPOINT
from fencepost.storage.model_writer import change_config
from fencepost.training.check import Check
from fencepost.training.checkpoint import read_checkpoint
from fencepost.training.dev import DevScore, DevSet
from fencepost.training.distributed import Team
from fencepost.training.saving import resume_run, save_run
from fencepost.training.schedule import Schedule
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Sentence, Treebank
from tests.grammar import toy_trees
from tests.samples import TREES, tiny_config

CPU = torch.device("cpu")
PATIENCE = 300.0  # seconds for a process that takes ten


@pytest.fixture(autouse=True)
def _one_thread() -> None:
    torch.set_num_threads(1)


def log_of(folder: Path) -> list[dict[str, float]]:
    return [json.loads(line) for line in (folder / "log.jsonl").read_text().splitlines()]


def small_without_dropout(**train_section: object) -> Config:
    none = {"attention_dropout": 0.0, "relu_dropout": 0.0, "residual_dropout": 0.0}
    sizes = {"layers": 2, "d_model": 128, "heads": 4, "d_k": 16, "d_v": 16, "d_ff": 128}
    return config_from_table(
        {
            "char_lstm": {"size": 16, "dropout": 0.0, "input_dropout": 0.0},
            "encoder": {**sizes, **none},
            "scorer": {"hidden": 64},
            "train": {"batch_size": 10, "warmup_batches": 20, "learning_rate": 0.004, **train_section},
        }
    )


def test_fifty_trees_are_learned_by_heart() -> None:
    trees = toy_trees(50)
    trainer = Trainer(small_without_dropout(max_epochs=60), trees, trees, CPU)
    for batch in trainer.batches():
        trainer.step(batch)
        if trainer.step_number % 25 == 0 and trainer.check().f1 >= 99.5:
            break
    assert trainer.schedule.best_f1 >= 99.5


def test_a_small_model_trained_on_300_trees_parses_others(tmp_path: Path) -> None:
    trees = toy_trees(400)
    config = small_without_dropout(max_epochs=8, batch_size=20, checks_per_epoch=1)
    parser = train(config, trees[:300], trees[300:350], tmp_path / "model")
    test = trees[350:]
    predicted = parser.parse([Sentence.of(tree) for tree in test])
    assert score(test, predicted).f1 > 85


def test_a_tree_crf_learns_too() -> None:
    trees = toy_trees(60)
    trainer = Trainer(small_without_dropout(max_epochs=30, loss="crf"), trees, trees, CPU)
    for batch in trainer.batches():
        trainer.step(batch)
    assert trainer.check().f1 > 90


def test_a_tag_head_learns_tags(tmp_path: Path) -> None:
    trees = toy_trees(60)
    config = load_config("small", ["train.max_epochs=20", "train.batch_size=6", "train.warmup_batches=10"])
    parser = train(config, trees, trees, tmp_path / "model")
    predicted = parser.parse([Sentence(Sentence.of(tree).words) for tree in trees])
    assert score(trees, predicted, "none").tag_accuracy > 95


@pytest.fixture
def deterministic() -> Iterator[Config]:
    yield tiny_config(deterministic=True, max_epochs=4)
    torch.use_deterministic_algorithms(False)


def advance(trainer: Trainer, steps: int) -> list[float]:
    """Takes steps, and the loss and F1 of the checks that fall due."""
    figures = []
    for batch in islice(trainer.batches(), steps):
        trainer.step(batch)
        if trainer.check_is_due():
            check = trainer.check()
            figures += [check.loss, check.f1]
    return figures


@pytest.mark.parametrize("stop", [1, 4, 7])  # in the middle of an epoch of 3 batches, and at the ends of others
def test_a_run_that_was_resumed_equals_one_that_was_not_interrupted(
    stop: int, deterministic: Config, tmp_path: Path
) -> None:
    straight = Trainer(deterministic, TREES, TREES, CPU)
    figures = advance(straight, 12)

    first = Trainer(deterministic, TREES, TREES, CPU)
    before = advance(first, stop)
    save_run(first, tmp_path)
    torch.manual_seed(999)
    second = Trainer(deterministic, TREES, TREES, CPU)
    resume_run(second, tmp_path)
    assert before + advance(second, 12 - stop) == figures
    for name, weight in straight.model.state_dict().items():
        assert torch.equal(weight, second.model.state_dict()[name]), name
    assert second.schedule == straight.schedule


def test_training_in_bf16_learns_resumes_exactly_and_saves_fp32(tmp_path: Path) -> None:
    trees = toy_trees(30)
    config = small_without_dropout(precision="bf16", max_epochs=30)
    straight = Trainer(config, trees, trees, CPU)
    figures = advance(straight, 60)
    assert straight.schedule.best_f1 > 70

    first = Trainer(config, trees, trees, CPU)
    before = advance(first, 31)
    save_run(first, tmp_path)
    second = Trainer(config, trees, trees, CPU)
    resume_run(second, tmp_path)
    assert before + advance(second, 29) == figures
    assert {tensor.dtype for tensor in load_file(tmp_path / "model.safetensors").values()} == {torch.float32}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_mean_of_the_weights_is_what_is_checked_and_kept(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    trainer = Trainer(small_without_dropout(average=0.9, precision=precision), TREES, TREES, CPU)
    for batch in islice(trainer.batches(), 2):
        trainer.step(batch)
    checked: list[torch.Tensor] = []

    def look(backend: TorchBackend) -> DevScore:
        checked.extend(parameter.detach().clone() for parameter in backend.model.parameters())
        return DevScore(1, 1, 1)

    monkeypatch.setattr(trainer.dev, "score", look)
    trainer.check()
    assert trainer.best_weights is not None
    kept = [trainer.best_weights[name] for name, _ in trainer.model.named_parameters()]
    assert all(map(torch.equal, kept, trainer.average.tensors))
    assert all(torch.equal(one, mean.to(one.dtype)) for one, mean in zip(checked, kept, strict=True))
    assert not any(map(torch.equal, kept, trainer.parameters))


def test_a_run_with_a_mean_of_the_weights_resumes_exactly(tmp_path: Path) -> None:
    config = small_without_dropout(average=0.9, max_epochs=30)
    straight = Trainer(config, TREES, TREES, CPU)
    figures = advance(straight, 12)

    first = Trainer(config, TREES, TREES, CPU)
    before = advance(first, 5)
    save_run(first, tmp_path)
    second = Trainer(config, TREES, TREES, CPU)
    resume_run(second, tmp_path)
    assert before + advance(second, 7) == figures
    assert all(map(torch.equal, straight.average.tensors, second.average.tensors))


def test_the_mean_of_two_steps_is_that_of_their_weights() -> None:
    trainer = Trainer(small_without_dropout(average=0.5), TREES, TREES, CPU)
    start = trainer.parameters[0].detach().clone()
    advance(trainer, 1)
    one = trainer.parameters[0].detach().clone()
    advance(trainer, 1)
    two = trainer.parameters[0].detach().clone()
    after_one = start / 11 + one * 10 / 11
    torch.testing.assert_close(trainer.average.tensors[0], after_one * 2 / 12 + two * 10 / 12)
    assert torch.equal(trainer.parameters[0], two)  # training goes on from the weights themselves


def test_what_others_draw_between_two_steps_changes_nothing() -> None:
    straight, disturbed = (Trainer(tiny_config(), TREES, TREES, CPU) for _ in range(2))
    advance(straight, 2)
    advance(disturbed, 1)
    torch.rand(7)
    advance(disturbed, 1)
    for one, other in zip(straight.parameters, disturbed.parameters, strict=True):
        assert torch.equal(one, other)


def test_steps_and_processes_drop_other_numbers() -> None:
    def masks(step: int, rank: int) -> list[int]:
        trainer = Trainer(tiny_config(), TREES, TREES, CPU, Team(rank=rank))
        trainer.step_number = step
        trainer.step(trainer.order.batch(step))
        return torch.rand(4).tolist()

    assert masks(0, 0) == masks(0, 0)
    assert masks(0, 0) != masks(1, 0)
    assert masks(0, 0) != masks(0, 1)


def test_a_run_that_was_exhausted_takes_no_further_step() -> None:
    trainer = Trainer(tiny_config(), TREES, TREES, CPU)
    trainer.schedule.halvings_without_gain = tiny_config().train.max_halvings + 1
    assert list(trainer.batches()) == []


def test_weights_that_are_no_numbers_are_not_saved_to_go_on_from(tmp_path: Path) -> None:
    trainer = Trainer(tiny_config(), TREES, TREES, CPU)
    trainer.loss_sum.fill_(float("nan"))
    with pytest.raises(TrainingError, match="the loss is nan"):
        save_run(trainer, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_the_same_seed_gives_the_same_run_and_another_seed_another() -> None:
    def losses(seed: int) -> list[float]:
        return advance(Trainer(tiny_config(seed=seed), TREES, TREES, CPU), 6)

    assert losses(1) == losses(1) != losses(2)


def test_every_epoch_has_all_sentences_in_an_order_of_its_own() -> None:
    trainer = Trainer(tiny_config(max_epochs=3, batch_size=4), TREES, TREES, CPU)
    batches = []
    for batch in trainer.batches():
        batches.append(batch)
        trainer.step_number += 1
    orders = [[place for batch in batches[first : first + 3] for place in batch] for first in (0, 3, 6)]
    assert len(batches) == 9
    assert [sorted(order) for order in orders] == [list(range(len(TREES)))] * 3
    assert len(set(map(tuple, orders))) == 3


def gradients(config: Config, monkeypatch: pytest.MonkeyPatch, part: str = "") -> list[torch.Tensor]:
    """What one step on all trees leaves in the parameters whose names begin so."""
    trainer = Trainer(config, TREES, TREES, CPU)
    monkeypatch.setattr(trainer.optimizer, "zero_grad", lambda set_to_none: None)
    trainer.step(list(range(len(TREES))))
    named = trainer.model.named_parameters()
    return [weight.grad for name, weight in named if name.startswith(part) and weight.grad is not None]


def test_pieces_of_a_batch_give_the_gradient_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def of_pieces(budget: int) -> list[torch.Tensor]:
        config = small_without_dropout(batch_tokens=budget)
        scorer = replace(config.scorer, predict_tags=True)
        return gradients(replace(config, scorer=scorer), monkeypatch)

    for whole, cut in zip(of_pieces(10_000), of_pieces(12), strict=True):
        torch.testing.assert_close(whole, cut, atol=1e-5, rtol=1e-3)


def test_the_tag_loss_counts_as_much_as_its_weight_says(monkeypatch: pytest.MonkeyPatch) -> None:
    once, thrice = (gradients(tiny_config(tag_loss_weight=weight), monkeypatch, "tag_scorer") for weight in (1.0, 3.0))
    assert len(once) == 6
    for light, heavy in zip(once, thrice, strict=True):
        torch.testing.assert_close(3 * light, heavy)


def test_the_tag_loss_is_the_mean_over_words() -> None:
    def loss(weight: float) -> float:
        config = small_without_dropout(tag_loss_weight=weight)
        trainer = Trainer(replace(config, scorer=replace(config.scorer, predict_tags=True)), TREES, TREES, CPU)
        for parameter in trainer.model.tag_scorer.parameters():  # type: ignore[union-attr]
            torch.nn.init.zeros_(parameter)
        trainer.step(list(range(len(TREES))))
        return trainer.check().loss

    tags = len(Trainer(tiny_config(), TREES, TREES, CPU).vocabularies.tags)
    assert loss(1.0) - loss(0.0) == pytest.approx(math.log(tags), abs=1e-4)  # all tags alike for every word


def test_gradients_are_clipped_where_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    clipped = gradients(tiny_config(clip_norm=0.01), monkeypatch)
    norm = torch.stack([gradient.norm() for gradient in clipped]).norm()
    torch.testing.assert_close(norm, torch.tensor(0.01), atol=1e-5, rtol=1e-3)


def test_the_optimizer_steps_at_the_rate_of_the_schedule() -> None:
    trainer = Trainer(tiny_config(warmup_batches=5, learning_rate=0.01), TREES, TREES, CPU)
    advance(trainer, 2)
    assert [group["lr"] for group in trainer.optimizer.param_groups] == [pytest.approx(0.004)]


def test_several_passes_through_a_tiny_treebank_count_as_one_epoch(tmp_path: Path) -> None:
    config = tiny_config(batch_size=20, checks_per_epoch=2, max_epochs=2)
    config = replace(config, train=replace(config.train, shortest_epoch=8))
    train(config, toy_trees(40), TREES, tmp_path)  # two batches
    checks = [json.loads(line) for line in (tmp_path / "log.jsonl").read_text().splitlines()]
    assert [(check["step"], check["epoch"]) for check in checks] == [(4, 0.5), (8, 1.0), (12, 1.5), (16, 2.0)]


def test_an_epoch_is_all_sentences_of_a_treebank_that_is_not_tiny() -> None:
    assert load_config("small").train.shortest_epoch == 50
    config = tiny_config(batch_size=5, checks_per_epoch=4)
    trainer = Trainer(replace(config, train=replace(config.train, shortest_epoch=3)), toy_trees(40), TREES, CPU)
    assert (trainer.steps_an_epoch, trainer.steps_a_check) == (8, 2)


def test_development_data_are_looked_at_four_times_an_epoch() -> None:
    assert load_config("paper").train.checks_per_epoch == 4
    trainer = Trainer(tiny_config(batch_size=5, checks_per_epoch=4), toy_trees(40), TREES, CPU)
    due = []
    for trainer.step_number in range(1, 17):
        due += [trainer.step_number] if trainer.check_is_due() else []
    assert due == [2, 4, 6, 8, 10, 12, 14, 16]


@pytest.mark.parametrize(("warmup", "halvings"), [(100, 0), (0, 2)])
def test_the_rate_is_not_halved_while_it_still_rises(
    warmup: int, halvings: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DevSet, "score", lambda self, backend: DevScore(1, 2, 2))
    trainer = Trainer(tiny_config(warmup_batches=warmup, patience_epochs=0.0), TREES, TREES, CPU)
    advance(trainer, 9)
    assert trainer.schedule.halvings == halvings


def test_training_follows_its_own_plan() -> None:
    trainer = Trainer(tiny_config(plan={"window": 2, "relaxed": True}), TREES, TREES, CPU)
    plans: list[object] = []
    trainer.model.register_forward_pre_hook(lambda model, arguments: plans.append(arguments[1]))
    advance(trainer, 1)
    assert plans == [AttentionPlan(window=2, relaxed=True)]


# The run as a user sees it


def test_a_run_leaves_a_model_a_log_and_a_checkpoint(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=2), TREES, TREES, tmp_path / "model")
    names = {path.name for path in (tmp_path / "model").iterdir()}
    model = {"config.toml", "vocab.json", "model.safetensors", "README.md", "checksums"}
    assert names == model | {"log.jsonl", "checkpoint.safetensors"}
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    first, second = log_of(tmp_path / "model")
    assert (first["epoch"], second["epoch"]) == (1.0, 2.0)
    keys = {"step", "epoch", "seconds", "loss", "precision", "recall", "f1", "learning_rate", "sentences_per_second"}
    assert set(first) == keys


def test_the_folder_holds_the_best_model_not_the_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scores = iter([DevScore(1, 2, 2), DevScore(2, 2, 2), DevScore(0, 2, 2)])
    weights: list[torch.Tensor] = []

    def fake(self: DevSet, backend: TorchBackend) -> DevScore:
        weights.append(next(backend.model.parameters()).detach().clone())
        return next(scores)

    monkeypatch.setattr(DevSet, "score", fake)
    parser = train(tiny_config(max_epochs=3), TREES, TREES, tmp_path / "model")
    assert isinstance(parser._backend, TorchBackend)
    assert torch.equal(next(parser._backend.model.parameters()), weights[1])
    assert not torch.equal(weights[1], weights[2])


def test_a_time_budget_ends_a_run_cleanly_with_a_model(tmp_path: Path) -> None:
    parser = train(tiny_config(max_minutes=0.0), TREES, TREES, tmp_path / "model")
    assert len(log_of(tmp_path / "model")) == 1
    assert len(parser.parse([["A", "test"]])) == 1


def test_a_run_that_ran_out_of_time_goes_on_as_if_it_had_not(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=2), TREES, TREES, tmp_path / "straight")
    train(tiny_config(max_minutes=0.0), TREES, TREES, tmp_path / "stopped")
    assert [check["step"] for check in log_of(tmp_path / "stopped")] == [1]
    train(tiny_config(max_epochs=2), TREES, TREES, tmp_path / "stopped", resume=True)
    straight, stopped = log_of(tmp_path / "straight"), log_of(tmp_path / "stopped")[1:]
    for name in ("step", "loss", "f1", "learning_rate"):
        assert [check[name] for check in stopped] == [check[name] for check in straight]


def scripted(monkeypatch: pytest.MonkeyPatch, *matched: int) -> None:
    """Checks that find so many of ten brackets, one after the other."""
    scores = iter([DevScore(number, 10, 10) for number in matched])
    monkeypatch.setattr(DevSet, "score", lambda self, backend: next(scores))


def test_a_resumed_run_keeps_a_better_model_of_a_check_after_its_checkpoint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    scripted(monkeypatch, 5, 6)
    train(tiny_config(max_epochs=2), TREES, TREES, tmp_path / "straight")
    folder = tmp_path / "stopped"
    scripted(monkeypatch, 9, 5, 6, 10)  # the first is that of a run that is out of time
    train(tiny_config(max_minutes=0.0), TREES, TREES, folder)
    kept = (folder / "model.safetensors").read_bytes()
    train(tiny_config(max_epochs=2), TREES, TREES, folder, resume=True)
    assert (folder / "model.safetensors").read_bytes() == kept
    assert "best development F1 90.00, at epoch 0.33" in capsys.readouterr().err
    straight, stopped = (read_checkpoint(path / CHECKPOINT) for path in (tmp_path / "straight", folder))
    assert stopped[1]["schedule"] == straight[1]["schedule"]
    assert all(torch.equal(tensor, stopped[0][name]) for name, tensor in straight[0].items())
    train(tiny_config(max_epochs=3), TREES, TREES, folder, resume=True)
    assert (folder / "model.safetensors").read_bytes() != kept


def test_a_run_resumed_after_a_crash_keeps_the_better_model_that_it_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    scripted(monkeypatch, 1, 2, 9, 3)
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    step = Trainer.step

    def fragile(self: Trainer, batch: list[int]) -> None:
        if self.step_number == 10:
            raise RuntimeError("another process is gone")
        step(self, batch)

    monkeypatch.setattr(Trainer, "step", fragile)
    with pytest.raises(RuntimeError):
        train(tiny_config(max_epochs=5), TREES, TREES, folder, resume=True)
    kept = (folder / "model.safetensors").read_bytes()
    train(tiny_config(max_epochs=2), TREES, TREES, folder, resume=True)
    assert (folder / "model.safetensors").read_bytes() == kept


def test_checkpoints_dont_wait_for_checks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    steps: list[int] = []

    def watched(trainer: Trainer, out: Path) -> None:
        steps.append(trainer.step_number)
        save_run(trainer, out)

    monkeypatch.setattr("fencepost.training.run.save_run", watched)
    train(tiny_config(max_epochs=1, checkpoint_minutes=0.0), TREES, TREES, tmp_path / "model")
    assert steps == [1, 2, 3, 3]


def test_an_error_that_nobody_foresaw_leaves_the_best_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    step = Trainer.step

    def fragile(self: Trainer, batch: list[int]) -> None:
        if self.step_number == 4:
            raise RuntimeError("another process is gone")
        step(self, batch)

    monkeypatch.setattr(Trainer, "step", fragile)
    with pytest.raises(RuntimeError):
        train(tiny_config(max_epochs=2), TREES, TREES, tmp_path / "model")
    assert len(load(tmp_path / "model").parse([["A", "test"]])) == 1


def test_training_gives_the_process_back_as_it_was(tmp_path: Path) -> None:
    torch.manual_seed(5)
    random, frozen = torch.get_rng_state(), gc.get_freeze_count()
    train(tiny_config(max_epochs=1, deterministic=True), TREES, TREES, tmp_path / "model")
    assert torch.equal(torch.get_rng_state(), random)
    assert not torch.are_deterministic_algorithms_enabled()
    assert gc.get_freeze_count() == frozen


def test_a_process_of_a_team_stops_with_its_leader_and_not_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    step = Trainer.step

    def signalled(self: Trainer, batch: list[int]) -> None:
        step(self, batch)
        if self.step_number == 2:
            signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(Trainer, "step", signalled)
    monkeypatch.setattr(Team, "agreed", lambda self, value: 0.0)  # the leader got no signal
    train(tiny_config(max_epochs=2), TREES, TREES, tmp_path / "model")
    assert [check["epoch"] for check in log_of(tmp_path / "model")] == [1.0, 2.0]


def test_a_second_run_does_not_overwrite_the_first_unless_it_resumes(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    with pytest.raises(UsageError, match="already contains a training run"):
        train(tiny_config(max_epochs=2), TREES, TREES, folder)
    train(tiny_config(max_epochs=2), TREES, TREES, folder, resume=True)
    assert [check["epoch"] for check in log_of(folder)] == [1.0, 2.0]


def test_a_model_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    (folder / CHECKPOINT).unlink()
    before = (folder / "model.safetensors").read_bytes()
    with pytest.raises(UsageError, match="already contains a model") as caught:
        train(tiny_config(max_epochs=2), TREES, TREES, folder)
    assert "another folder" in (caught.value.hint or "")
    (folder / "log.jsonl").unlink()  # as if somebody had imported it: no run that could be resumed
    with pytest.raises(UsageError, match="already contains a model"):
        train(tiny_config(max_epochs=2), TREES, TREES, folder, resume=True)
    assert (folder / "model.safetensors").read_bytes() == before


def test_a_run_that_ended_before_its_first_checkpoint_starts_again(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    (folder / CHECKPOINT).unlink()  # the model and the log are there, as after an error
    train(tiny_config(max_epochs=1), TREES, TREES, folder, resume=True)
    killed = tmp_path / "killed"
    killed.mkdir()
    (killed / "log.jsonl").write_text('{"step": 3, "epoch": 1.0}\n')
    train(tiny_config(max_epochs=1), TREES, TREES, killed, resume=True)
    assert [log_of(path)[-1]["epoch"] for path in (folder, killed)] == [1.0, 1.0]


def test_a_run_without_its_checkpoint_goes_on_with_the_same_configuration_alone_and_loses_no_better_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "model"
    scripted(monkeypatch, 8)
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    weights = (folder / "model.safetensors").read_bytes()
    (folder / CHECKPOINT).unlink()
    with pytest.raises(UsageError, match="a different config"):
        train(tiny_config(max_epochs=1, learning_rate=0.5), TREES, TREES, folder, resume=True)
    scripted(monkeypatch, 7)
    train(tiny_config(max_epochs=1), TREES, TREES, folder, resume=True)
    assert (folder / "model.safetensors").read_bytes() == weights
    (folder / CHECKPOINT).unlink()
    scripted(monkeypatch, 9)
    train(tiny_config(max_epochs=1), TREES, TREES, folder, resume=True)
    assert "90.00" in (folder / "README.md").read_text()


def test_resuming_in_the_folder_of_a_calibrated_model_asks_to_calibrate_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    found = load(folder).config
    change_config(folder, replace(found, eval=replace(found.eval, temperature=0.5)))
    assert "calibrated" not in capsys.readouterr().err
    train(tiny_config(max_epochs=2), TREES, TREES, folder, resume=True)
    assert "calibrate again if training replaces it" in capsys.readouterr().err


def test_a_folder_of_the_user_is_not_trained_into(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("# of the user")
    with pytest.raises(UsageError, match=r"config.toml exists and isn't part of a model"):
        train(tiny_config(max_epochs=1), TREES, TREES, tmp_path)
    assert (tmp_path / "config.toml").read_text() == "# of the user"


def test_a_link_and_the_current_folder_are_trained_into_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, link = tmp_path / "folder", tmp_path / "link"
    folder.mkdir()
    link.symlink_to(folder)
    scripted(monkeypatch, *range(1, 10))
    train(tiny_config(max_epochs=3, checkpoint_minutes=0.0), TREES, TREES, link)
    monkeypatch.chdir(folder)
    parser = train(tiny_config(max_epochs=5, checkpoint_minutes=0.0), TREES, TREES, ".", resume=True)
    assert link.readlink() == folder
    assert [check["epoch"] for check in log_of(folder)] == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert len(parser.parse([["A", "test"]])) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder", "link"]


def test_resuming_with_other_data_or_another_configuration_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    with pytest.raises(UsageError, match="a different training set"):
        train(tiny_config(max_epochs=2), toy_trees(10), TREES, folder, resume=True)
    with pytest.raises(UsageError, match="a different config"):
        train(tiny_config(max_epochs=2, learning_rate=0.5), TREES, TREES, folder, resume=True)


def test_who_may_read_the_model_may_read_the_checkpoint(tmp_path: Path) -> None:
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path / "model")
    modes = {name: (tmp_path / "model" / name).stat().st_mode for name in ("config.toml", CHECKPOINT)}
    assert modes[CHECKPOINT] == modes["config.toml"]


def test_figures_are_rounded_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DevSet, "score", lambda *_: DevScore(matched=319_541, gold=10_000_000, predicted=10_000_000))
    train(tiny_config(max_epochs=1), TREES, TREES, tmp_path / "model")
    assert "| development F1 | 3.20 " in (tmp_path / "model" / "README.md").read_text()


def test_lines_logged_after_the_checkpoint_are_dropped_on_resuming(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    train(tiny_config(max_epochs=1), TREES, TREES, folder)
    with (folder / "log.jsonl").open("a") as log:
        log.write('{"step": 999, "epoch": 333.0}\n{"step": 1002, "ep')
    train(tiny_config(max_epochs=2), TREES, TREES, folder, resume=True)
    assert [check["epoch"] for check in log_of(folder)] == [1.0, 2.0]


def test_labels_of_development_trees_never_seen_in_training_are_counted_and_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    strange = Tree.from_string("(TOP (XYZ (NN a) (QQQ (NN b) (NN c))))")
    train(tiny_config(max_epochs=1), TREES, [*TREES, strange], tmp_path / "model")
    message = "labels never seen in training make 2 development constituents impossible to find: XYZ (1), QQQ (1)\n"
    assert message in capsys.readouterr().err


def test_a_loss_that_is_not_a_number_stops_the_run_with_advice(tmp_path: Path) -> None:
    with pytest.raises(TrainingError, match="the loss is") as caught:
        train(tiny_config(learning_rate=1e30, max_epochs=9, warmup_batches=0), TREES, TREES, tmp_path / "model")
    assert "train.learning_rate" in (caught.value.hint or "")


def test_training_that_loses_what_it_had_found_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(loss: float, f1: float) -> Check:
        return Check(1, 1.0, 1.0, loss, f1, f1, f1, 0.001, 1.0)

    assert check(40.0, 50.0).is_far_behind(check(10.0, 80.0))
    assert not check(15.0, 50.0).is_far_behind(check(10.0, 80.0))
    assert not check(40.0, 78.0).is_far_behind(check(10.0, 80.0))
    config = tiny_config(learning_rate=0.01, max_epochs=30, warmup_batches=0, patience_epochs=99)
    train(config, TREES, TREES, tmp_path / "good")
    assert "far behind" not in capsys.readouterr().err
    monkeypatch.setattr(Schedule, "rate", lambda self, step, config: 0.01 if step < 60 else 1.0)
    train(config, TREES, TREES, tmp_path / "wild")
    assert "a lower train.learning_rate may make training steadier" in capsys.readouterr().err


def test_running_out_of_memory_names_the_field_to_lower(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def burst(self: Trainer, batch: list[int]) -> None:
        raise torch.OutOfMemoryError("CUDA out of memory")

    monkeypatch.setattr(Trainer, "step", burst)
    with pytest.raises(TrainingError, match="out of memory at step 1") as caught:
        train(tiny_config(), TREES, TREES, tmp_path / "model")
    assert "train.batch_tokens" in (caught.value.hint or "")


def test_training_on_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TrainingError):
        train(tiny_config(), [], TREES, tmp_path / "model")


def test_trees_without_a_phrase_teach_nothing(tmp_path: Path) -> None:
    flat = [Tree.from_string("(TOP (X a) (Y b))")]
    with pytest.raises(TrainingError, match="no tree has a labelled phrase below its root"):
        train(tiny_config(), flat, flat, tmp_path)


def start_command(tmp_path: Path, *more: str) -> list[str]:
    Treebank(TREES).save(tmp_path / "trees.txt")
    (tmp_path / "tiny.toml").write_text(config_to_toml(tiny_config()))
    trees = str(tmp_path / "trees.txt")
    command = [sys.executable, "-m", "fencepost", "train", str(tmp_path / "tiny.toml"), "--train", trees]
    return [*command, "--dev", trees, "--out", str(tmp_path / "model"), *more]


def test_ctrl_c_keeps_what_was_done_and_the_run_can_go_on(tmp_path: Path) -> None:
    log = tmp_path / "model" / "log.jsonl"
    process = subprocess.Popen(start_command(tmp_path), stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + PATIENCE
    while not (log.exists() and log.read_text().count("\n") >= 3):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in messages
    assert (tmp_path / "model" / CHECKPOINT).exists()
    done = log_of(tmp_path / "model")[-1]["epoch"]
    again = start_command(tmp_path, "--resume", "--set", f"train.max_epochs={int(done) + 2}")
    subprocess.run(again, check=True, capture_output=True, timeout=PATIENCE)
    epochs = [check["epoch"] for check in log_of(tmp_path / "model")]
    assert epochs == [float(number) for number in range(1, int(done) + 3)]


def test_two_processes_stopped_and_resumed_train_as_one_does(tmp_path: Path) -> None:
    alone, together = tmp_path / "alone", tmp_path / "together"
    train(tiny_config_without_dropout(), TREES, TREES, alone)
    Treebank(TREES).save(tmp_path / "trees.txt")
    (tmp_path / "tiny.toml").write_text(config_to_toml(tiny_config_without_dropout()))
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    trees = str(tmp_path / "trees.txt")
    command = ["-m", "fencepost", "train", str(tmp_path / "tiny.toml"), "--train", trees, "--dev", trees]
    for more in (["--set", "train.max_minutes=0"], ["--resume"]):
        ended = subprocess.run(
            [*torchrun, *command, "--out", str(together), *more],
            check=True,
            capture_output=True,
            timeout=PATIENCE,
            text=True,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        assert ended.stderr.count(f"the best model is in {together}") == 1
    one, (stopped, *two) = log_of(alone), log_of(together)
    assert stopped["step"] == 1
    assert len(one) == len(two) == 3
    assert [check["loss"] for check in one] == pytest.approx([check["loss"] for check in two], rel=1e-3)


def tiny_config_without_dropout() -> Config:
    return small_without_dropout(max_epochs=3, batch_size=4, checks_per_epoch=1)
