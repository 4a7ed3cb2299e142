"""All measures of a text, as one row: add its trees one by one, then ask for the row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final, Protocol

from fencepost.errors import MismatchError
from fencepost.measures import l2sca
from fencepost.measures.depth import embedding, frazier_depths, yngve_depths
from fencepost.measures.pruned import without_punctuation
from fencepost.measures.shape import Shape, labels, shape
from fencepost.search.nodes import Nodes
from fencepost.trees.layout import Layout
from fencepost.trees.tree import Tree

Row = dict[str, Any]
_EMPTY: Final = Shape(0, 0, 0, 0, 0, 0)


class HasTree(Protocol):
    """Anything with a tree, such as a sentence of a document."""

    @property
    def tree(self) -> Tree: ...


class TextMeasures:
    """The measures of one text.

    >>> text = TextMeasures()
    >>> text.add(Tree.from_string("(TOP (S (NP (NNS Cats)) (VP (VBP sleep))))"), probabilities=[0.9, 1.0, 0.8])
    >>> text.add(Tree.from_string("(TOP (S (NP (NNS Dogs)) (VP (VBP bark))))"), probabilities=[0.7, 1.0, 0.7])
    >>> row = text.row()
    >>> row["W"], row["C"], row["MLC"]
    (4, 2, 2.0)
    >>> row["confidence"]["C"], row["confidence"]["VP"]
    (0.8, 0.75)
    """

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter(dict.fromkeys(l2sca.COUNTS, 0))
        self.labels: Counter[str] = Counter()
        self.shape = _EMPTY
        self._yngve = _Tally()
        self._frazier = _Tally()
        self._embedding = _Tally()
        self._certainty = {name: _Tally() for name in ("all", *l2sca.PATTERNS)}

    def add(self, tree: Tree, probabilities: Sequence[float] | None = None) -> None:
        """Adds a tree. ``probabilities`` are those of its phrases below the root symbol, outer before inner."""
        tree = l2sca.rooted(tree)
        certainty = _by_node(tree, probabilities)
        self.counts["S"] += 1
        self.counts["W"] += sum(map(l2sca.is_word, tree.leaves()))
        nodes = Nodes.of(tree)
        for name in l2sca.PATTERNS:
            for node in l2sca.structures(nodes, name):
                self.counts[name] += 1
                if node in certainty:
                    self._certainty[name].add(certainty[node])
        self._certainty["all"].add(*certainty.values())
        self._embedding.add(embedding(Layout(tree)))
        pruned = without_punctuation(tree)
        if pruned is not None:
            self._add_shape(Layout(pruned))

    def _add_shape(self, layout: Layout) -> None:
        self.shape = Shape(*map(sum, zip(self.shape, shape(layout), strict=True)))
        self.labels += labels(layout)
        self._yngve.add(*yngve_depths(layout))
        self._frazier.add(*frazier_depths(layout))

    def row(self) -> Row:
        """The figures by name; ``docs/measures.md`` defines them. A figure without any data is None."""
        sizes = self.shape
        return {
            **self.counts,
            **l2sca.indices(self.counts),
            "yngve_mean": self._yngve.mean,
            "yngve_max": self._yngve.highest,
            "frazier_mean": self._frazier.mean,
            "frazier_max": self._frazier.highest,
            "embedding_mean": self._embedding.mean,
            "embedding_max": self._embedding.highest,
            "branching": _ratio(sizes.children, sizes.phrases),
            "right_branching": _ratio(sizes.right, sizes.branching),
            "left_branching": _ratio(sizes.left, sizes.branching),
            "nonterminals": sizes.phrases,
            "terminals": sizes.words,
            "nonterminals/terminals": _ratio(sizes.phrases, sizes.words),
            "labels": dict(sorted(self.labels.items(), key=lambda pair: (-pair[1], pair[0]))),
            "confidence": self._confidence(),
        }

    def _confidence(self) -> dict[str, float | None]:
        """How sure the parser was of what was counted: see ``docs/measures.md``."""
        overall = self._certainty["all"].mean
        found: dict[str, float | None] = {"all": overall}
        for name in l2sca.PATTERNS:
            found[name] = self._certainty[name].mean
        for name, parts in l2sca.INDICES.items():
            known = [value for part in parts if (value := found.get(part, overall)) is not None]
            found[name] = min(known, default=None)
        return found


class _Tally:
    """Numbers of which only sum, count and maximum are kept."""

    def __init__(self) -> None:
        self.total: float = 0
        self.number = 0
        self.highest: float | None = None

    def add(self, *values: float) -> None:
        self.total += sum(values)
        self.number += len(values)
        self.highest = max(values if self.highest is None else (self.highest, *values), default=self.highest)

    @property
    def mean(self) -> float | None:
        return _ratio(self.total, self.number)


def _ratio(over: float, by: float) -> float | None:
    return over / by if by else None


def _by_node(tree: Tree, probabilities: Sequence[float] | None) -> dict[int, float]:
    """The probabilities by the numbers of the nodes, among which a tag and its word are two."""
    if probabilities is None:
        return {}
    numbers: list[int] = []
    number = 0
    for node in tree.walk():
        if isinstance(node, Tree) and number > 0:
            numbers.append(number)
        number += 1 if isinstance(node, Tree) else 2
    if len(numbers) != len(probabilities):
        raise MismatchError(f"{len(numbers)} phrases but {len(probabilities)} probabilities")
    return dict(zip(numbers, probabilities, strict=True))


def measure(trees: Iterable[Tree | HasTree]) -> Row:
    """The measures of a text, from its trees or from anything that has trees, such as the sentences of a document.

    >>> row = measure([Tree.from_string("(TOP (S (NP (NNS Cats)) (VP (VBP sleep)) (. .)))")])
    >>> row["MLS"], row["yngve_mean"], row["frazier_mean"], row["labels"]
    (2.0, 0.5, 1.75, {'NP': 1, 'S': 1, 'VP': 1})
    """
    text = TextMeasures()
    for each in trees:
        text.add(each if isinstance(each, Tree) else each.tree)
    return text.row()
