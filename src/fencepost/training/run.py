"""One training run from start to end: the folder, the trainer, the loop of steps, checks and checkpoints."""

from __future__ import annotations

import gc
import time
from collections.abc import Sequence
from contextlib import ExitStack, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import IO

import torch

from fencepost.backends.torch import find_device
from fencepost.config.settings import Config
from fencepost.errors import TrainingError, UsageError
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.progress import Progress
from fencepost.storage.model_folder import ModelFolder
from fencepost.training import messages
from fencepost.training.distributed import own_device, team
from fencepost.training.interruptions import interruption, interruptions
from fencepost.training.log import is_logged, open_log, write_check
from fencepost.training.output_folder import FolderState, alone_in, open_folder
from fencepost.training.prefetch import batch_process
from fencepost.training.process_state import restored_process
from fencepost.training.saving import begin_again, resume_run, save_best_model, save_run
from fencepost.training.trainer import Trainer
from fencepost.trees.tree import Tree


def run_training(
    config: Config,
    train_trees: Sequence[Tree],
    dev_trees: Sequence[Tree],
    out: Path,
    *,
    resume: bool,
    device: str,
    start_from: str | Path | None,
) -> Parser:
    """Trains a model into the folder ``out`` and loads the best one. See ``fencepost.train``."""
    out, torch_device = out.resolve(), own_device(find_device(device))
    config = replace(config, eval=replace(config.eval, temperature=1.0))  # it was fitted to other weights
    if not train_trees or not dev_trees:
        raise TrainingError("training needs both training trees and development trees")
    with (
        restored_process(torch_device),
        team(torch_device) as our_team,
        alone_in(out, our_team),
        ExitStack() as stack,
    ):
        state = open_folder(out, our_team, resume=resume)
        start = None if start_from is None else _open_start(start_from, out)
        process = stack.enter_context(batch_process(torch_device))
        trainer = Trainer(config, train_trees, dev_trees, torch_device, our_team, start, process)
        if state is FolderState.CHECKPOINT:
            resume_run(trainer, out)
        elif state is FolderState.MODEL:
            begin_again(trainer, out)
        gc.freeze()  # the treebank stays in memory, so searching it for garbage is useless
        if our_team.leads:
            resumed = state is FolderState.CHECKPOINT
            origin = f"resumed at step {trainer.step_number}" if resumed else f"from {start_from or 'fresh weights'}"
            messages.begin(trainer, dev_trees, origin, out)
        _loop(trainer, out)
        if our_team.leads:
            messages.end(trainer)
        our_team.wait()  # for the leader's files
    # A model of several treebanks parses one at a time.
    return load(out, device=str(torch_device), language=next(iter(trainer.vocabularies.treebanks), None))


def _open_start(start_from: str | Path, out: Path) -> ModelFolder:
    start = ModelFolder.open(start_from)
    if start.path.resolve() == out:
        raise UsageError(f"{out} is the model to start from and would be overwritten", hint="give another folder")
    return start


def _loop(trainer: Trainer, out: Path) -> None:
    """Takes steps until training is finished, out of time or interrupted. Always leaves the best model in ``out``."""
    saved = time.monotonic()
    checked = trainer.check_is_due()  # if not, a resumed run may have died before the check at its end
    interrupted = 0  # the number of a signal
    leads = trainer.team.leads
    with (
        open_log(out, trainer.step_number) if leads else nullcontext() as log,
        interruptions() as signals,
        Progress("training", unit="sentences") as bar,
    ):
        try:
            for batch in trainer.batches():
                trainer.step(batch)
                bar.advance(len(batch))
                if checked := trainer.check_is_due():
                    _check(trainer, log, bar)
                interrupted = int(trainer.team.agreed(signals[0] if signals else 0))
                if interrupted or trainer.out_of_time():
                    break
                if time.monotonic() - saved > 60 * trainer.config.train.checkpoint_minutes:
                    save_run(trainer, out)
                    saved = time.monotonic()
            save_run(trainer, out)
            if interrupted:
                raise interruption(interrupted)
            if not checked:
                # Not before the checkpoint: a longer run wouldn't check here, and resuming must equal a longer run.
                # A resumed run may have died after this check but before its model was written.
                _check(trainer, None if is_logged(out, trainer.step_number) else log, bar)
        except torch.OutOfMemoryError as error:
            raise TrainingError(
                f"out of memory at step {trainer.step_number + 1}",
                hint=f"lower train.batch_tokens (now {trainer.config.train.batch_tokens}): batches stay the same",
            ) from error
        finally:
            save_best_model(trainer, out)
    if trainer.best_check is None:
        raise TrainingError("training ended before the first check", hint="raise train.max_epochs")


def _check(trainer: Trainer, log: IO[str] | None, bar: Progress) -> None:
    check = trainer.check()
    if log is not None:
        write_check(log, check)
    if trainer.team.leads:
        bar.clear()
        messages.checked(check, trainer.best_check)
