"""Trains a parser on the probabilities of labelled spans and tags: a teacher's, or those of gold trees, which are 1.

The length of a run is fixed beforehand, in steps or in minutes. The learning rate rises and then falls to 0.
"""

from __future__ import annotations

import gc
import json
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from mixture import Mixture
from prefetch import Prefetch
from targets import Beliefs as HostBeliefs
from targets import FunctionBeliefs
from torch import Tensor

from fencepost.backends.charts import decode, inside
from fencepost.backends.torch import TorchBackend, at_precision, vocab_sizes
from fencepost.config.settings import Config
from fencepost.evaluation.params import load_params
from fencepost.features.batch import Batch
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.loss import Beliefs, function_loss, margin_loss, soft_crf_loss
from fencepost.model.parser_model import ModelOutput, ParserModel, TorchBatch, TorchConstituents
from fencepost.model.plan import AttentionPlan
from fencepost.model.precision import Masters, lower
from fencepost.model.pretrained import load_pretrained
from fencepost.storage.model_files import CHECKPOINT
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.average import Average
from fencepost.training.check import Check
from fencepost.training.checkpoint import read_checkpoint, restore, save_checkpoint
from fencepost.training.dev import DevSet
from fencepost.training.log import LOG, open_log
from fencepost.training.optimizer import adam
from fencepost.training.process_state import restored_process, seed_run, seed_step
from fencepost.training.recorded_layers import graphs_of
from fencepost.training.start import start_from
from fencepost.training.weights import read_check, save_weights
from fencepost.trees.tree import Tree

REPORTED: Final = 100  # steps between two lines of the log


@dataclass(frozen=True)
class Length:
    """The length of a run: it ends after ``steps`` or after ``minutes``, whichever comes first."""

    steps: int | None = None
    minutes: float | None = None

    def done(self, step: int, seconds: float) -> float:
        """The part of the run that is done, from 0 to 1."""
        by_steps = 0.0 if self.steps is None else step / self.steps
        by_clock = 0.0 if self.minutes is None else seconds / (60 * self.minutes)
        return min(1.0, max(by_steps, by_clock))

    def rate(self, step: int, seconds: float, warmup: int) -> float:
        """The share of the greatest learning rate: rises linearly in the first steps and falls linearly to 0."""
        rising = min(1.0, (step + 1) / warmup) if warmup else 1.0
        return rising * (1 - self.done(step, seconds))


@dataclass(frozen=True)
class Task:
    """A batch and what to learn about it, on the device."""

    batch: TorchBatch
    beliefs: Beliefs
    words: Tensor
    tags: Tensor
    tag_probabilities: Tensor
    sentences: int
    constituents: TorchConstituents | None = None  # of trees whose functions are known
    functions: Tensor | None = None  # [C, functions] weights, as in ``FunctionBeliefs``


class Fit:
    """A model, its optimizer and its data."""

    def __init__(
        self,
        config: Config,
        vocabularies: Vocabularies,
        mixture: Mixture,
        dev: Sequence[Tree],
        device: torch.device,
        length: Length,
        start: ModelFolder | None = None,
    ) -> None:
        self.config, self.vocabularies, self.mixture = config, vocabularies, mixture
        self.device, self.length = device, length
        seed_run(config)
        self.dev = DevSet(dev, Indexer(config, vocabularies), load_params(config.eval.params))
        self.model: ParserModel = build_model(config, vocab_sizes(vocabularies)).to(device)
        if start is None:
            load_pretrained(self.model, config.pretrained.model)
        else:
            start_from(start, self.model)
        self.masters = Masters(self.model, lower(self.model) if config.train.precision == "bf16" else {})
        self.average = Average(self.masters, config.train.average)
        self.optimizer = adam(self.model, self.masters, config)
        self.backend = TorchBackend(self.model, config, device, config.train.precision)
        self.step_number = 0
        self.best_f1 = -1.0
        self._before = 0.0  # seconds before the checkpoint that this run resumed from
        self._began = time.monotonic()
        self._loss_sum = torch.zeros((), device=device)
        self._mean_loss = 0.0  # of the last steps that were reported
        self._plan = AttentionPlan.of(config.train.plan)
        self._prefetch = Prefetch(self._prepare)
        for part, graphs in graphs_of(self.model, device, config.train.precision):
            part.cuda_graphs = graphs

    @property
    def seconds(self) -> float:
        return self._before + time.monotonic() - self._began

    def run(self, out: Path, checks: int, checkpoint_minutes: float | None = None) -> float:
        """Trains to the end and returns the best F1 of ``checks`` checks on the development set.

        ``out`` has the model of the best check.
        """
        out.mkdir(parents=True, exist_ok=True)
        with restored_process(self.device):
            gc.collect()
            gc.freeze()
            self._run(out, checks, checkpoint_minutes)
        return self.best_f1

    def _run(self, out: Path, checks: int, checkpoint_minutes: float | None) -> None:
        self._began = time.monotonic()
        saved = reported = time.monotonic()
        done = self.length.done(self.step_number, self.seconds)  # more than 0 in a run that was resumed
        next_check = max(1, math.ceil(done * checks)) / checks
        steps_since = 0
        while (done := self.length.done(self.step_number, self.seconds)) < 1:
            self.step()
            steps_since += 1
            if self.step_number % REPORTED == 0:
                loss = self._mean_loss = float(self._loss_sum) / REPORTED
                self._loss_sum.zero_()
                speed = steps_since * self.mixture.batch_size / (time.monotonic() - reported)
                line = {"step": self.step_number, "seconds": self.seconds, "loss": loss, "sentences_per_second": speed}
                self._log(out, line)
                reported, steps_since = time.monotonic(), 0
                if not np.isfinite(loss):
                    raise RuntimeError(f"the loss is {loss}")
            if done >= next_check:
                next_check += 1 / checks
                self.check(out)
                reported, steps_since = time.monotonic(), 0
            if checkpoint_minutes is not None and time.monotonic() - saved > 60 * checkpoint_minutes:
                self.save(out)
                saved = time.monotonic()
        self.check(out)

    def step(self) -> None:
        train = self.config.train
        if not self.model.training:
            self.model.train()
        seed_step(train.seed, self.step_number, 0, self.device)
        loss = self._loss(self._prefetch.get(self.step_number))
        self._prefetch.begin(self.step_number + 1)
        loss.backward()  # type: ignore[no-untyped-call]
        self._loss_sum += loss.detach()
        self.masters.take_gradients()
        if train.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.masters.parameters, train.clip_norm)
        rate = train.learning_rate * self.length.rate(self.step_number, self.seconds, train.warmup_batches)
        for group in self.optimizer.param_groups:
            group["lr"] = group["share"] * rate
        self.optimizer.step()
        self.masters.give_values()
        self.step_number += 1
        self.average.update(self.step_number)
        self.optimizer.zero_grad(set_to_none=True)

    def _prepare(self, step: int) -> Task:
        return self._send(*self.mixture.batch(step))

    def _send(self, batch: Batch, beliefs: HostBeliefs) -> Task:
        arrays = (_on(self.device, array) for array in beliefs[:6])
        cells, labels, probabilities, words, tags, tag_probabilities = arrays
        sent = Beliefs(cells, labels, probabilities)
        sentences = TorchBatch.of(batch, self.device)
        functions = self._send_functions(beliefs.functions)
        return Task(sentences, sent, words, tags, tag_probabilities, len(batch), *functions)

    def _send_functions(self, beliefs: FunctionBeliefs | None) -> tuple[TorchConstituents | None, Tensor | None]:
        known = self.vocabularies.functions
        if beliefs is None or known is None:
            return None, None
        weights = np.zeros((len(beliefs.starts), len(known)), np.float32)
        weights[beliefs.holders, beliefs.functions] = beliefs.probabilities
        return TorchConstituents(*(_on(self.device, array) for array in beliefs[:4])), _on(self.device, weights)

    def _loss(self, task: Task) -> Tensor:
        """The mean over sentences, plus the weighted means over words for tags and functions."""
        with at_precision(self.config.train.precision, self.device):
            output: ModelOutput = self.model(task.batch, self._plan, task.constituents)
        loss = self._span_loss(output.span_scores, task).sum() / task.sentences
        if output.tag_scores is not None:
            likely = output.tag_scores.log_softmax(dim=1)
            places = task.words * likely.shape[1] + task.tags
            tag_loss = -(likely.flatten().index_select(0, places) * task.tag_probabilities).sum() / len(likely)
            loss = loss + self.config.train.tag_loss_weight * tag_loss
        if output.function_scores is not None and task.functions is not None:
            functions = soft_function_loss(output.function_scores, task.functions).sum() / len(task.batch.word_tokens)
            loss = loss + self.config.train.function_loss_weight * functions
        return loss

    def _span_loss(self, scores: Tensor, task: Task) -> Tensor:
        lengths, force_root = task.batch.lengths, self.config.scorer.force_root
        if self.config.train.loss == "crf":
            return soft_crf_loss(scores, task.beliefs, lengths, force_root, inside=inside)
        gold = torch.zeros(len(scores), dtype=torch.int64, device=scores.device)
        gold[task.beliefs.cells] = task.beliefs.labels  # with gold trees alone, where every probability is 1
        return margin_loss(scores, gold, lengths, force_root, decode=decode)

    def check(self, out: Path) -> None:
        """Parses the development set with the average of the weights; saves them if they are the best so far."""
        with self.average.in_place():
            score = self.dev.score(self.backend)
            line = {"step": self.step_number, "seconds": self.seconds, "f1": score.f1}
            line |= {"precision": score.precision, "recall": score.recall}
            self._log(out, line if score.functions is None else line | {"function_f1": score.functions.f1})
            if score.f1 >= self.best_f1:
                self.best_f1 = score.f1
                card = f"# A fencepost model\n\nDevelopment F1 {score.f1:.2f} after {self.step_number} steps.\n"
                found = Check(
                    step=self.step_number,
                    epoch=self.length.done(self.step_number, self.seconds),
                    seconds=self.seconds,
                    loss=self._mean_loss,
                    precision=score.precision,
                    recall=score.recall,
                    f1=score.f1,
                    learning_rate=self.optimizer.param_groups[0]["lr"],
                    sentences_per_second=0.0,
                )
                save_weights(out, self.config, self.vocabularies, card, self.masters.state_dict(), found)

    def save(self, out: Path) -> None:
        state = {"step": self.step_number, "seconds": self.seconds, "best_f1": self.best_f1}
        state["loss_sum"] = float(self._loss_sum)
        save_checkpoint(out / CHECKPOINT, self.masters, self.average, self.optimizer, state)

    def resume(self, out: Path) -> None:
        """Resumes from the checkpoint in ``out``, if there is one.

        The model in ``out`` may come from a check after the checkpoint: only one that is as good replaces it. What the
        log says about steps after the checkpoint is removed, because these steps come again.
        """
        if not (out / CHECKPOINT).exists():
            return
        tensors, state = read_checkpoint(out / CHECKPOINT)
        restore(tensors, self.masters, self.average, self.optimizer)
        self.masters.give_values()
        self.step_number, self._before = state["step"], state["seconds"]
        on_disk = read_check(out)
        self.best_f1 = max(state["best_f1"], -1.0 if on_disk is None else on_disk.f1)
        self._loss_sum.fill_(state.get("loss_sum", 0.0))
        with open_log(out, self.step_number):
            pass

    def _log(self, out: Path, line: dict[str, Any]) -> None:
        rounded = {name: round(value, 4) for name, value in line.items()}
        with (out / LOG).open("a", encoding="utf-8") as file:
            file.write(json.dumps(rounded) + "\n")
        print(out.name, json.dumps(rounded), flush=True)


def soft_function_loss(scores: Tensor, weights: Tensor) -> Tensor:
    """The cross-entropy with a teacher's functions, or ``function_loss`` where the treebank allows several. [C]"""
    is_open = (weights.sum(dim=1) > 1.5)[:, None]
    surprise = -(weights * scores.log_softmax(dim=1)).masked_fill(is_open, 0.0).sum(dim=1)
    return surprise + function_loss(scores, (weights > 0) | ~is_open)


def _on(device: torch.device, array: Any) -> Tensor:
    tensor = torch.from_numpy(np.ascontiguousarray(array))
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
