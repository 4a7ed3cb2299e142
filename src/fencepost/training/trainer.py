"""Training, as the paper's appendix has it: Adam, warm-up, halving, the best check on development data kept."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from fencepost.backends.charts import decode, inside
from fencepost.backends.torch import TorchBackend, at_precision, vocab_sizes
from fencepost.config.settings import Config
from fencepost.config.toml import config_to_toml
from fencepost.errors import TrainingError
from fencepost.evaluation.brackets import Brackets
from fencepost.evaluation.params import load_params
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.cuda import available
from fencepost.model.cuda.graphs import CudaGraphs
from fencepost.model.encoder import SelfAttentiveEncoder
from fencepost.model.loss import crf_loss, margin_loss
from fencepost.model.parser_model import TorchBatch
from fencepost.model.plan import AttentionPlan
from fencepost.model.precision import Masters, lower
from fencepost.model.pretrained import Pretrained, load_pretrained, pretrained_parts
from fencepost.storage.model_folder import CHECKPOINT, ModelFolder
from fencepost.training.average import Average
from fencepost.training.card import model_card
from fencepost.training.check import Check
from fencepost.training.checkpoint import (
    check_of_weights,
    data_of_weights,
    read_checkpoint,
    restore,
    save_checkpoint,
    save_weights,
)
from fencepost.training.data import TrainingSet
from fencepost.training.dev import DevSet
from fencepost.training.distributed import Team
from fencepost.training.optimizer import adam
from fencepost.training.prefetch import Prefetch
from fencepost.training.provenance import Provenance, tree_fingerprints
from fencepost.training.schedule import Schedule
from fencepost.training.start import require_same_form, start_from
from fencepost.trees.tree import Tree

LOSSES: Final = {"margin": partial(margin_loss, decode=decode), "crf": partial(crf_loss, inside=inside)}


@dataclass(frozen=True)
class Piece:
    """A part of a batch, small enough for memory, with its answers, on the device."""

    batch: TorchBatch
    labels: Tensor  # [S] gold label of every span
    tags: Tensor  # [W] gold tag of every word


class Trainer:
    """A model, its optimizer and its data. ``for batch in batches(): step(batch)``, and ``check()`` when due."""

    def __init__(
        self,
        config: Config,
        train: Sequence[Tree],
        dev: Sequence[Tree],
        device: torch.device,
        team: Team | None = None,
        start: ModelFolder | None = None,
    ) -> None:
        self.config, self.device, self.team = config, device, team or Team()
        self._started_from = None if start is None else start.path.name
        seed_everything(config)
        if start is not None:
            require_same_form(start, config)
        self.vocabularies = Vocabularies.of(train, config, None if start is None else start.vocabularies)
        if len(self.vocabularies.labels) == 1:  # the empty one
            raise TrainingError("no tree has a labelled phrase below its root", hint="are these the right trees?")
        self._digests = tree_fingerprints(train, dev)
        indexer = Indexer(config, self.vocabularies)
        self.data = TrainingSet(train, indexer)
        self.dev = DevSet(dev, indexer, load_params(config.eval.params))
        self.model = build_model(config, vocab_sizes(self.vocabularies)).to(device)
        if start is None:
            load_pretrained(self.model, config.pretrained.model)
        else:
            start_from(start, self.model)
        self.masters = Masters(self.model, lower(self.model) if config.train.precision == "bf16" else {})
        self.parameters = self.masters.parameters
        self.average = Average(self.masters, config.train.average)
        self.backend = TorchBackend(self.model, config, device, config.train.precision)
        self.optimizer = adam(self.model, self.masters, config)
        self.schedule = Schedule()
        self.step_number = 0
        self._order, self._order_of = [0], -1  # the order of sentences in an epoch, and which epoch
        self.batches_an_epoch = -(-len(self.data) // config.train.batch_size)
        self.steps_a_check = max(1, round(self.batches_an_epoch / config.train.checks_per_epoch))
        self.best_weights: dict[str, Tensor] | None = None  # of the best check, while they are not on disk
        self.best_check: Check | None = None
        self._loss_sum = torch.zeros((), device=device)
        self._began = self._last_check = time.monotonic()
        self._plan = AttentionPlan.of(config.train.plan)
        self._ahead = Prefetch(self._prepare)
        self._cuda_graphs = self._layers_to_record()
        self.model.train()

    def _layers_to_record(self) -> list[tuple[SelfAttentiveEncoder | Pretrained, CudaGraphs]]:
        if not available.graphs(self.device, self.config.train.precision):
            return []
        parts = [self.model.encoder, *pretrained_parts(self.model)]
        able = [part for part in parts if isinstance(part, (SelfAttentiveEncoder, Pretrained))]
        return [(part, CudaGraphs(layers)) for part in able if (layers := part.to_record()) is not None]

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._began

    def batches(self) -> Iterator[list[int]]:
        """Sentences of each batch from here on, each epoch in an order of its own that depends on the seed alone."""
        limit = self.config.train.max_epochs
        while not self.finished() and (limit is None or self.step_number < limit * self.batches_an_epoch):
            yield self._batch(self.step_number)

    def _batch(self, step: int) -> list[int]:
        epoch, done = divmod(step, self.batches_an_epoch)
        if epoch != self._order_of:
            random = np.random.default_rng([self.config.train.seed, epoch])
            self._order, self._order_of = random.permutation(len(self.data)).tolist(), epoch
        size = self.config.train.batch_size
        return self._order[done * size : (done + 1) * size]

    def step(self, batch: list[int]) -> None:
        """One step of Adam on a batch of sentences, in as many pieces as memory asks for."""
        train = self.config.train
        if not self.model.training:  # to say so to each of a hundred modules takes a while
            self.model.train()
        # Dropout depends on the step and the process alone, so that a run goes on exactly from its number of steps.
        seeds = np.random.SeedSequence([train.seed, self.step_number, self.team.rank])
        _seed(int(seeds.generate_state(1, np.uint64)[0]), self.device)
        total = torch.zeros((), device=self.device)
        words = sum(self.data.lengths[place] for place in batch)
        prepared = self._ahead.get(batch)
        for part, graphs in self._cuda_graphs:
            part.cuda_graphs = graphs if len(prepared) == 1 else None
        for number, piece in enumerate(prepared):
            loss = self._loss(piece, len(batch), words)
            if number == 0:  # from now on the backward pass leaves the interpreter free for another thread
                self._ahead.begin(self._batch(self.step_number + 1))
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        self.masters.take_gradients()
        self._loss_sum += self.team.sum_gradients(self.parameters, total)
        if train.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.parameters, train.clip_norm)
        self.step_number += 1
        for group in self.optimizer.param_groups:
            group["lr"] = group["share"] * self.schedule.rate(self.step_number, train)
        self.optimizer.step()
        self.masters.give_values()
        self.average.update(self.step_number)
        self.optimizer.zero_grad(set_to_none=True)

    def _prepare(self, batch: list[int]) -> list[Piece]:
        """The share of this process in a batch, as tensors."""
        mine = self.team.share(batch)
        prepared = []
        for places in pieces([self.data.lengths[place] for place in mine], self.config.train.batch_tokens):
            gold = self.data.batch([mine[place] for place in places])
            tensors = TorchBatch.of(gold.sentences, self.device)
            prepared.append(Piece(tensors, _on(self.device, gold.labels), _on(self.device, gold.tags)))
        return prepared

    def _loss(self, piece: Piece, sentences: int, words: int) -> Tensor:
        """What some sentences add to the mean loss of a batch of so many sentences and words."""
        config = self.config
        with at_precision(config.train.precision, self.device):
            output = self.model(piece.batch, self._plan)
        losses = LOSSES[config.train.loss](
            output.span_scores, piece.labels, piece.batch.lengths, config.scorer.force_root
        )
        loss = losses.sum() / sentences
        if output.tag_scores is not None:
            tag_loss = cross_entropy(output.tag_scores, piece.tags, reduction="sum") / words
            loss = loss + config.train.tag_loss_weight * tag_loss
        return loss

    def check_is_due(self) -> bool:
        return self.step_number % self.steps_a_check == 0

    def check(self) -> Check:
        """Parses the development set; keeps the weights if they are the best so far."""
        steps = (self.step_number - 1) % self.steps_a_check + 1
        loss = self._finite_loss() / steps
        trained = time.monotonic() - self._last_check
        sentences = steps * self.config.train.batch_size
        epoch = self.step_number / self.batches_an_epoch
        with self.average.in_place():
            score = self.dev.score(self.backend) if self.team.leads else Brackets(0, 0, 0)
            check = Check(
                step=self.step_number,
                epoch=round(epoch, 3),
                seconds=round(self.seconds, 3),
                loss=loss,
                precision=score.precision,
                recall=score.recall,
                f1=score.f1,
                learning_rate=self.schedule.rate(self.step_number, self.config.train),
                sentences_per_second=round(sentences / trained, 1),
            )
            train = self.config.train
            warming = self.step_number <= train.warmup_batches
            is_best = self.schedule.record(self.team.agreed(score.f1), epoch, train, warming=warming)
            # In a run that was resumed a better model may be on disk that the schedule must not know of: see resume.
            if is_best and (self.best_check is None or check.f1 >= self.best_check.f1):
                self.best_weights = {name: tensor.clone() for name, tensor in self.masters.state_dict().items()}
                self.best_check = check
        self._loss_sum.zero_()
        self._last_check = time.monotonic()
        return check

    def _finite_loss(self) -> float:
        """The losses since the last check, added up; what is not a number ends the training."""
        loss = float(self._loss_sum)
        if not math.isfinite(loss):
            raise TrainingError(
                f"the loss is {loss} at step {self.step_number}",
                hint="try a lower train.learning_rate, encoder.attention_scale=d_model, or train.precision=fp32",
            )
        return loss

    def finished(self) -> bool:
        return self.schedule.exhausted(self.config.train)

    def out_of_time(self) -> bool:
        minutes = self.config.train.max_minutes
        return minutes is not None and bool(self.team.agreed(float(self.seconds > 60 * minutes)))

    # Files

    def save_best(self, out: Path) -> None:
        """Writes the model folder, if a better model came since it was last written."""
        if self.best_weights is None or self.best_check is None or not self.team.leads:
            return
        first = "" if self._started_from is None else f", from the weights of `{self._started_from}`"
        sizes = f"{len(self.data):,} trees{first}; the best of its checks on {len(self.dev):,} others"
        card = model_card(self.config, self.vocabularies, sizes, asdict(self.best_check))
        save_weights(out, self.config, self.vocabularies, card, self.best_weights, self.best_check, self._digests)
        self.best_weights = None

    def save(self, out: Path) -> None:
        """Writes the best model and all that is needed to go on from here exactly."""
        loss_sum = self._finite_loss()  # nobody wants to go on from weights that are no numbers
        if not self.team.leads:
            return
        self.save_best(out)
        out.mkdir(parents=True, exist_ok=True)
        state: dict[str, Any] = {
            "step": self.step_number,
            "seconds": self.seconds,
            "seconds_since_check": time.monotonic() - self._last_check,
            "loss_sum": loss_sum,
            "schedule": asdict(self.schedule),
            "best_check": None if self.best_check is None else asdict(self.best_check),
            "config": config_to_toml(self.config),
            "vocabularies": self.vocabularies.to_json(),
            "data": self._digests,
        }
        save_checkpoint(out / CHECKPOINT, self.masters, self.average, self.optimizer, state)

    def resume(self, out: Path) -> None:
        """Goes on from a checkpoint of the same configuration and data.

        The model on disk may come from a check after the checkpoint. The schedule doesn't know of that check, so that
        all goes on as if there had been none; but only a model that is as good takes the place of that one.
        """
        tensors, state = read_checkpoint(out / CHECKPOINT)
        before = Provenance(state["vocabularies"], state["config"], state.get("data", {}))
        before.require(self._provenance(), out / CHECKPOINT)
        restore(tensors, self.masters, self.average, self.optimizer)
        self.masters.give_values()
        self.step_number = state["step"]
        self.schedule = Schedule(**state["schedule"])
        known = None if state["best_check"] is None else Check(**state["best_check"])
        on_disk = check_of_weights(out)
        self.best_check = on_disk if on_disk is not None and (known is None or on_disk.f1 > known.f1) else known
        self._loss_sum.fill_(state["loss_sum"])
        self._began = time.monotonic() - state["seconds"]
        self._last_check = time.monotonic() - state["seconds_since_check"]

    def begin_again(self, out: Path) -> None:
        """Where a run left a model but no checkpoint, only a model that is as good takes the place of that one."""
        folder = ModelFolder.open(out)
        config = replace(folder.config, eval=replace(folder.config.eval, temperature=self.config.eval.temperature))
        before = Provenance(folder.vocabularies.to_json(), config_to_toml(config), data_of_weights(out))
        before.require(self._provenance(), out)
        self.best_check = check_of_weights(out)

    def _provenance(self) -> Provenance:
        return Provenance(self.vocabularies.to_json(), config_to_toml(self.config), self._digests)


def seed_everything(config: Config) -> None:
    torch.manual_seed(config.train.seed)
    if config.train.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS asks for it
    torch.use_deterministic_algorithms(config.train.deterministic)
    torch.backends.cudnn.benchmark = False


def _seed(seed: int, device: torch.device) -> None:
    """``torch.manual_seed`` for the devices in use alone: it goes through all that there might be."""
    torch.default_generator.manual_seed(seed)
    if device.type == "cuda":
        with torch.cuda.device(device):
            torch.cuda.manual_seed(seed)


def _on(device: torch.device, array: np.ndarray[Any, np.dtype[np.int64]]) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
