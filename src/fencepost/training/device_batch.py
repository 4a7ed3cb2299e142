"""Batches with their gold labels and tags as tensors on the device, cut into pieces that fit in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.model.parser_model import TorchBatch, TorchConstituents
from fencepost.training.data import Bools, TrainingSet


@dataclass(frozen=True)
class DeviceBatch:
    """A batch, or a piece of one."""

    sentences: TorchBatch
    labels: Tensor  # [S] gold label of every span
    tags: Tensor  # [W] gold tag of every word
    constituents: TorchConstituents | None = None  # of the gold trees, where the model learns functions
    functions: Tensor | None = None  # [C, functions] True for each function that a constituent may have


def device_batches(
    data: TrainingSet, indices: Sequence[int], batch_tokens: int, device: torch.device
) -> list[DeviceBatch]:
    """The sentences with these indices, in pieces of at most ``batch_tokens`` tokens."""
    batches = []
    for piece in pieces([data.lengths[index] for index in indices], batch_tokens):
        gold = data.batch([indices[number] for number in piece])
        sentences = TorchBatch.of(gold.sentences, device)
        constituents = functions = None
        if gold.functions is not None:
            constituents = TorchConstituents.of(gold.functions.constituents, gold.sentences.lengths, device)
            functions = _to_device(gold.functions.allowed, device)
        labels, tags = _to_device(gold.labels, device), _to_device(gold.tags, device)
        batches.append(DeviceBatch(sentences, labels, tags, constituents, functions))
    return batches


def _to_device(array: Ints | Bools, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
