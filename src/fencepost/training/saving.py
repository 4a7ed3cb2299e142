"""Saves what a run leaves in its folder, the best model and a checkpoint, and resumes a run from there."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from fencepost.storage.model_files import CHECKPOINT
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.card import model_card
from fencepost.training.check import Check
from fencepost.training.checkpoint import damage_named, read_checkpoint, restore, save_checkpoint
from fencepost.training.clock import Clock
from fencepost.training.provenance import Provenance
from fencepost.training.schedule import Schedule
from fencepost.training.trainer import Trainer
from fencepost.training.weights import read_check, read_fingerprints, save_weights


def save_best_model(trainer: Trainer, out: Path) -> None:
    """Writes the model folder if a check has found a better model since it was last written."""
    if trainer.best_weights is None or trainer.best_check is None or not trainer.team.leads:
        return
    start = "" if trainer.start is None else f", starting from `{trainer.start.path.name}`"
    data = f"{len(trainer.data):,} trees{start}, and chosen by its score on {len(trainer.dev):,} others"
    save_weights(
        out,
        trainer.config,
        trainer.vocabularies,
        model_card(trainer.config, trainer.vocabularies, data, asdict(trainer.best_check)),
        trainer.best_weights,
        trainer.best_check,
        trainer.provenance.fingerprints,
    )
    trainer.best_weights = None


def save_run(trainer: Trainer, out: Path) -> None:
    """Writes the best model, and a checkpoint from which a run resumes exactly here."""
    loss_sum = trainer.finite_loss_sum()  # no run should resume from weights that are not numbers
    if not trainer.team.leads:
        return
    save_best_model(trainer, out)
    out.mkdir(parents=True, exist_ok=True)
    state: dict[str, Any] = {
        "step": trainer.step_number,
        "seconds": trainer.clock.seconds,
        "seconds_since_check": trainer.clock.since_check,
        "loss_sum": loss_sum,
        "schedule": asdict(trainer.schedule),
        "best_check": None if trainer.best_check is None else asdict(trainer.best_check),
        "config": trainer.provenance.config,
        "vocabularies": trainer.provenance.vocabularies,
        "data": trainer.provenance.fingerprints,
    }
    save_checkpoint(out / CHECKPOINT, trainer.masters, trainer.average, trainer.optimizer, state)


def resume_run(trainer: Trainer, out: Path) -> None:
    """Continues from a checkpoint with the same configuration and data.

    The model on disk may come from a check after the checkpoint. The schedule must not see that check, so that the run
    continues as if it had not been interrupted. But only a model that is at least as good replaces the one on disk.
    """
    tensors, state = read_checkpoint(out / CHECKPOINT)
    with damage_named(out / CHECKPOINT):
        before = Provenance(state["vocabularies"], state["config"], state.get("data", {}))
        before.require(trainer.provenance, out / CHECKPOINT)
        restore(tensors, trainer.masters, trainer.average, trainer.optimizer)
        trainer.masters.give_values()
        trainer.step_number = int(_number(state["step"]))
        trainer.schedule = Schedule(**{name: _number(value) for name, value in state["schedule"].items()})
        in_checkpoint = None if state["best_check"] is None else Check(**state["best_check"])
        trainer.best_check = _better(in_checkpoint, read_check(out))
        trainer.loss_sum.fill_(_number(state["loss_sum"]))
        trainer.clock = Clock(_number(state["seconds"]), _number(state["seconds_since_check"]))


def begin_again(trainer: Trainer, out: Path) -> None:
    """Restarts a run that has no checkpoint yet. Only a model that is at least as good replaces the existing one."""
    folder = ModelFolder.open(out)
    before = Provenance.of_model(folder, read_fingerprints(out), temperature=trainer.config.eval.temperature)
    before.require(trainer.provenance, out)
    trainer.best_check = read_check(out)


def _number(value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{value!r:.50} is not a number")
    return value


def _better(in_checkpoint: Check | None, on_disk: Check | None) -> Check | None:
    if on_disk is not None and (in_checkpoint is None or on_disk.f1 > in_checkpoint.f1):
        return on_disk
    return in_checkpoint
