"""Heads: which child of a phrase carries on its meaning, by tables of rules.

A rule is a direction and a list of labels. ``left`` takes the first label of the list that some child has, and its
leftmost child with it; ``leftdis`` takes the leftmost child with any label of the list; ``right`` and ``rightdis`` look
from the right. A label that ends in ``*`` stands for all labels that begin so. The first rule of a phrase that finds
a child decides. If none does, the first child is the head after ``left`` rules and the last one after ``right`` rules.

``COLLINS`` is the table of Collins' thesis (1999, pp. 238-240) as Stanford's ``CollinsHeadFinder`` applies it:
Tregex's ``<#`` means exactly this. ``head_tables`` has tables for trees of several languages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Final, Literal

from fencepost.trees.tree import Leaf, Node, Tree

Direction = Literal["left", "right", "leftdis", "rightdis"]
Rule = tuple[Direction, tuple[str, ...]]

PENN_PUNCTUATION: Final = frozenset({"''", "``", "-LRB-", "-RRB-", ".", ":", ","})
_CONJUNCTIONS: Final = frozenset({"CC", "CONJP"})
_AFTER_LABEL: Final = frozenset("-=|#^~_[")  # what separates a Penn label from its functions and indices


class HeadRules:
    """A table of head rules.

    >>> from fencepost import Tree
    >>> tree = Tree.from_string("(NP (NP (DT the) (NN cat)) (PP (IN on) (NP (DT the) (NN mat))))")
    >>> COLLINS.head_child(tree)
    0
    >>> COLLINS.head(tree)
    Leaf('NN', 'cat')
    """

    def __init__(
        self,
        rules: Mapping[str, Sequence[Rule]],
        *,
        other: Direction = "right",
        avoid: Iterable[str] = (),
        marks: Iterable[str] = (),
        coordination: bool = False,
    ) -> None:
        """A table of head rules.

        Args:
            rules: For each label, the rules to try in order.
            other: The direction for labels without rules, and the side to choose from.
            avoid: Labels and tags that are heads only of phrases that have no other child, such as punctuation.
            marks: Functions that mark heads: with ``HD``, the child ``VVFIN-HD`` is the head whatever the rules say.
            coordination: True if a head right after a conjunction (CC, CONJP) gives way to the conjunct before it.
        """
        self.rules: Final = {
            label: tuple((way, tuple(names)) for way, names in table) for label, table in rules.items()
        }
        self.other: Final = other
        self.avoid: Final = frozenset(avoid)
        self.marks: Final = frozenset(marks)
        self.coordination: Final = coordination
        self._choose = lru_cache(maxsize=2**14)(self._choose_unmemoised)

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (self.rules, self.other, self.avoid, self.marks, self.coordination))

    def choose(self, label: str, children: Sequence[str]) -> int:
        """The index of the head, from the label of a phrase and the labels and tags of its children.

        >>> COLLINS.choose("VP", ["MD", "RB", "VP"])
        0
        """
        return 0 if len(children) == 1 else self._choose(label, tuple(children))

    def head_child(self, tree: Tree) -> int:
        """The index of the head among the children of a phrase."""
        children = tree.children
        if len(children) == 1:
            return 0
        return self._choose(tree.label, tuple([node.label if type(node) is Tree else node.tag for node in children]))  # type: ignore[union-attr]

    def head(self, tree: Node) -> Leaf:
        """The head word of a phrase: the head of its head, and so on down to a leaf."""
        while isinstance(tree, Tree):
            tree = tree.children[self.head_child(tree)]
        return tree

    def head_words(self, tree: Tree) -> list[int]:
        """For every phrase, outer before inner as in ``tree.spans()``, the number of its head word from 0.

        >>> from fencepost import Tree
        >>> COLLINS.head_words(Tree.from_string("(S (NP (DT the) (NN cat)) (VP (VBD sat)))"))
        [2, 1, 2]
        """
        heads: list[int] = []
        stack: list[tuple[Node, list[int]]] = [(tree, [])]  # a node, and the phrases whose head it leads to
        words = 0
        while stack:
            node, waiting = stack.pop()
            if isinstance(node, Tree):
                waiting.append(len(heads))
                heads.append(-1)
                chosen = self.head_child(node)
                for index in range(len(node.children) - 1, -1, -1):
                    stack.append((node.children[index], waiting if index == chosen else []))
            else:
                for phrase in waiting:
                    heads[phrase] = words
                words += 1
        return heads

    def _choose_unmemoised(self, label: str, children: tuple[str, ...]) -> int:
        if self.marks:
            marked = [index for index, child in enumerate(children) if self._is_marked(child)]
            if marked:
                return marked[0]
        rules = self.rules.get(label) or self.rules.get(plain_label(label).removeprefix("@"), ())
        for way, wanted in rules:
            index = _find(way, wanted, children)
            if index is not None:
                return self._first_conjunct(index, children)
        return self._default(rules[-1][0] if rules else self.other, children)

    def _is_marked(self, label: str) -> bool:
        return any(part in self.marks for part in label.replace("=", "-").split("-")[1:])

    def _default(self, way: Direction, children: tuple[str, ...]) -> int:
        order = _order(way, children)
        return next((index for index in order if not _is_one_of(children[index], self.avoid)), order[0])

    def _first_conjunct(self, index: int, children: tuple[str, ...]) -> int:
        if not self.coordination or index < 2 or not _is_one_of(children[index - 1], _CONJUNCTIONS):
            return index
        # After a comma and a conjunction Stanford's program leaves the head where it is, and so do we.
        return index if children[index - 2] in PENN_PUNCTUATION else index - 2


def _rebuild(
    rules: Mapping[str, Sequence[Rule]], other: Direction, avoid: frozenset[str], marks: frozenset[str], both: bool
) -> HeadRules:
    return HeadRules(rules, other=other, avoid=avoid, marks=marks, coordination=both)


def _order(way: Direction, children: tuple[str, ...]) -> range:
    return range(len(children)) if way.startswith("left") else range(len(children) - 1, -1, -1)


def _find(way: Direction, wanted: tuple[str, ...], children: tuple[str, ...]) -> int | None:
    order = _order(way, children)
    if way.endswith("dis"):
        return next((index for index in order if _is_one_of(children[index], wanted)), None)
    return next((index for label in wanted for index in order if _is_one_of(children[index], (label,))), None)


def _is_one_of(label: str, wanted: Iterable[str]) -> bool:
    """True if the label, with or without its functions, is wanted; ``nc*`` wants all labels that begin with nc."""
    plain = plain_label(label)
    return any(
        label.startswith(each[:-1]) if each.endswith("*") and each != "*" else each in (label, plain) for each in wanted
    )


@lru_cache(maxsize=2**12)
def plain_label(label: str) -> str:
    """A Penn label without functions and indices: ``NP-SBJ=2`` is ``NP``; ``-LRB-`` and ``-NONE-`` stay whole.

    >>> plain_label("NP-SBJ=2")
    'NP'
    """
    opened = label[0] if label[0] in _AFTER_LABEL else ""
    for index, character in enumerate(label[1:], 1):
        if character in _AFTER_LABEL:
            if character != opened or index == 1:
                return label[:index]
            opened = ""
    return label


def left(labels: str = "") -> Rule:
    """A rule whose labels are in one string: ``left("VP S")``."""
    return "left", tuple(labels.split())


def right(labels: str = "") -> Rule:
    """A rule whose labels are in one string."""
    return "right", tuple(labels.split())


def leftdis(labels: str) -> Rule:
    """A rule whose labels are in one string."""
    return "leftdis", tuple(labels.split())


def rightdis(labels: str) -> Rule:
    """A rule whose labels are in one string."""
    return "rightdis", tuple(labels.split())


COLLINS_RULES: Final[Mapping[str, Sequence[Rule]]] = {
    "ADJP": [left("NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB")],
    "ADVP": [right("RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN")],
    "CONJP": [right("CC RB IN")],
    "EDITED": [left()],
    "FRAG": [right()],
    "INTJ": [left()],
    "LST": [right("LS :")],
    "NAC": [left("NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW")],
    "NP": [
        rightdis("NN NNP NNPS NNS NX POS JJR"),
        left("NP"),
        rightdis("$ ADJP PRN"),
        right("CD"),
        rightdis("JJ JJS RB QP"),
    ],
    "NX": [left()],
    "PP": [right("IN TO VBG VBN RP FW")],
    "PRN": [left()],
    "PRT": [right("RP")],
    "QP": [left("$ IN NNS NN JJ RB DT CD NCD QP JJR JJS")],
    "RRC": [right("VP NP ADVP ADJP PP")],
    "S": [left("TO IN VP S SBAR ADJP UCP NP")],
    "SBAR": [left("WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG")],
    "SBARQ": [left("SQ S SINV SBARQ FRAG")],
    "SINV": [left("VBZ VBD VBP VB MD VP S SINV ADJP NP")],
    "SQ": [left("VBZ VBD VBP VB MD VP SQ")],
    "TYPO": [left()],
    "UCP": [right()],
    "VP": [left("TO VBD VBN MD VBZ VB VBG VBP AUX AUXG VP ADJP NN NNS NP")],
    "WHADJP": [left("CC WRB JJ ADJP")],
    "WHADVP": [right("CC WRB")],
    "WHNP": [left("WDT WP WP$ WHADJP WHPP WHNP")],
    "WHPP": [right("IN TO FW")],
    "X": [right()],
    "XS": [right("IN")],
}

COLLINS: Final = HeadRules(COLLINS_RULES, coordination=True)
