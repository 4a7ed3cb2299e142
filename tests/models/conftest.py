"""The scripts of models are run from their own folders, and so are their tests."""

from __future__ import annotations

import sys
from pathlib import Path

for _folder in ("languages", "english"):
    sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "models" / _folder))
