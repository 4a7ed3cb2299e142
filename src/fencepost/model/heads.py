"""The heads of attention: their sizes, and where their queries, keys and values stand."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor


class HeadSizes(NamedTuple):
    """§2.2.1. How many heads, d_k, d_v, and ``divisor`` where q · k is divided by its root instead of d_k's."""

    heads: int
    d_k: int
    d_v: int
    divisor: int | None = None

    @property
    def scale(self) -> float:
        """What q · k is multiplied by."""
        return 1 / math.sqrt(self.divisor or self.d_k)


class Roles(NamedTuple):
    """§2.2.1. Q, K and V of all heads: [blocks, R, heads * d / blocks] each, head by head."""

    query: Tensor
    key: Tensor
    value: Tensor


def roles(parts: Sequence[Tensor], sizes: HeadSizes) -> Roles:
    """Views of one, two or three tensors [blocks, R, columns], whose columns are queries, keys and values."""
    blocks = len(parts[0])
    assert sizes.d_k % blocks == sizes.d_v % blocks == 0, "a head has as many numbers in each block"
    widths = [sizes.heads * size // blocks for size in (sizes.d_k, sizes.d_k, sizes.d_v)]
    views: list[Tensor] = []
    for part in parts:
        first = 0
        while first < part.shape[-1]:
            width = widths[len(views)]
            views.append(part[..., first : first + width])
            first += width
    return Roles(*views)
