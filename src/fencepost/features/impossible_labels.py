"""Labels that a span can't have because of its words' tags: nouns alone aren't a prepositional phrase.

A model that has seen few prices reads "a share" in "$3 a share" as a prepositional phrase. In Penn's English treebanks
such a phrase has a preposition in it. The rule is for models with Penn's English tags and a table of possible tags:
imported models keep the trees that they have elsewhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from fencepost.features.batch import Ints
from fencepost.features.vocabularies import Vocabularies

PREPOSITIONAL: Final = "PP"
# Names are left out: in headlines, taggers take "In" and "On" for parts of names.
NOMINAL_TAGS: Final = frozenset({"CD", "DT", "NN", "NNS", "PRP", "PRP$", "$"})
PENN_TAGS: Final = frozenset({"CD", "DT", "IN", "NN", "NNS", "PRP", "PRP$", "TO"})

Marks = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ImpossibleLabels:
    """No span of nominal words alone can have one of these labels."""

    labels: Ints  # with a prepositional phrase in their chain
    nominal: Marks  # for each tag

    @classmethod
    def of(cls, vocabularies: Vocabularies) -> ImpossibleLabels | None:
        """None if the rule doesn't apply to the model."""
        labels = [number for number, chain in enumerate(vocabularies.labels.chains) if PREPOSITIONAL in chain]
        tags = vocabularies.tags
        if vocabularies.possible_tags is None or not labels or not tags.ids.keys() >= PENN_TAGS:
            return None
        nominal = np.zeros(len(tags), np.bool_)
        nominal[[tags.ids[tag] for tag in NOMINAL_TAGS & tags.ids.keys()]] = True
        return cls(np.array(labels, np.int64), nominal)

    def others_before(self, tags: Ints, lengths: Ints) -> Ints:
        """Counts the words that aren't nominal before each fencepost of a batch, from the tags of its words [W].

        A span has only nominal words if its two fenceposts have the same count.
        """
        others = ~self.nominal[np.minimum(tags, len(self.nominal) - 1)]
        steps = np.zeros(int((lengths + 1).sum()), np.int64)
        steps[np.arange(len(tags)) + 1 + np.repeat(np.arange(len(lengths)), lengths)] = others
        return np.cumsum(steps)
