"""The heads of attention: their sizes, and which columns hold their queries, keys and values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor


class HeadSizes(NamedTuple):
    """§2.2.1. The number of heads, d_k and d_v. q · k is divided by sqrt(d_k), or by sqrt(``divisor``) if given."""

    heads: int
    d_k: int
    d_v: int
    divisor: int | None = None

    @property
    def scale(self) -> float:
        """The factor by which q · k is multiplied."""
        return 1 / math.sqrt(self.divisor or self.d_k)


class Roles(NamedTuple):
    """§2.2.1. Q, K and V of all heads: [blocks, R, heads * d / blocks] each, head by head."""

    query: Tensor
    key: Tensor
    value: Tensor


def roles(parts: Sequence[Tensor], sizes: HeadSizes) -> Roles:
    """Views of one, two or three tensors [blocks, R, columns], whose columns are queries, keys and values."""
    blocks = len(parts[0])
    assert sizes.d_k % blocks == sizes.d_v % blocks == 0, "each head must divide evenly among the blocks"
    widths = [sizes.heads * size // blocks for size in (sizes.d_k, sizes.d_k, sizes.d_v)]
    views: list[Tensor] = []
    for part in parts:
        first = 0
        while first < part.shape[-1]:
            width = widths[len(views)]
            views.append(part[..., first : first + width])
            first += width
    return Roles(*views)
