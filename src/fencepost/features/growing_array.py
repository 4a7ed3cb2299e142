"""An array that values are appended to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt


class GrowingArray:
    """Its memory doubles when it is full, so that appending n values takes time in proportion to n."""

    def __init__(self, kind: npt.DTypeLike, values: Sequence[Any] = ()) -> None:
        self._memory: npt.NDArray[Any] = np.zeros(max(1024, len(values)), kind)
        self._used = 0
        self.append(values)

    def __len__(self) -> int:
        return self._used

    @property
    def array(self) -> npt.NDArray[Any]:
        """The values so far. Writing to it changes them."""
        return self._memory[: self._used]

    def append(self, values: Sequence[Any]) -> None:
        needed = self._used + len(values)
        if needed > len(self._memory):
            larger = np.zeros(max(needed, 2 * len(self._memory)), self._memory.dtype)
            larger[: self._used] = self.array
            self._memory = larger
        self._memory[self._used : needed] = values
        self._used = needed
