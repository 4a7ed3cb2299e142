"""What labels mean, in words: phrases (NP), part-of-speech tags (NN) and grammatical functions (SBJ)."""

from __future__ import annotations

import sys
from functools import cache
from importlib import resources
from typing import Final, NamedTuple

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

KINDS: Final = ("phrases", "tags", "functions")


class LabelName(NamedTuple):
    """The meaning of a label, and an example in which stars mark what the label names."""

    meaning: str
    example: str


@cache
def label_names() -> dict[str, dict[str, LabelName]]:
    """All labels by kind (``phrases``, ``tags``, ``functions``), then by label.

    >>> label_names()["phrases"]["PP"].meaning
    'prepositional phrase'
    """
    text = resources.files("fencepost.trees").joinpath("label_names.toml").read_text("utf-8")
    table = tomllib.loads(text)
    return {kind: {label: LabelName(*row) for label, row in table[kind].items()} for kind in KINDS}
