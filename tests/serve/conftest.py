"""A server that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.serve.serving import Client, in_thread


@pytest.fixture(scope="session")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with in_thread(tmp_path_factory.mktemp("metrics")) as client:
        yield client
