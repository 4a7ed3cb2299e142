"""The probabilities that one teacher gives to the labels and tags of a batch, or the mean of several teachers'."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import torch
from corpus import Ragged
from targets import Beliefs as HostBeliefs
from targets import Targets, by_sentence, function_columns, without_function_columns
from torch import Tensor

from fencepost.backends.base import FunctionReader
from fencepost.backends.charts import decode, marginals
from fencepost.backends.torch import Precision, TorchBackend, at_precision
from fencepost.chart import cky, packing
from fencepost.chart.scores import Floats, LabelChart
from fencepost.features.batch import Batch
from fencepost.features.constituents import Constituents
from fencepost.model.cells import best_labels, sentences_of_cells
from fencepost.model.parser_model import TorchBatch
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.spans import Span

LEAST: Final = 0.02  # smaller probabilities are left out
TEMPERATURES: Final = (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.25, 1.5, 1.75, 2.0, 2.5)


class Believed(NamedTuple):
    """Tensors on the device."""

    scores: Tensor  # [S, L] of each label over each span
    labels: Tensor  # [S, L] its probability
    tags: Tensor  # [W, tags]
    confidence: Tensor  # [B] the probability of the best tree
    lengths: Tensor  # [B]
    functions: Sequence[FunctionReader] = ()  # one per teacher, if they predict functions


@dataclass(frozen=True, eq=False)
class Teachers:
    """Models with the same labels, tags and sub-tokens."""

    backends: Sequence[TorchBackend]
    folder: ModelFolder  # of the first
    temperatures: Sequence[float]  # one for each

    @classmethod
    def load(cls, models: Iterable[Path], device: str, precision: Precision = "bf16") -> Teachers:
        folders = [ModelFolder.open(model) for model in models]
        first = folders[0].vocabularies
        for folder in folders[1:]:
            same = folder.vocabularies.labels == first.labels and folder.vocabularies.tags == first.tags
            assert same, f"{folder.path} has other labels or tags than {folders[0].path}"
        backends = [TorchBackend.load(folder, device, precision) for folder in folders]
        return cls(backends, folders[0], [1.0] * len(folders))

    @torch.inference_mode()
    def believe(self, batch: Batch) -> Believed:
        """The mean over all teachers. The scores of each are divided by its temperature first."""
        tensors = TorchBatch.of(batch, self.backends[0].device)
        encoded = [self._encode(backend, tensors) for backend in self.backends]
        each = zip(self.backends, encoded, self.temperatures, strict=True)
        found = [self._one(backend, y, tensors, temperature) for backend, (y, _), temperature in each]
        scores, labels, tags, confidence = (torch.stack(parts).mean(dim=0) for parts in zip(*found, strict=True))
        readers: list[FunctionReader] = []
        if self.folder.vocabularies.functions is not None:
            pairs = zip(self.backends, encoded, strict=True)
            readers = [backend.function_reader(y, tensors, batch.lengths, words) for backend, (y, words) in pairs]
        return Believed(scores, labels, tags, confidence, tensors.lengths, readers)

    def span_scores(self, number: int, batch: Batch) -> tuple[Tensor, Tensor]:
        """The scores of one teacher, before its temperature, and the lengths of the sentences."""
        backend = self.backends[number]
        tensors = TorchBatch.of(batch, backend.device)
        y, _ = self._encode(backend, tensors)
        with at_precision(backend.precision, backend.device):
            return backend.model.span_scorer(y, tensors).float(), tensors.lengths

    def best_spans(self, believed: Believed) -> list[list[Span]]:
        """The constituents of the tree with the greatest score of each sentence."""
        chains = self.folder.vocabularies.labels.chains
        trees = best_trees(believed, self.folder.config.scorer.force_root)
        columns = ([tree.starts.tolist(), tree.ends.tolist(), tree.labels.tolist()] for tree in trees)
        return [[Span(start, end, chains[label]) for start, end, label in zip(*rows, strict=True)] for rows in columns]

    def label(self, batch: Batch) -> Targets:
        """What a student learns: the larger probabilities, and the functions of the best trees."""
        believed = self.believe(batch)
        targets = sparse(believed)
        if not believed.functions:
            return targets
        constituents, probabilities = self.functions(believed, self.best_spans(believed))
        bounds = np.searchsorted(constituents.sentences, np.arange(len(batch) + 1)).tolist()
        parts = []
        for own in map(slice, bounds[:-1], bounds[1:]):
            columns = [column[own] for column in vars(constituents).values()]
            parts.append((Constituents(*columns), np.where(probabilities[own] >= LEAST, probabilities[own], 0)))
        return replace(targets, **function_columns(parts))

    def functions(self, believed: Believed, spans: Sequence[Sequence[Span]]) -> tuple[Constituents, Floats]:
        """The constituents of some trees, and the mean of the teachers' probabilities of their functions."""
        constituents = Constituents.of(spans, self.folder.vocabularies.labels)
        read = [reader(constituents) for reader in believed.functions]
        return constituents, np.mean(read, axis=0, dtype=np.float32)

    @staticmethod
    def _encode(backend: TorchBackend, batch: TorchBatch) -> tuple[Tensor, Tensor | None]:
        if backend.model.training:
            backend.model.eval()
        with at_precision(backend.precision, backend.device):
            return backend.model.read(batch, backend.plan)

    def _one(
        self, backend: TorchBackend, y: Tensor, batch: TorchBatch, temperature: float
    ) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        model, force_root = backend.model, self.folder.config.scorer.force_root
        assert model.tag_scorer is not None
        with at_precision(backend.precision, backend.device):
            span_scores, tag_scores = model.span_scorer(y, batch), model.tag_scorer(y, batch)
        scores = span_scores.float() / temperature
        labels, total = marginals(scores, batch.lengths, force_root)
        best, _ = decode(best_labels(scores, batch.lengths, force_root)[0], batch.lengths)
        return scores, labels, tag_scores.float().softmax(dim=1), (best - total).exp()


def sparse(believed: Believed, least: float = LEAST) -> Targets:
    """The entries with a probability of ``least`` or more, on the host."""
    lengths = believed.lengths.cpu().numpy()
    count = len(lengths)
    cells, labels = (believed.labels >= least).nonzero(as_tuple=True)
    probabilities = believed.labels[cells, labels]
    sentence = sentences_of_cells(believed.lengths, len(believed.labels))[cells].cpu().numpy()
    words, tags = (believed.tags >= least).nonzero(as_tuple=True)
    tag_probabilities = believed.tags[words, tags]
    of_word = np.repeat(np.arange(count), lengths)[words.cpu().numpy()]
    in_chart = cells.cpu().numpy() - packing.offsets(lengths)[sentence]
    in_sentence = words.cpu().numpy() - (np.cumsum(lengths) - lengths)[of_word]
    return Targets(
        by_sentence(sentence, in_chart, np.int32, count),
        by_sentence(sentence, labels.cpu().numpy(), np.uint16, count),
        by_sentence(sentence, probabilities.cpu().numpy(), np.float16, count),
        by_sentence(of_word, in_sentence, np.uint16, count),
        by_sentence(of_word, tags.cpu().numpy(), np.uint16, count),
        by_sentence(of_word, tag_probabilities.cpu().numpy(), np.float16, count),
        Ragged(believed.confidence.cpu().numpy().astype(np.float16), np.arange(count + 1)),
        **without_function_columns(count),
    )


def best_trees(believed: Believed, force_root: bool) -> Sequence[cky.Decoded]:
    """The tree with the greatest score of each sentence."""
    best, labels = best_labels(believed.scores, believed.lengths, force_root)
    scores, marked = decode(best, believed.lengths)
    chart = LabelChart(np.empty(0, np.float32), labels.cpu().numpy(), believed.lengths.cpu().numpy())
    return cky.collect(chart, scores.cpu().numpy(), marked.cpu().numpy())


def fit_temperatures(teachers: Teachers, batches: Sequence[tuple[Batch, HostBeliefs]]) -> list[float]:
    """For each teacher, the temperature with the smallest log loss over all labelled spans, each taken by itself.

    A teacher that was trained with the margin loss has one, too: its scores need only be stretched.
    """
    return [_fit_temperature(teachers, number, batches) for number in range(len(teachers.backends))]


@torch.inference_mode()
def _fit_temperature(teachers: Teachers, number: int, batches: Sequence[tuple[Batch, HostBeliefs]]) -> float:
    losses = dict.fromkeys(TEMPERATURES, 0.0)
    for batch, gold in batches:
        scores, lengths = teachers.span_scores(number, batch)
        cells, labels = (torch.from_numpy(array).to(scores.device) for array in (gold.cells, gold.labels))
        for temperature in TEMPERATURES:
            p = marginals(scores / temperature, lengths, teachers.folder.config.scorer.force_root)[0]
            p = p.double().clamp(1e-6, 1 - 1e-6)
            right = p[cells, labels]
            loss = -torch.log1p(-p).sum() + torch.log1p(-right).sum() - right.log().sum()
            losses[temperature] += float(loss)
    return min(TEMPERATURES, key=losses.__getitem__)
