"""The table of what labels mean."""

from __future__ import annotations

import pytest

from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.label_names import KINDS, LabelName, label_names

ROWS = [(kind, label, name) for kind in KINDS for label, name in label_names()[kind].items()]


@pytest.mark.parametrize(("kind", "label", "name"), ROWS, ids=lambda part: part if isinstance(part, str) else "")
def test_every_label_has_a_meaning_and_an_example_with_its_part_marked(kind: str, label: str, name: LabelName) -> None:
    assert name.meaning
    assert name.example.count("*") in (2, 4)
    assert all(name.example.split("*")[1::2])


def test_every_label_and_tag_of_the_shipped_model_is_explained() -> None:
    vocabularies = ModelFolder.open().vocabularies
    labels = {label for chain in vocabularies.labels.chains for label in chain} | {vocabularies.root}
    assert labels <= label_names()["phrases"].keys()
    assert set(vocabularies.tags.symbols) <= label_names()["tags"].keys()
