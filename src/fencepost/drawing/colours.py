"""The colours of all pictures and pages."""

from __future__ import annotations

from typing import Final

PAPER: Final = "#fff"
RULE: Final = "#dde2e7"  # frames and lines between sections

# Trees
WORD: Final = "#111"
PHRASE: Final = "#1a4480"
TAG: Final = "#5c6670"
BRANCH: Final = "#9aa4ae"

# Reports and their charts
INK: Final = "#1f2933"
QUIET_INK: Final = "#55606b"  # captions
BLUE: Final = "#1d5fa8"
ORANGE: Final = "#c2571a"
GREY: Final = "#8a94a0"
PANEL: Final = "#f4f6f8"  # behind figures, and a heat map's 0
EMPTY_BAR: Final = "#eef1f4"
