"""The tokens that attention is drawn between: a sentence's words, with a start and a stop token around them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fencepost.drawing.direction import is_right_to_left

START: Final = "⟨start⟩"
STOP: Final = "⟨stop⟩"


def runs_right_to_left(tokens: Sequence[str]) -> bool:
    """True if the words run from right to left. START and STOP are in Latin letters but don't count."""
    return is_right_to_left(token for token in tokens if token not in (START, STOP))
