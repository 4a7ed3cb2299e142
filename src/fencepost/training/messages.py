"""What a training run tells the user on standard error."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from fencepost.training.check import Check
from fencepost.training.data import unseen_labels
from fencepost.training.output_folder import is_calibrated
from fencepost.training.trainer import Trainer
from fencepost.trees.tree import Tree

STEADIER: Final = "a lower train.learning_rate may make training steadier"


def begin(trainer: Trainer, dev_trees: Sequence[Tree], origin: str, out: Path) -> None:
    """Reports sizes and where the weights come from, and warns about the folder and the development trees."""
    if is_calibrated(out):
        _say("note: the model in this folder is calibrated; calibrate again if training replaces it")
    parameters = sum(parameter.numel() for parameter in trainer.parameters)
    _say(
        f"{len(trainer.data):,} training trees, {len(trainer.dev):,} development trees, "
        f"{len(trainer.vocabularies.labels):,} labels, {parameters:,} parameters; {origin}"
    )
    if unseen := unseen_labels(dev_trees, trainer.vocabularies):
        worst = ", ".join(f"{label} ({count})" for label, count in sorted(unseen.items(), key=lambda i: -i[1])[:5])
        more = f", … ({len(unseen)} labels)" if len(unseen) > 5 else ""
        missed = sum(unseen.values())
        _say(
            f"warning: labels never seen in training make {missed:,} development constituent{'s' * (missed > 1)} "
            f"impossible to find: {worst}{more}"
        )


def checked(check: Check, best: Check | None) -> None:
    functions = "" if check.function_f1 is None else f"  functions {check.function_f1:.2f}"
    _say(f"epoch {check.epoch:.2f}  loss {check.loss:.3f}  development F1 {check.f1:.2f}{functions}")
    if best is not None and check.is_far_behind(best):
        _say(f"warning: this is far behind epoch {best.epoch:.2f}, whose weights are kept; {STEADIER}")


def end(trainer: Trainer) -> None:
    best = trainer.best_check
    if best is None:
        return
    _say(f"best development F1 {best.f1:.2f}, at epoch {best.epoch:.2f}; ended after {trainer.clock.seconds:.0f} s")
    if not trainer.finished() and best.step == trainer.step_number:
        _say("the last check was the best: more training may help (train.max_epochs, train.max_minutes)")


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")
