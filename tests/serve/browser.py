"""A real browser for the tests of the page: the system's Chromium, driven by playwright."""

from __future__ import annotations

import os
import shutil
from typing import Final

CHROMIUM: Final = os.environ.get("FENCEPOST_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
FLAGS: Final = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
