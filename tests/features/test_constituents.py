from __future__ import annotations

import numpy as np

from fencepost.features.constituents import Constituents
from fencepost.features.vocab import Labels
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Tree

LABELS = Labels(((), ("S",), ("NP",), ("VP",), ("S", "VP"), ("FRAG", "ADVP")))
FIRST = Tree.from_string("(TOP (S (NP (PRP It)) (VP (VBZ lets) (S (VP (VB be))))))")
SECOND = Tree.from_string("(TOP (NP (NN tea) (XP (NN time))))")


def test_every_label_of_a_chain_has_the_label_above_it_as_its_parent() -> None:
    found = Constituents.of([spans_below_root(FIRST), spans_below_root(SECOND)], LABELS)
    names = {number: label for label, number in LABELS.symbols.items()} | {0: "-"}
    rows = zip(
        found.sentences.tolist(), found.starts.tolist(), found.ends.tolist(), found.labels, found.parents, strict=True
    )
    assert [(sentence, start, end, names[own], names[up]) for sentence, start, end, own, up in rows] == [
        (0, 0, 3, "S", "-"),
        (0, 0, 1, "NP", "S"),
        (0, 1, 3, "VP", "S"),
        (0, 2, 3, "S", "VP"),
        (0, 2, 3, "VP", "S"),
        (1, 0, 2, "NP", "-"),
        (1, 1, 2, "-", "NP"),  # XP is not a label of the model
    ]


def test_fenceposts_count_through_the_batch() -> None:
    found = Constituents.of([spans_below_root(FIRST), spans_below_root(SECOND)], LABELS)
    starts, ends = found.fenceposts(np.array([3, 2]))
    assert (starts[-2:].tolist(), ends[-2:].tolist()) == ([4, 5], [6, 6])


def test_labels_added_later_keep_the_numbers_of_single_labels() -> None:
    longer = LABELS.extended(Labels(((), ("PP", "NP"), ("S", "XP"))))
    assert list(longer.symbols.items())[: len(LABELS.symbols)] == list(LABELS.symbols.items())
    assert list(longer.symbols.values()) == list(range(1, len(longer.symbols) + 1))
