"""What training minimises: the margin loss of the paper (§2.1), or the negative log likelihood of the gold trees.

Where a teacher says how probable each labelled span is, the likelihood is that of the trees it would draw.

Scores are packed, [S, L], with a first column of zeros for the empty label; gold labels are [S], 0 where no
constituent is. Sums are taken in single precision even when the scores are not.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from fencepost.model.decode import best_labels, decode, inside, sentences_of_cells, sum_by_sentence


class Beliefs(NamedTuple):
    """How probable a teacher finds some labels over some cells; all others have probability 0. [E] each."""

    cells: Tensor
    labels: Tensor
    probabilities: Tensor


def margin_loss(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool = False) -> Tensor:
    """max(0, max over trees T of [s(T) + Δ(T, T*)] - s(T*)) of each sentence. [B]

    Δ is the Hamming loss on labelled spans: 1 for each span of the binary tree T whose label is not the gold one.
    """
    labels, marked = _worst_trees(scores, gold, lengths, force_root)
    chosen, right = _gather(scores, torch.stack([labels, gold], dim=1)).unbind(dim=1)
    excess = torch.where(marked, chosen + (labels != gold), 0.0) - right
    return F.relu(sum_by_sentence(excess, lengths))


def crf_loss(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool = False) -> Tensor:
    """log Z - s(T*) of each sentence: minus the log probability of its gold tree. [B]"""
    labels = scores[:, 1:].to(_sum_type(scores)).logsumexp(dim=1)
    total, _ = inside(labels, lengths, force_root)
    right = _gather(scores, gold[:, None]).squeeze(dim=1)
    return total - sum_by_sentence(right, lengths)


def soft_crf_loss(scores: Tensor, beliefs: Beliefs, lengths: Tensor, force_root: bool = False) -> Tensor:
    """log Z - sum of p(i, j, l) s(i, j, l): the cross-entropy between a teacher's trees and the model's. [B]

    A score of a tree is a sum over its spans, so that of the teacher's distribution over trees nothing counts but how
    probable each labelled span is. Where these are all 0 or 1, this is ``crf_loss``.
    """
    labels = scores[:, 1:].to(_sum_type(scores)).logsumexp(dim=1)
    total, _ = inside(labels, lengths, force_root)
    places = beliefs.cells * scores.shape[1] + beliefs.labels
    chosen = scores.flatten().index_select(0, places).to(total.dtype) * beliefs.probabilities
    sentences = sentences_of_cells(lengths, len(scores)).index_select(0, beliefs.cells)
    return total - total.new_zeros(len(lengths)).index_add(0, sentences, chosen)


@torch.no_grad()
def _worst_trees(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool) -> tuple[Tensor, Tensor]:
    """The tree with the greatest s(T) + Δ(T, T*): the best label of each cell [S], and the cells of the tree [S]."""
    augmented = scores.to(_sum_type(scores), copy=True)
    # One off the gold label ranks trees as one on all others would, for every binary tree has 2n - 1 spans.
    augmented.scatter_add_(1, gold[:, None], augmented.new_full((len(gold), 1), -1.0))
    best, labels = best_labels(augmented, lengths, force_root)
    _, marked = decode(best, lengths)
    return labels.long(), marked


def _gather(scores: Tensor, labels: Tensor) -> Tensor:
    return scores.gather(1, labels).to(_sum_type(scores))


def _sum_type(scores: Tensor) -> torch.dtype:
    return torch.promote_types(scores.dtype, torch.float32)
