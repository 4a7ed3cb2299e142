"""Charts on any torch device, diagonal by diagonal for all sentences at once.

The recursions are those of ``chart.cky`` and ``chart.inside``.
"""

from __future__ import annotations

import torch
from torch import Tensor

from fencepost.chart import packing


def best_trees(scores: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
    """The score of the best binary tree of each sentence [B], and which cells are in it [S]."""
    frame = _Frame(lengths)
    labels = frame.unpack(scores)
    best, best_by_end = frame.views(labels.clone())
    splits: dict[int, Tensor] = {}
    for width in range(2, frame.longest + 1):
        starts = frame.longest - width + 1
        joined = best[1:width, :starts] + best_by_end[1:width, width:].flip(0)
        score, splits[width] = joined.max(dim=0)
        best[width, :starts] = score + labels[width, :starts]
    return frame.roots(best), frame.pack(_trace(splits, frame, best))


def _trace(splits: dict[int, Tensor], frame: _Frame, best: Tensor) -> Tensor:
    marked = torch.zeros_like(best, dtype=torch.bool)
    marked[frame.lengths, 0, frame.members] = True
    for width in range(frame.longest, 1, -1):
        starts, members = marked[width].nonzero(as_tuple=True)
        left = 1 + splits[width][starts, members]
        marked[left, starts, members] = True
        marked[width - left, starts + left, members] = True
    return marked


def inside_outside(label_scores: Tensor, lengths: Tensor, force_root: bool) -> tuple[Tensor, Tensor]:
    """log Z [B], and the probability that each span is a constituent [S]."""
    frame = _Frame(lengths)
    labels = frame.unpack(label_scores)
    node, sequence = _inside(labels, frame)
    roots = torch.where(lengths == 1, frame.roots(labels), frame.roots(node)) if force_root else frame.roots(sequence)
    return roots, frame.pack(_outside(labels, node, sequence, -roots, force_root, frame))


def _inside(labels: Tensor, frame: _Frame) -> tuple[Tensor, Tensor]:
    node, _ = frame.views(torch.logaddexp(labels, labels.new_zeros(())))
    sequence, sequence_by_end = frame.views(node.clone())
    for width in range(2, frame.longest + 1):
        starts = frame.longest - width + 1
        inner = (node[1:width, :starts] + sequence_by_end[1:width, width:].flip(0)).logsumexp(dim=0)
        node[width, :starts] = labels[width, :starts] + inner
        sequence[width, :starts] = torch.logaddexp(node[width, :starts], inner)
    return node, sequence


def _outside(labels: Tensor, node: Tensor, sequence: Tensor, top: Tensor, force_root: bool, frame: _Frame) -> Tensor:
    """The probabilities, from the top down; what is around a root is worth ``top`` [B]."""
    longest = frame.longest
    _, node_by_end = frame.views(node)
    around_inner, around_inner_by_end = frame.views(torch.full_like(node, -torch.inf))
    marginals = torch.zeros_like(node)
    around_root = torch.full_like(node, -torch.inf)
    around_root[frame.lengths, 0, frame.members] = top
    for width in range(longest, 0, -1):
        starts = longest - width + 1
        wider, rest = slice(width + 1, None), slice(1, longest - width + 1)
        as_last = around_inner_by_end[wider, width:] + node_by_end[rest, :starts]
        as_first = around_inner[wider, :starts] + sequence[rest, width : longest + 1]
        root = around_root[width, :starts]
        around_sequence = as_last.logsumexp(dim=0)
        around_node = torch.cat([root[None], as_last, as_first]).logsumexp(dim=0)
        if not force_root:
            around_sequence = torch.logaddexp(around_sequence, root)
        label = labels[width, :starts]
        around_inner[width, :starts] = torch.logaddexp(around_sequence, around_node + label)
        marginals[width, :starts] = (around_node + (label if width == 1 else node[width, :starts])).exp()
    return marginals


class _Frame:
    """Where packed cells stand in an array [width, start, sentence] of all sentences, padded to the longest."""

    def __init__(self, lengths: Tensor) -> None:
        on_host = lengths.cpu().numpy()
        self.lengths = lengths
        self.members = torch.arange(len(lengths), device=lengths.device)
        self.longest = int(on_host.max(initial=0))
        self.shape = (self.longest + 1, self.longest + 2, len(lengths))
        cells = packing.cells(on_host)
        places = (cells.ends - cells.starts) * self.shape[1] * self.shape[2] + cells.starts * self.shape[2]
        self.places = torch.from_numpy(places + cells.sentences).to(lengths.device)

    def unpack(self, packed: Tensor) -> Tensor:
        """Packed values [S] in their places, zeros elsewhere."""
        return packed.new_zeros(self.shape).flatten().index_copy(0, self.places, packed.detach()).view(self.shape)

    def pack(self, values: Tensor) -> Tensor:
        return values.flatten()[self.places]

    def roots(self, values: Tensor) -> Tensor:
        """The value of the cell over all words of each sentence. [B]"""
        return values[self.lengths, 0, self.members]

    def views(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """The values by start, as they are, and by end: in rows that are one shorter, a span stands at its end."""
        rows, columns, sentences = self.shape
        by_end = values.flatten()[: rows * (columns - 1) * sentences].view(rows, columns - 1, sentences)
        return values, by_end
