"""What training minimises: the margin loss of the paper (§2.1), or the negative log likelihood of the gold trees.

Scores are packed, [S, L], with a first column of zeros for the empty label; gold labels are [S], 0 where no
constituent is. Sums are taken in single precision even when the scores are not. Each loss is given the search over
trees that it needs: ``backends.charts`` has both.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor

from fencepost.model.cells import best_labels, sum_by_sentence

Search = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # best scores [S], lengths -> scores [B], cells of trees [S]
Sums = Callable[[Tensor, Tensor, bool], tuple[Tensor, Tensor]]  # label scores [S], lengths, force_root -> log Z [B], _


def margin_loss(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool = False, *, decode: Search) -> Tensor:
    """§2.1. max(0, max over trees T of [s(T) + Δ(T, T*)] - s(T*)) of each sentence. [B]

    Δ is the Hamming loss on labelled spans: 1 for each span of the binary tree T whose label is not the gold one.
    ``decode`` finds the best tree.
    """
    labels, marked = _worst_trees(scores, gold, lengths, force_root, decode)
    chosen, right = _gather(scores, torch.stack([labels, gold], dim=1)).unbind(dim=1)
    excess = torch.where(marked, chosen + (labels != gold), 0.0) - right
    return F.relu(sum_by_sentence(excess, lengths))


def crf_loss(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool = False, *, inside: Sums) -> Tensor:
    """log Z - s(T*) of each sentence: minus the log probability of its gold tree. [B]

    ``inside`` gives log Z, whose gradient is the probability of each span.
    """
    labels = scores[:, 1:].to(_sum_type(scores)).logsumexp(dim=1)
    total, _ = inside(labels, lengths, force_root)
    right = _gather(scores, gold[:, None]).squeeze(dim=1)
    return total - sum_by_sentence(right, lengths)


@torch.no_grad()
def _worst_trees(
    scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool, decode: Search
) -> tuple[Tensor, Tensor]:
    """The tree with the greatest s(T) + Δ(T, T*): the best label of each cell [S], and the cells of the tree [S]."""
    augmented = scores.to(_sum_type(scores), copy=True)
    # Every binary tree has 2n - 1 spans, so taking 1 off gold labels ranks trees as adding 1 to all others would.
    augmented.scatter_add_(1, gold[:, None], augmented.new_full((len(gold), 1), -1.0))
    best, labels = best_labels(augmented, lengths, force_root)
    _, marked = decode(best, lengths)
    return labels.long(), marked


def _gather(scores: Tensor, labels: Tensor) -> Tensor:
    return scores.gather(1, labels).to(_sum_type(scores))


def _sum_type(scores: Tensor) -> torch.dtype:
    return torch.promote_types(scores.dtype, torch.float32)
