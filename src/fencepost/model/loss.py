"""What training minimises: the margin loss of the paper (§2.1), or the negative log likelihood of the gold trees.

Instead of a gold tree, a teacher may give the probability of each labelled span. The likelihood is then that of trees
drawn from the teacher.

Scores are packed, [S, L], and their first column, for the empty label, is 0. Gold labels are [S], and 0 for spans that
aren't constituents. Sums are in fp32 even if the scores are in a lower precision. The caller passes in the search over
trees that a loss needs, from ``backends.charts``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from fencepost.model.cells import best_labels, sentences_of_cells, sum_by_sentence

Search = Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]  # best scores [S], lengths -> scores [B], cells of trees [S]
Sums = Callable[[Tensor, Tensor, bool], tuple[Tensor, Tensor]]  # label scores [S], lengths, force_root -> log Z [B], _


class Beliefs(NamedTuple):
    """The probabilities that a teacher gives to some labels of some cells; all others have probability 0. [E] each."""

    cells: Tensor
    labels: Tensor
    probabilities: Tensor


def margin_loss(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool = False, *, decode: Search) -> Tensor:
    """§2.1. max(0, max over trees T of [s(T) + Δ(T, T*)] - s(T*)) for each sentence. [B]

    Δ is the Hamming loss on labelled spans: 1 for each span of the binary tree T whose label is not the gold one.
    ``decode`` finds the best tree.
    """
    labels, marked = _worst_trees(scores, gold, lengths, force_root, decode)
    chosen, right = _gather(scores, torch.stack([labels, gold], dim=1)).unbind(dim=1)
    excess = torch.where(marked, chosen + (labels != gold), 0.0) - right
    return F.relu(sum_by_sentence(excess, lengths))


def crf_loss(scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool = False, *, inside: Sums) -> Tensor:
    """log Z - s(T*) for each sentence: minus the log probability of its gold tree. [B]

    ``inside`` computes log Z, whose gradient is the probability of each span.
    """
    labels = scores[:, 1:].to(_sum_type(scores)).logsumexp(dim=1)
    total, _ = inside(labels, lengths, force_root)
    right = _gather(scores, gold[:, None]).squeeze(dim=1)
    return total - sum_by_sentence(right, lengths)


def soft_crf_loss(
    scores: Tensor, beliefs: Beliefs, lengths: Tensor, force_root: bool = False, *, inside: Sums
) -> Tensor:
    """log Z - sum of p(i, j, l) s(i, j, l): the cross-entropy between a teacher's trees and the model's. [B]

    The score of a tree is a sum over its spans, so of the teacher's distribution over trees only the probabilities of
    labelled spans matter. If these are all 0 or 1, this is ``crf_loss``. ``inside`` computes log Z.
    """
    labels = scores[:, 1:].to(_sum_type(scores)).logsumexp(dim=1)
    total, _ = inside(labels, lengths, force_root)
    places = beliefs.cells * scores.shape[1] + beliefs.labels
    chosen = scores.flatten().index_select(0, places).to(total.dtype) * beliefs.probabilities
    sentences = sentences_of_cells(lengths, len(scores)).index_select(0, beliefs.cells)
    return total - total.new_zeros(len(lengths)).index_add(0, sentences, chosen)


def function_loss(scores: Tensor, allowed: Tensor) -> Tensor:
    """Minus the log probability that each constituent has one of the functions allowed for it: [C, functions] -> [C].

    Cross-entropy if exactly one is allowed.
    """
    return scores.logsumexp(dim=1) - scores.masked_fill(~allowed, -torch.inf).logsumexp(dim=1)


@torch.no_grad()
def _worst_trees(
    scores: Tensor, gold: Tensor, lengths: Tensor, force_root: bool, decode: Search
) -> tuple[Tensor, Tensor]:
    """The tree with the greatest s(T) + Δ(T, T*): the best label of each cell [S], and the cells of the tree [S]."""
    augmented = scores.to(_sum_type(scores), copy=True)
    # Every binary tree has 2n - 1 spans, so subtracting 1 from gold labels ranks trees like adding 1 to all others.
    augmented.scatter_add_(1, gold[:, None], augmented.new_full((len(gold), 1), -1.0))
    best, labels = best_labels(augmented, lengths, force_root)
    _, marked = decode(best, lengths)
    return labels.long(), marked


def _gather(scores: Tensor, labels: Tensor) -> Tensor:
    return scores.gather(1, labels).to(_sum_type(scores))


def _sum_type(scores: Tensor) -> torch.dtype:
    return torch.promote_types(scores.dtype, torch.float32)
