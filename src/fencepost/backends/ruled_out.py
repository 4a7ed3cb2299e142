"""Rules out impossible labels on torch, on the device that holds the scores."""

from __future__ import annotations

import torch
from torch import Tensor

from fencepost.features.impossible_labels import ImpossibleLabels
from fencepost.model.parser_model import TorchBatch


class RuledOut:
    """``ImpossibleLabels`` on a device. The host never waits for it."""

    def __init__(self, impossible: ImpossibleLabels, device: torch.device) -> None:
        self._labels = torch.from_numpy(impossible.labels).to(device)
        self._nominal = torch.from_numpy(impossible.nominal).to(device)

    def spans(self, batch: TorchBatch, tags: Tensor) -> Tensor:
        """True for each span [S] that has only nominal words; ``tags`` [W]."""
        sentences = torch.arange(len(batch.lengths), device=tags.device)
        last_posts = torch.arange(len(tags), device=tags.device) + 1
        last_posts += sentences.repeat_interleave(batch.lengths, output_size=len(tags))
        steps = torch.zeros(len(tags) + len(sentences), dtype=torch.int32, device=tags.device)
        before = steps.index_copy(0, last_posts, (~self._nominal[tags]).int()).cumsum(0)
        return before[batch.span_starts] == before[batch.span_ends]

    def apply_(self, scores: Tensor, nominal: Tensor) -> None:
        """Lowers the scores [S, L] of impossible labels to -inf."""
        ruled_out = scores[:, self._labels].masked_fill(nominal[:, None], -torch.inf)
        scores.index_copy_(1, self._labels, ruled_out)
