"""A whole run of training, with its log, its checkpoints, its time budget and its interruptions."""

from __future__ import annotations

import gc
import io
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Final

import torch

from fencepost.backends.torch import find_device
from fencepost.config.settings import Config
from fencepost.config.toml import load_config
from fencepost.errors import ConfigError, TrainingError, UsageError
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.progress import Progress
from fencepost.storage.lock import locked
from fencepost.storage.model_folder import CHECKPOINT, CONFIG, ModelFolder, listed, recover, require_room
from fencepost.storage.text_files import new_folder
from fencepost.training.data import unseen_labels
from fencepost.training.distributed import Team, own_device, team
from fencepost.training.interruptions import interruptions
from fencepost.training.trainer import Trainer
from fencepost.trees.tree import Tree

LOG: Final = "log.jsonl"
_RUNNING: Final = ".fencepost-training"  # file in the folder, while a run goes on there
STEADIER: Final = "encoder.attention_scale=d_model or a lower train.learning_rate may make training steadier"


def train(
    config: Config,
    train_trees: Sequence[Tree],
    dev_trees: Sequence[Tree],
    out: str | Path,
    *,
    resume: bool = False,
    device: str = "cpu",
    start_from: str | Path | None = None,
) -> Parser:
    """Trains a model into the folder ``out`` and returns the best one. Ctrl-C keeps what was done.

    ``start_from`` is a model trained before, of the same sizes, whose weights it begins with: on another treebank, say.
    """
    out, place = Path(out).resolve(), own_device(find_device(device))
    config = replace(config, eval=replace(config.eval, temperature=1.0))  # it was fitted to other weights
    if not train_trees or not dev_trees:
        raise TrainingError("there must be training trees and development trees")
    with _borrowed_process(place), team(place) as our_team, _alone_in(out, our_team):
        if our_team.leads:
            recover(out)
        checkpoint = bool(our_team.agreed((out / CHECKPOINT).exists()))
        if checkpoint and not resume:
            raise UsageError(f"{out} holds a training run", hint="--resume to go on with it, or give another folder")
        ours = resume and (out / LOG).exists()  # a run that ended before its first checkpoint
        if our_team.agreed(bool(listed(out)) and not checkpoint and not ours):
            raise UsageError(f"{out} holds a model already", hint="give another folder, or remove that one first")
        require_room(out)
        if our_team.agreed(not resume and _says_something(out / LOG)):
            raise UsageError(
                f"{out / LOG} is there, and not of this run",
                hint="give another folder, or move that file; --resume if it is of a run that ended early",
            )
        start = None if start_from is None else ModelFolder.open(start_from)
        if start is not None and start.path.resolve() == out.resolve():
            raise UsageError(f"{out} would be overwritten by what starts from it", hint="give another folder")
        trainer = Trainer(config, train_trees, dev_trees, place, our_team, start)
        if checkpoint:
            trainer.resume(out)
        elif our_team.agreed(bool(listed(out))):
            trainer.begin_again(out)
        if our_team.leads and _is_calibrated(out):
            _say("note: the model there is calibrated; one that takes its place has to be calibrated again")
        gc.freeze()  # the treebank stays: no use in walking it again and again for garbage
        if our_team.leads:
            where = f"resumed at step {trainer.step_number}" if checkpoint else f"from {start_from or 'fresh weights'}"
            _introduce(trainer, dev_trees, where)
        _run(trainer, out)
        if our_team.leads and trainer.best_check is not None:
            best = trainer.best_check
            _say(f"best development F1 {best.f1:.2f}, at epoch {best.epoch:.2f}; ended after {trainer.seconds:.0f} s")
            if not trainer.finished() and best.step == trainer.step_number:
                _say("the last check was the best: more training may help (train.max_epochs, train.max_minutes)")
        our_team.wait()  # for the leader's files
    return load(out, device=str(place))


@contextmanager
def _alone_in(out: Path, team: Team) -> Iterator[None]:
    """Keeps other runs out of the folder, which is there from now on."""
    with ExitStack() as stack:
        taken = False
        if team.leads:
            stack.enter_context(new_folder(out))
            try:
                stack.enter_context(locked(out / _RUNNING, wait=False))
            except BlockingIOError:
                taken = True
        if team.agreed(taken):
            raise UsageError(f"another process is training in {out}", hint="wait for it, or give another folder")
        yield


def _is_calibrated(folder: Path) -> bool:
    try:
        return bool(listed(folder)) and load_config(folder / CONFIG).eval.temperature != 1
    except ConfigError:  # a damaged model; a better one will take its place
        return False


def _run(trainer: Trainer, out: Path) -> None:
    saved = time.monotonic()
    checked, interrupted = True, False
    with _log(trainer, out) as log, interruptions() as signals, Progress("training", unit="sentences") as bar:
        try:
            for batch in trainer.batches():
                trainer.step(batch)
                bar.advance(len(batch))
                if checked := trainer.check_is_due():
                    _check(trainer, log, bar)
                interrupted = bool(trainer.team.agreed(bool(signals)))
                if interrupted or trainer.out_of_time():
                    break
                if time.monotonic() - saved > 60 * trainer.config.train.checkpoint_minutes:
                    trainer.save(out)
                    saved = time.monotonic()
            trainer.save(out)
            if interrupted:
                raise KeyboardInterrupt
            if not checked:
                # After the checkpoint, which has to be that of a run that went on: it would not have checked here.
                _check(trainer, log, bar)
        except torch.OutOfMemoryError as error:
            raise TrainingError(
                f"out of memory at step {trainer.step_number + 1}",
                hint=f"lower train.batch_tokens (now {trainer.config.train.batch_tokens}); batches stay the same",
            ) from error
        finally:
            trainer.save_best(out)
    if trainer.best_check is None:
        raise TrainingError("training ended before the first check", hint="raise train.max_epochs")


def _check(trainer: Trainer, log: IO[str] | None, bar: Progress) -> None:
    check = trainer.check()
    if log is not None:
        log.write(json.dumps(asdict(check)) + "\n")
        log.flush()
    if trainer.team.leads:
        bar.clear()
        _say(f"epoch {check.epoch:.2f}  loss {check.loss:.3f}  development F1 {check.f1:.2f}")
        best = trainer.best_check
        if best is not None and check.is_far_behind(best):
            _say(f"warning: this is far behind epoch {best.epoch:.2f}, whose weights are kept; {STEADIER}")


def _introduce(trainer: Trainer, dev_trees: Sequence[Tree], where: str) -> None:
    parameters = sum(parameter.numel() for parameter in trainer.parameters)
    _say(
        f"{len(trainer.data):,} training trees, {len(trainer.dev):,} development trees, "
        f"{len(trainer.vocabularies.labels):,} labels, {parameters:,} parameters; {where}"
    )
    if unseen := unseen_labels(dev_trees, trainer.vocabularies):
        worst = ", ".join(f"{label} ({count})" for label, count in sorted(unseen.items(), key=lambda i: -i[1])[:5])
        more = ", …" if len(unseen) > 5 else ""
        _say(
            f"warning: {sum(unseen.values())} development constituents have one of {len(unseen)} labels "
            f"never seen in training, and can't be found: {worst}{more}"
        )


def _say(message: str) -> None:
    sys.stderr.write(message + "\n")


@contextmanager
def _borrowed_process(device: torch.device) -> Iterator[None]:
    """Puts back what training changes for the whole process."""
    deterministic = torch.are_deterministic_algorithms_enabled()
    warns = torch.is_deterministic_algorithms_warn_only_enabled()
    benchmark = torch.backends.cudnn.benchmark
    on_cuda = device.type == "cuda"
    # Recordings and Triton's kernels run on the current device, whatever device their tensors are on.
    current = torch.cuda.device(device) if on_cuda else nullcontext()
    with current, torch.random.fork_rng(devices=[device] if on_cuda else []):
        try:
            yield
        finally:
            torch.use_deterministic_algorithms(deterministic, warn_only=warns)
            torch.backends.cudnn.benchmark = benchmark
            gc.unfreeze()


@contextmanager
def _log(trainer: Trainer, out: Path) -> Iterator[IO[str] | None]:
    """The log, without the lines of checks after the checkpoint that a run goes on from."""
    if not trainer.team.leads:
        yield None
        return
    path = (out / LOG).resolve()  # a link stays one
    before = [*io.BytesIO(path.read_bytes())] if path.exists() else []
    kept = [line for line in before if _stays(line, trainer.step_number)]
    if kept != before:
        beside = path.with_name(f".fencepost-{LOG}")
        beside.write_bytes(b"".join(kept))
        os.replace(beside, path)
    with path.open("a", encoding="utf-8") as file:
        yield file


def _says_something(log: Path) -> bool:
    """A run that ended before its first check leaves an empty one, which is in nobody's way."""
    return log.exists() and log.stat().st_size > 0


def _stays(line: bytes, step: int) -> bool:
    """Whether a line of the log is of a check up to this step, or none that we wrote."""
    if not line.endswith(b"\n"):
        return False  # cut short by a crash
    try:
        return bool(json.loads(line)["step"] <= step)
    except (ValueError, KeyError, TypeError):
        return True
