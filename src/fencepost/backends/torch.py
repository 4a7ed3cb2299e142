"""The model on torch, on the CPU or a GPU."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from threading import RLock
from typing import Final, Literal

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.attention import SDPBackend, sdpa_kernel

from fencepost.backends.base import FunctionReader, Parsed, Scored, not_finite, require_finite
from fencepost.backends.charts import decode
from fencepost.backends.exported_weights import load_exported_weights
from fencepost.backends.ruled_out import RuledOut
from fencepost.chart import cky
from fencepost.chart.scores import Floats, LabelChart, SpanScores
from fencepost.config.settings import Config
from fencepost.errors import ModelError, UsageError, require_device
from fencepost.features.batch import Batch, Ints
from fencepost.features.constituents import Constituents
from fencepost.features.impossible_labels import ImpossibleLabels
from fencepost.features.vocabularies import TOKEN_MARKS, TreebankPart, Vocabularies
from fencepost.model.build import VocabSizes, build_model
from fencepost.model.cells import label_roots_, root_cells
from fencepost.model.parser_model import ParserModel, TorchBatch, TorchConstituents
from fencepost.model.plan import AttentionPlan
from fencepost.model.precision import lower
from fencepost.model.scorer import project
from fencepost.storage.model_files import CONFIG, WEIGHTS, listed_files, naming
from fencepost.storage.model_folder import ModelFolder, disagreement, require_weights

CPU_BATCH_TOKENS: Final = 2_000
CUDA_BATCH_TOKENS: Final = 40_000
CPU_CELLS: Final = 4_096  # spans scored at once: what they need stays in the processor's cache
CUDA_CELLS: Final = 1 << 20
_CUDA_SETTINGS: Final = RLock()
MOST_NUMBERS_PER_BYTE: Final = 8  # in 8 bits every number takes a byte, but some aren't stored
# The errors that torch and transformers raise for settings that make no sense.
UNBUILDABLE: Final = (ArithmeticError, AttributeError, KeyError, RuntimeError, TypeError, ValueError, ImportError)
Precision = Literal["fp32", "tf32", "bf16"]


def find_device(name: str) -> torch.device:
    """The device with a name like ``cpu``, ``cuda`` or ``cuda:1``; raises UsageError if torch doesn't see it."""
    require_device(name)
    if name != "cpu" and not torch.cuda.is_available():
        raise UsageError("torch sees no CUDA device here", hint="use --device cpu")
    number = int(name.partition(":")[2] or 0)
    if name != "cpu" and number >= torch.cuda.device_count():
        seen = f"torch sees {torch.cuda.device_count()} CUDA device(s), numbered from 0"
        raise UsageError(f"there is no {name}", hint=f"use another number: {seen}")
    return torch.device(name)


def _weights(path: Path) -> dict[str, Tensor]:
    try:
        return load_file(path)
    except SafetensorError as error:
        raise ModelError(f"{path}: not a file of weights: {error}", hint="get or train the model again") from error


def vocab_sizes(vocabularies: Vocabularies) -> VocabSizes:
    counts = [0] * TOKEN_MARKS + list(vocabularies.words.counts)
    return VocabSizes(
        labels=len(vocabularies.labels),
        words=len(vocabularies.words),
        tags=len(vocabularies.tags),
        letters=len(vocabularies.letters),
        word_counts=counts,
        pretrained=vocabularies.pretrained,
        single_labels=1 + len(vocabularies.labels.symbols),
        functions=0 if vocabularies.functions is None else len(vocabularies.functions),
        treebanks=1 + len(vocabularies.treebanks),
    )


def load_model(folder: ModelFolder) -> ParserModel:
    """The model in a folder, on the CPU: from weights that training wrote or, without those, from exported graphs."""
    require_weights(folder)
    _require_size(folder)
    with torch.random.fork_rng(devices=[]):  # initial weights are overwritten: keep the caller's random state
        model = build_model(folder.config, vocab_sizes(folder.vocabularies))
    if not folder.has(WEIGHTS):
        load_exported_weights(folder, model)
    else:
        weights = _weights(folder.path / WEIGHTS)
        try:
            model.load_state_dict(weights)
        except RuntimeError as error:
            raise disagreement(folder, str(error).splitlines()[-1].strip()) from error
    folder.require_unchanged()
    return model


def keep_part(model: ParserModel, part: TreebankPart) -> None:
    """Leaves a model of several treebanks only the labels and tags of one: they are then numbered as in that part."""
    _keep_rows(model.span_scorer.output, part.labels[1:] - 1)  # the empty label has no row
    if model.tag_scorer is not None:
        output = model.tag_scorer.layers[-1]
        assert isinstance(output, nn.Linear)
        _keep_rows(output, part.tags)


def _keep_rows(map_: nn.Linear, rows: Ints) -> None:
    index = torch.from_numpy(rows)
    map_.weight = nn.Parameter(map_.weight.detach().index_select(0, index))
    map_.bias = nn.Parameter(map_.bias.detach().index_select(0, index))
    map_.out_features = len(rows)


def _require_size(folder: ModelFolder) -> None:
    """Raises ModelError if the model would be much larger than its files: its settings may come from a stranger."""
    with naming(folder.path):
        try:
            with torch.device("meta"):  # takes no memory
                model = build_model(folder.config, vocab_sizes(folder.vocabularies))
        except UNBUILDABLE as error:
            raise disagreement(folder, f"torch can't build the model: {type(error).__name__}: {error}") from error
    numbers = sum(tensor.numel() for tensor in model.state_dict().values())
    size = sum((folder.path / name).stat().st_size for name in listed_files(folder.path))
    if numbers > MOST_NUMBERS_PER_BYTE * size:
        raise disagreement(folder, f"{CONFIG} asks for {numbers:,} numbers, and the files have {size:,} bytes")


@contextmanager
def at_precision(precision: Precision, device: torch.device) -> Iterator[None]:
    """Runs matrix products in this precision; sums that need fp32 stay in fp32 inside the model."""
    with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"):
        if device.type != "cuda":
            yield
            return
        # These settings belong to the whole process. Without a lock, two threads that each restore what they found
        # could leave the first one's choice behind. The host only launches work here, so waiting costs nothing.
        with _CUDA_SETTINGS:
            before = torch.get_float32_matmul_precision()
            torch.set_float32_matmul_precision("highest" if precision == "fp32" else "high")
            try:
                # No cuDNN attention: it makes a plan for every shape, and here every batch has its own shape.
                with sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH]):
                    yield
            finally:
                torch.set_float32_matmul_precision(before)


class TorchBackend:
    """One model in memory on one device."""

    def __init__(
        self,
        model: ParserModel,
        config: Config,
        device: torch.device,
        precision: Precision = "fp32",
        impossible: ImpossibleLabels | None = None,
    ) -> None:
        self._ruled_out = None if impossible is None or model.tag_scorer is None else RuledOut(impossible, device)
        self.model = model
        self.device = device
        self.precision: Precision = precision
        self.plan = AttentionPlan.of(config.eval.plan, config.eval.longest)
        self._force_root = config.scorer.force_root
        self._process = os.getpid()
        # Triton's kernels run on the current device, even if their tensors are on another.
        self._here = partial(torch.cuda.device, device) if device.type == "cuda" else nullcontext

    @classmethod
    def load(cls, folder: ModelFolder, device: str = "cpu", precision: Precision = "fp32") -> TorchBackend:
        torch_device = find_device(device)
        model = load_model(folder)
        if (part := folder.chosen_vocabularies.part) is not None:
            keep_part(model, part)
        if precision == "bf16":
            lower(model)
        impossible = ImpossibleLabels.of(folder.chosen_vocabularies)
        return cls(model.to(torch_device), folder.config, torch_device, precision, impossible)

    @property
    def overlaps(self) -> bool:
        return self.device.type == "cuda"

    @property
    def threads(self) -> int:
        return torch.get_num_threads()

    @property
    def batch_tokens(self) -> int:
        return CUDA_BATCH_TOKENS if self.device.type == "cuda" else CPU_BATCH_TOKENS

    @torch.inference_mode()
    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Parsed]:
        with self._here():
            return self._launch(batch, functions)

    def _launch(self, batch: Batch, functions: bool) -> Callable[[], Parsed]:
        tensors = self._send(batch)
        with at_precision(self.precision, self.device):
            y, words = self.model.read(tensors, self.plan)
            tags = None if self.model.tag_scorer is None else _best_tags(self.model.tag_scorer(y, tensors))
            best, labels = self._best_labels(y, tensors, tags)
            reader = self.function_reader(y, tensors, batch.lengths, words) if functions else None
        if self.device.type == "cpu":
            return lambda: _on_host(best, labels, tags, batch.lengths, reader)
        scores, marked = decode(best, tensors.lengths)
        answers = [_to_host(scores), _to_host(labels), _to_host(marked), _to_host(best.isfinite().all())]
        tags = None if tags is None else _to_host(tags)
        ready = torch.cuda.Event()  # type: ignore[no-untyped-call]
        ready.record()

        def finish() -> Parsed:
            ready.synchronize()
            tree_scores, cell_labels, in_tree, is_finite = (answer.numpy() for answer in answers)
            if not is_finite:
                raise not_finite()
            chart = LabelChart(np.empty(0, np.float32), cell_labels, batch.lengths)
            trees = cky.collect(chart, tree_scores, in_tree)
            return Parsed(trees, None if tags is None else tags.numpy(), reader)

        return finish

    def function_reader(
        self, y: Tensor, batch: TorchBatch, lengths: Ints, words: Tensor | None = None
    ) -> FunctionReader:
        """Reads functions from the encoder's vectors of a batch, and from those of its words."""
        scorer = self.model.function_scorer
        assert scorer is not None
        fenceposts = scorer.project(y, batch, words)

        @torch.inference_mode()
        def read(constituents: Constituents) -> Floats:
            with self._here():
                sent = TorchConstituents.of(constituents, lengths, self.device)
                probabilities: Floats = scorer.score(fenceposts, sent).softmax(dim=1).cpu().numpy()
                return probabilities

        return read

    def _best_labels(self, y: Tensor, batch: TorchBatch, tags: Tensor | None) -> tuple[Tensor, Tensor]:
        """The best score and label of every span, a piece of the chart at a time.

        The hidden vectors and label scores of all spans of a 1,000-word sentence would take more than a gigabyte.
        """
        scorer = self.model.span_scorer
        fenceposts = scorer.project(y, batch)
        size = CUDA_CELLS if self.device.type == "cuda" else CPU_CELLS
        best, labels = torch.empty_like(batch.span_starts, dtype=torch.float32), torch.empty_like(batch.span_starts)
        nominal = self._nominal_spans(batch, tags)
        for low in range(0, len(best), size):
            cells = slice(low, low + size)
            scores = scorer.score(fenceposts, batch.span_starts[cells], batch.span_ends[cells])
            if nominal is not None and self._ruled_out is not None:
                self._ruled_out.apply_(scores, nominal[cells])
            # A new tensor for each piece's result would fragment the memory that the next piece needs.
            torch.max(scores, dim=1, out=(best[cells], labels[cells]))
        if self._force_root:
            roots = root_cells(batch.lengths)
            root_scores = scorer.score(fenceposts, batch.span_starts[roots], batch.span_ends[roots])
            if nominal is not None and self._ruled_out is not None:
                self._ruled_out.apply_(root_scores, nominal[roots])
            label_roots_(best, labels, root_scores, batch.lengths)
        return best, labels.int()

    @torch.inference_mode()
    def score(self, batch: Batch, *, functions: bool = False) -> Scored:
        tensors = self._send(batch)
        with self._here(), at_precision(self.precision, self.device):
            y, words = self.model.read(tensors, self.plan)
            scores = self.model.span_scorer(y, tensors)
            best_tags = None if self.model.tag_scorer is None else _best_tags(self.model.tag_scorer(y, tensors))
            nominal = self._nominal_spans(tensors, best_tags)
            reader = self.function_reader(y, tensors, batch.lengths, words) if functions else None
        tags: Ints | None = None if best_tags is None else best_tags.cpu().numpy()
        if not scores.isfinite().all():
            raise not_finite()
        if nominal is not None and self._ruled_out is not None:
            self._ruled_out.apply_(scores, nominal)
        scores_on_host = scores.cpu().numpy()
        spans = SpanScores.from_packed(scores_on_host, batch.lengths)
        return Scored(spans, tags, reader)

    def _nominal_spans(self, batch: TorchBatch, tags: Tensor | None) -> Tensor | None:
        return None if self._ruled_out is None or tags is None else self._ruled_out.spans(batch, tags)

    @torch.inference_mode()
    def vectors(self, batch: Batch) -> tuple[Floats, Floats | None]:
        """What functions are read from: the vectors of all fenceposts, and of the words to their right.

        [F, d_model] and [F, hidden]; the second only if the model has a pre-trained encoder.
        """
        tensors = self._send(batch)
        with self._here(), at_precision(self.precision, self.device):
            y, words = self.model.read(tensors, self.plan)
        found: Floats = project(y, tensors, torch.eye(y.shape[1], device=self.device)).cpu().numpy()
        if words is None:
            return found, None
        return found, words.index_select(0, tensors.fencepost_tokens + 1).float().cpu().numpy()

    def _send(self, batch: Batch) -> TorchBatch:
        if os.getpid() != self._process:  # torch's threads are gone, and it would wait for them for ever
            raise UsageError(
                "this parser was loaded before this process was forked, and torch can't run in both",
                hint="load the parser in the new process, or start processes by spawning: parsing.workers does",
            )
        if self.model.training:
            self.model.eval()
        return TorchBatch.of(batch, self.device)


def _best_tags(scores: Tensor) -> Tensor:
    """The best tag of each word [W]; numbers below TOKEN_MARKS are not tags."""
    return scores[:, TOKEN_MARKS:].argmax(1) + TOKEN_MARKS


def _on_host(
    best: Tensor, labels: Tensor, tags: Tensor | None, lengths: Ints, functions: FunctionReader | None
) -> Parsed:
    """Decodes with numpy, which is faster on a CPU."""
    require_finite(best.numpy())
    chart = LabelChart(best.numpy(), labels.numpy(), lengths)
    return Parsed(cky.decode(chart), None if tags is None else tags.numpy(), functions)


def _to_host(tensor: Tensor) -> Tensor:
    """A copy to pinned memory that does not make the host wait."""
    return torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)
