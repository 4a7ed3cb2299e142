"""Batches with their gold labels and tags as tensors on the device, cut into pieces that fit in its memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from fencepost.features import flat
from fencepost.features.batch import Array
from fencepost.model.parser_model import TorchBatch, TorchConstituents
from fencepost.model.sequences import split
from fencepost.training.data import FlatBatch


@dataclass(frozen=True)
class DeviceBatch:
    """A batch, or a piece of one."""

    sentences: TorchBatch
    labels: Tensor  # [S] gold label of every span; 0 where there is no constituent
    tags: Tensor  # [W] gold tag of every word
    constituents: TorchConstituents | None = None  # of the gold trees, where the model learns functions
    functions: Tensor | None = None  # [C, functions] True for each function that a constituent may have

    @classmethod
    def sent(cls, arrays: Mapping[str, Array], tensors: Mapping[str, Tensor]) -> DeviceBatch:
        """The batch made of the arrays of a ``TrainingSet``, on the host and on the device."""
        sentences = TorchBatch.sent(arrays, tensors)
        labels = torch.zeros_like(sentences.span_starts)
        labels.index_copy_(0, tensors["gold.cells"], tensors["gold.labels"])
        functions = tensors.get("gold.functions")
        constituents = None if functions is None else TorchConstituents.sent(tensors, "constituents.")
        return cls(sentences, labels, tensors["gold.tags"], constituents, functions)


def device_batches(batch: FlatBatch, device: torch.device) -> list[DeviceBatch]:
    """The pieces of a batch. All go to the device in one copy, for which the host doesn't have to wait."""
    numbers = torch.from_numpy(batch.numbers)
    on_device = numbers.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else numbers
    batches, first = [], 0
    for forms in batch.pieces:
        own = slice(first, first + sum(form.size for form in forms))
        batches.append(DeviceBatch.sent(flat.split(batch.numbers[own], forms), split(on_device[own], forms)))
        first = own.stop
    return batches
