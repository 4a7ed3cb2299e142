"""What tests share: where the real treebanks and golden files are, if they are there at all, and the option --base."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.extras import EXTRAS, extras_of

settings.register_profile("no deadline", deadline=None)  # a busy machine is no failure
settings.load_profile("no deadline")

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell that starts a program in the background makes it ignore Ctrl-C, and its children inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--base", action="store_true", help="run only the tests that need no extra (torch, spaCy, …)")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("base"):
        modules: dict[str, Any] = sys.modules
        modules.update(dict.fromkeys(EXTRAS))  # from now on importing one fails, whether it is installed or not


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leaves out whole files, for a file that imports torch can't even be collected without it."""
    left_out = config.getoption("base") and collection_path.suffix == ".py" and extras_of(collection_path)
    return True if left_out else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out single tests of the other files, those marked ``extras``."""
    if config.getoption("base"):
        left_out = [item for item in items if item.get_closest_marker("extras")]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if not item.get_closest_marker("extras")]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder beside the checkout with treebanks and other programs' answers; the test is skipped without it."""
    if not SHARED.is_dir():
        pytest.skip("no ../shared folder with treebanks and golden files")
    return SHARED
