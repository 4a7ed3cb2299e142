"""What tests share: where the real treebanks and golden files are, if they are there at all."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the checkout with treebanks and other programs' answers; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder with treebanks and golden files")
    return SHARED
