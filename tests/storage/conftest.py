"""A small model folder to write over, damage and find."""

from __future__ import annotations

from pathlib import Path

import pytest

from fencepost.features.vocabularies import Vocabularies
from fencepost.storage.model_files import WEIGHTS
from fencepost.storage.model_writer import write_model
from tests.samples import TREES, tiny_config

VOCABULARY = Vocabularies.of(TREES, tiny_config())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_model(tmp_path / "model", tiny_config(), VOCABULARY, "a card", {WEIGHTS: b"weights"})
    return tmp_path / "model"
