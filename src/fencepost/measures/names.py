"""What each figure of a row is, in a few words. The order is that of a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

DESCRIPTIONS: Final[Mapping[str, str]] = {
    "W": "words",
    "S": "sentences",
    "VP": "verb phrases",
    "C": "clauses",
    "T": "T-units",
    "DC": "dependent clauses",
    "CT": "complex T-units",
    "CP": "coordinate phrases",
    "CN": "complex nominals",
    "MLS": "mean length of sentence",
    "MLT": "mean length of T-unit",
    "MLC": "mean length of clause",
    "C/S": "clauses per sentence",
    "VP/T": "verb phrases per T-unit",
    "C/T": "clauses per T-unit",
    "DC/C": "dependent clauses per clause",
    "DC/T": "dependent clauses per T-unit",
    "T/S": "T-units per sentence",
    "CT/T": "complex T-units per T-unit",
    "CP/T": "coordinate phrases per T-unit",
    "CP/C": "coordinate phrases per clause",
    "CN/T": "complex nominals per T-unit",
    "CN/C": "complex nominals per clause",
    "yngve_mean": "Yngve depth, mean over words",
    "yngve_max": "Yngve depth, highest",
    "frazier_mean": "Frazier depth, mean over words",
    "frazier_max": "Frazier depth, highest",
    "embedding_mean": "depth of embedded clauses, mean over sentences",
    "embedding_max": "depth of embedded clauses, highest",
    "branching": "children per phrase",
    "right_branching": "share of branching phrases that grow to the right",
    "left_branching": "share of branching phrases that grow to the left",
    "nonterminals": "phrases",
    "terminals": "words without punctuation",
    "nonterminals/terminals": "phrases per word",
}
