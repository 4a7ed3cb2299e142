"""The model on torch, on the CPU or a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Final, Literal

import numpy as np
import torch
from safetensors.torch import load_file
from torch import Tensor
from torch.nn.attention import SDPBackend, sdpa_kernel

from fencepost.backends.base import Parsed, Scored
from fencepost.backends.folder import WEIGHTS, ModelFolder
from fencepost.chart import cky
from fencepost.chart.scores import LabelChart, SpanScores
from fencepost.config import Config
from fencepost.errors import UsageError
from fencepost.features.batch import Batch, Ints
from fencepost.features.vocabularies import TOKEN_MARKS, Vocabularies
from fencepost.model.build import VocabSizes, build_model
from fencepost.model.decode import best_labels, decode
from fencepost.model.parser_model import ModelOutput, ParserModel, TorchBatch
from fencepost.model.plan import AttentionPlan

CPU_BATCH_TOKENS: Final = 2_000
CUDA_BATCH_TOKENS: Final = 40_000
Precision = Literal["fp32", "tf32", "bf16"]


def find_device(name: str) -> torch.device:
    """``cpu``, ``cuda``, or ``cuda:1``."""
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise UsageError(f"unknown device {name!r}", hint="cpu or cuda") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError("torch sees no CUDA device here", hint="--device cpu")
    return device


def vocab_sizes(vocabularies: Vocabularies) -> VocabSizes:
    counts = [0] * TOKEN_MARKS + list(vocabularies.words.counts)
    return VocabSizes(
        labels=len(vocabularies.labels),
        words=len(vocabularies.words),
        tags=len(vocabularies.tags),
        letters=len(vocabularies.letters),
        word_counts=counts,
    )


@contextmanager
def at_precision(precision: Precision, device: torch.device) -> Iterator[None]:
    """Matrix products as the precision says; sums that need it stay in fp32 inside the model."""
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest" if precision == "fp32" else "high")
    try:
        with torch.autocast(device.type, torch.bfloat16, enabled=precision == "bf16"), _attention_kernels(device):
            yield
    finally:
        torch.set_float32_matmul_precision(before)


def _attention_kernels(device: torch.device) -> AbstractContextManager[None]:
    """Without cuDNN's, which plans anew for every shape, and here every batch has its own."""
    if device.type != "cuda":
        return nullcontext()
    return sdpa_kernel([SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH])


class TorchBackend:
    """One model in memory on one device."""

    def __init__(self, model: ParserModel, config: Config, device: torch.device, precision: Precision = "fp32") -> None:
        self.model = model
        self.device = device
        self.precision: Precision = precision
        self._plan = AttentionPlan.of(config.eval.plan)
        self._force_root = config.scorer.force_root

    @classmethod
    def load(cls, folder: ModelFolder, device: str = "cpu", precision: Precision = "fp32") -> TorchBackend:
        model = build_model(folder.config, vocab_sizes(folder.vocabularies))
        model.load_state_dict(load_file(folder.path / WEIGHTS))
        place = find_device(device)
        return cls(model.to(place), folder.config, place, precision)

    @property
    def batch_tokens(self) -> int:
        return CUDA_BATCH_TOKENS if self.device.type == "cuda" else CPU_BATCH_TOKENS

    @torch.inference_mode()
    def launch(self, batch: Batch) -> Callable[[], Parsed]:
        lengths, output = self._run(batch)
        best, labels = best_labels(output.span_scores, lengths, self._force_root)
        scores, marked = decode(best, lengths)
        answers = [_to_host(scores), _to_host(labels), _to_host(marked), _to_host(_best_tags(output))]
        ready = torch.cuda.Event() if self.device.type == "cuda" else None  # type: ignore[no-untyped-call]
        if ready is not None:
            ready.record()

        def finish() -> Parsed:
            if ready is not None:
                ready.synchronize()
            tree_scores, cell_labels, in_tree, tags = (None if a is None else a.numpy() for a in answers)
            assert tree_scores is not None
            assert cell_labels is not None
            assert in_tree is not None
            chart = LabelChart(np.empty(0, np.float32), cell_labels, batch.lengths)
            return Parsed(cky.collect(chart, tree_scores, in_tree), tags)

        return finish

    @torch.inference_mode()
    def score(self, batch: Batch) -> Scored:
        _, output = self._run(batch)
        tags = _best_tags(output)
        host_tags: Ints | None = None if tags is None else tags.cpu().numpy()
        return Scored(SpanScores.from_packed(output.span_scores.cpu().numpy(), batch.lengths), host_tags)

    def _run(self, batch: Batch) -> tuple[Tensor, ModelOutput]:
        self.model.eval()
        tensors = TorchBatch.of(batch, self.device)
        with at_precision(self.precision, self.device):
            return tensors.lengths, self.model(tensors, self._plan)


def _best_tags(output: ModelOutput) -> Tensor | None:
    return None if output.tag_scores is None else output.tag_scores[:, TOKEN_MARKS:].argmax(1) + TOKEN_MARKS


def _to_host(tensor: Tensor | None) -> Tensor | None:
    """A copy to pinned memory that does not make the host wait."""
    if tensor is None or tensor.device.type == "cpu":
        return tensor
    return torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)
