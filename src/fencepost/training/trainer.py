"""Training as in the paper's appendix: Adam, warm-up, halving; the best check on development data is kept."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import torch
from torch import Tensor

from fencepost.backends.torch import TorchBackend, at_precision, vocab_sizes
from fencepost.config.settings import Config
from fencepost.errors import ModelError, TrainingError
from fencepost.evaluation.params import load_params
from fencepost.features.impossible_labels import ImpossibleLabels
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.model.build import build_model
from fencepost.model.plan import AttentionPlan
from fencepost.model.precision import Masters, lower
from fencepost.model.pretrained import load_pretrained
from fencepost.storage.model_folder import ModelFolder
from fencepost.training.average import Average
from fencepost.training.check import Check
from fencepost.training.clock import Clock
from fencepost.training.data import TrainingSet
from fencepost.training.dev import DevScore, DevSet
from fencepost.training.device_batch import device_batches
from fencepost.training.distributed import Team
from fencepost.training.losses import share_of_loss
from fencepost.training.optimizer import adam
from fencepost.training.order import BatchOrder
from fencepost.training.prefetch import BatchProcess, Prefetch
from fencepost.training.process_state import seed_run, seed_step
from fencepost.training.provenance import Provenance
from fencepost.training.recorded_layers import graphs_of
from fencepost.training.schedule import Schedule
from fencepost.training.start import require_same_form, start_from
from fencepost.trees.tree import Tree

DIVERGED: Final = "try a lower train.learning_rate or train.precision=fp32"


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
        process: BatchProcess | None = None,
    ) -> None:
        """``process`` prepares batches; without it, each step prepares its own."""
        self.config, self.device, self.team, self.start = config, device, team or Team(), start
        seed_run(config)
        if start is not None:
            require_same_form(start, config)
        # Treebank to numbers
        self.vocabularies = Vocabularies.of(train, config, None if start is None else start.vocabularies)
        if len(self.vocabularies.labels) == 1:  # the empty one
            raise TrainingError("no tree has a labelled phrase below its root", hint="are these the right trees?")
        self.provenance = Provenance.of(config, self.vocabularies, train, dev)
        indexer = Indexer(config, self.vocabularies)
        self.data = TrainingSet(train, indexer)
        self._prefetch = Prefetch(self.data, config.train.batch_tokens, process)
        self.dev = DevSet(dev, indexer, load_params(config.eval.params))
        # Model and optimizer
        self.model = build_model(config, vocab_sizes(self.vocabularies)).to(device)
        if start is None:
            load_pretrained(self.model, config.pretrained.model)
        else:
            start_from(start, self.model)
        self.masters = Masters(self.model, lower(self.model) if config.train.precision == "bf16" else {})
        self.parameters = self.masters.parameters
        self.average = Average(self.masters, config.train.average)
        impossible = ImpossibleLabels.of(self.vocabularies)
        self.backend = TorchBackend(self.model, config, device, config.train.precision, impossible)
        self.optimizer = adam(self.model, self.masters, config)
        # How far the run is
        self.schedule = Schedule()
        self.clock = Clock()
        self.step_number = 0
        self.loss_sum = torch.zeros((), device=device)  # over the batches since the last check
        self.best_check: Check | None = None
        self.best_weights: dict[str, Tensor] | None = None  # of the best check, while they are not on disk

        self.order = BatchOrder(len(self.data), config.train.batch_size, config.train.seed)
        self.steps_an_epoch = max(self.order.batches_per_epoch, config.train.shortest_epoch)
        self.steps_a_check = max(1, round(self.steps_an_epoch / config.train.checks_per_epoch))
        self._plan = AttentionPlan.of(config.train.plan)
        self._cuda_graphs = graphs_of(self.model, device, config.train.precision)
        self.model.train()

    def batches(self) -> Iterator[list[int]]:
        """The indices of each batch's sentences, from the current step to the end of training."""
        limit = self.config.train.max_epochs
        while not self.finished() and (limit is None or self.step_number < limit * self.steps_an_epoch):
            yield self.order.batch(self.step_number)

    def step(self, batch: list[int]) -> None:
        """One step of Adam on a batch of sentences, in as many pieces as memory requires."""
        train = self.config.train
        if not self.model.training:  # train() visits a hundred modules, which takes a while
            self.model.train()
        seed_step(train.seed, self.step_number, self.team.rank, self.device)
        total = torch.zeros((), device=self.device)
        words = sum(self.data.lengths[index] for index in batch)
        pieces = device_batches(self._prefetch.get(self.team.share(batch)), self.device)
        self._prefetch.begin(self.team.share(self.order.batch(self.step_number + 1)))
        for part, graphs in self._cuda_graphs:
            part.cuda_graphs = graphs if len(pieces) == 1 else None
        for piece in pieces:
            with at_precision(train.precision, self.device):
                output = self.model(piece.sentences, self._plan, piece.constituents)
            loss = share_of_loss(output, piece, self.config, len(batch), words)
            loss.backward()  # type: ignore[no-untyped-call]
            total += loss.detach()
        self.masters.take_gradients()
        self.loss_sum += self.team.sum_gradients(self.parameters, total)
        if train.clip_norm is not None:
            torch.nn.utils.clip_grad_norm_(self.parameters, train.clip_norm)
        self.step_number += 1
        for group in self.optimizer.param_groups:
            group["lr"] = group["share"] * self.schedule.rate(self.step_number, train)
        self.optimizer.step()
        self.masters.give_values()
        self.average.update(self.step_number)
        self.optimizer.zero_grad(set_to_none=True)

    def check_is_due(self) -> bool:
        return self.step_number % self.steps_a_check == 0

    def check(self) -> Check:
        """Parses the development set; keeps the weights if they are the best so far."""
        train = self.config.train
        steps = (self.step_number - 1) % self.steps_a_check + 1
        loss = self.finite_loss_sum() / steps
        trained = self.clock.since_check
        epoch = self.step_number / self.steps_an_epoch
        with self.average.in_place():
            score = self._dev_score() if self.team.leads else DevScore()
            check = Check(
                step=self.step_number,
                epoch=round(epoch, 3),
                seconds=round(self.clock.seconds, 3),
                loss=loss,
                precision=score.precision,
                recall=score.recall,
                f1=score.f1,
                learning_rate=self.schedule.rate(self.step_number, train),
                sentences_per_second=round(steps * train.batch_size / trained, 1),
                function_f1=None if score.functions is None else score.functions.f1,
            )
            warming = self.step_number <= train.warmup_batches
            is_best = self.schedule.record(self.team.agreed(score.f1), epoch, train, warming=warming)
            # A resumed run may find a better model on disk that the schedule must not see: see ``resume_run``.
            if is_best and (self.best_check is None or check.f1 >= self.best_check.f1):
                self.best_weights = {name: tensor.clone() for name, tensor in self.masters.state_dict().items()}
                self.best_check = check
        self.loss_sum.zero_()
        self.clock.check()
        return check

    def _dev_score(self) -> DevScore:
        try:
            return self.dev.score(self.backend)
        except ModelError as error:
            raise TrainingError(f"at step {self.step_number}, {error.message}", hint=DIVERGED) from error

    def finite_loss_sum(self) -> float:
        """The losses since the last check, added up. Raises TrainingError if the sum is infinite or not a number."""
        loss = float(self.loss_sum)
        if not math.isfinite(loss):
            raise TrainingError(f"the loss is {loss} at step {self.step_number}", hint=DIVERGED)
        return loss

    def finished(self) -> bool:
        return self.schedule.exhausted(self.config.train)

    def out_of_time(self) -> bool:
        minutes = self.config.train.max_minutes
        return minutes is not None and bool(self.team.agreed(float(self.clock.seconds > 60 * minutes)))
