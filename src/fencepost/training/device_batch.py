"""Batches with their gold labels and tags as tensors on the device, cut into pieces that fit in its memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from fencepost.features.batching import pieces
from fencepost.model.parser_model import TorchBatch, TorchConstituents, arrays_of
from fencepost.model.sequences import send
from fencepost.training.data import Bools, TrainingSet


@dataclass(frozen=True)
class DeviceBatch:
    """A batch, or a piece of one."""

    sentences: TorchBatch
    labels: Tensor  # [S] gold label of every span; 0 where there is no constituent
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
        arrays = {"gold.cells": gold.cells, "gold.labels": gold.labels, "gold.tags": gold.tags}
        tensors = send(arrays_of(gold.sentences) | arrays, device)
        sentences = TorchBatch.sent(gold.sentences, tensors)
        labels = tensors["gold.cells"].new_zeros(gold.spans)
        labels.index_copy_(0, tensors["gold.cells"], tensors["gold.labels"])
        constituents = functions = None
        if gold.functions is not None:
            constituents = TorchConstituents.of(gold.functions.constituents, gold.sentences.lengths, device)
            functions = _to_device(gold.functions.allowed, device)
        batches.append(DeviceBatch(sentences, labels, tensors["gold.tags"], constituents, functions))
    return batches


def _to_device(array: Bools, device: torch.device) -> Tensor:
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor
