"""The cells of packed charts as tensors: spans by sentence, then width, then start, as in ``TorchBatch``.

B sentences have S spans in all, n(n+1)/2 in a sentence of n words. ``lengths`` [B] counts the words of each sentence.
"""

from __future__ import annotations

import torch
from torch import Tensor


def span_counts(lengths: Tensor) -> Tensor:
    """The number of spans of each sentence. [B]"""
    return lengths * (lengths + 1) // 2


def first_cells(lengths: Tensor) -> Tensor:
    """The index of the first cell of each sentence. [B]"""
    counts = span_counts(lengths)
    return counts.cumsum(0) - counts


def root_cells(lengths: Tensor) -> Tensor:
    """The index of each sentence's root cell, the span of all its words. [B]"""
    return span_counts(lengths).cumsum(0) - 1


def sentences_of_cells(lengths: Tensor, cells: int) -> Tensor:
    """The sentence of each cell [S]. The caller passes the number of cells, so that the host needn't ask the device."""
    numbers = torch.arange(len(lengths), device=lengths.device)
    return numbers.repeat_interleave(span_counts(lengths), output_size=cells)


def sum_by_sentence(values: Tensor, lengths: Tensor) -> Tensor:
    """Adds the values [S] of the cells of each sentence. [B]"""
    return values.new_zeros(len(lengths)).index_add(0, sentences_of_cells(lengths, len(values)), values)


@torch.no_grad()
def best_labels(scores: Tensor, lengths: Tensor, force_root: bool = False) -> tuple[Tensor, Tensor]:
    """The best score [S] and label [S] of every cell, from scores [S, L]: ``SpanScores.reduce`` on the device."""
    best, labels = scores.max(dim=1)
    if force_root:
        label_roots_(best, labels, scores[root_cells(lengths)], lengths)
    return best.to(torch.promote_types(best.dtype, torch.float32)), labels.int()


def label_roots_(best: Tensor, labels: Tensor, root_scores: Tensor, lengths: Tensor) -> None:
    """Gives each root cell its best label other than the empty one, by its scores [B, L]."""
    roots = root_cells(lengths)
    root_best, root_labels = root_scores[:, 1:].max(dim=1)
    best.index_copy_(0, roots, root_best)
    labels.index_copy_(0, roots, root_labels + 1)
