"""A server that the tests of this folder share. It imports nothing early: the base install has no server."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.serve.serving import Client


@pytest.fixture(scope="package")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    from tests.serve.serving import in_thread

    with in_thread(tmp_path_factory.mktemp("metrics")) as client:
        yield client
