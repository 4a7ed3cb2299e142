"""Grammatical functions of all treebanks in one notation: that of the Wall Street Journal. README.md says why.

Where a treebank doesn't mark a function that others mark, the function gets a question mark: ``PP-CLR?`` may have the
function CLR, and training leaves it to the other treebanks (see ``fencepost.trees.functions``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, TypeGuard

from nodes import name, rebuild

from fencepost.trees.functions import Mark, split_functions, split_label, with_functions
from fencepost.trees.tree import Leaf, Node, Tree

# Kinds of text and of clauses rather than functions, or marked in one treebank only.
DROPPED: Final = frozenset({"TTL", "HLN", "CLF", "IMP", "ETC", "UNF", "SEZ", "FRM"})
RENAMED: Final = {"PUT": "LOC", "BNF": "DTV"}
WITHOUT: Final = frozenset(
    {"VP", "WHNP", "WHPP", "WHADVP", "WHADJP"}
)  # phrases that have no function in Penn's notation
CLAUSES: Final = frozenset({"S", "SQ", "SINV"})
ADVERBIAL: Final = ("TMP", "PRP", "MNR", "LOC")

# Prepositions whose phrases Penn leaves without a function inside a noun phrase.
PLAIN: Final = frozenset(
    {"of", "for", "with", "without", "as", "such", "like", "including", "about", "than", "by", "to", "between"}
)
# Prepositions that GUM marks as places where the place is only part of the phrase: "with a friend in Rome".
NO_PLACE: Final = frozenset({"for", "with", "as", "such", "like", "about", "of", "including"})
# Adverbs that GUM calls temporal or of manner, and Penn neither.
NEITHER: Final = frozenset(
    {
        "ahead",
        "clearly",
        "completely",
        "entirely",
        "especially",
        "far",
        "fully",
        "furthermore",
        "further",
        "hardly",
        "hopefully",
        "however",
        "literally",
        "nevertheless",
        "normally",
        "otherwise",
        "relatedly",
        "right",
        "significantly",
        "simply",
        "whatsoever",
    }
)
COMPLEMENTS: Final = frozenset({"use", "used", "uses", "using", "designed"})  # "used [to make tea]" is S-CLR
RATES: Final = frozenset({"a", "an", "each"})  # "a day" in "ten miles a day"
PLACES: Final = frozenset({"here", "there"})
INSIDE: Final = frozenset({"PP", "ADVP", "ADJP"})  # phrases whose parts hardly ever have functions

# What a phrase without a function may still have, by its label and that of its parent.
UNMARKED: Final[dict[str, dict[tuple[str, str], tuple[str, ...]]]] = {
    "craft": {
        ("PP", "VP"): ("CLR", "DIR"),
        ("ADVP", "VP"): ("CLR", "DIR", "MNR"),
        ("S", "VP"): ("CLR",),
        ("NP", "VP"): ("CLR",),
    },
    "gum": {
        ("PP", "VP"): ("CLR", "LOC", "MNR", "PRP", "DIR", "TMP", "EXT"),
        ("PP", "S"): ("CLR", "LOC", "MNR", "PRP", "TMP"),
        ("PP", "NP"): ("LOC", "TMP", "DIR"),
        ("ADVP", "VP"): ("CLR", "LOC", "DIR", "MNR", "EXT", "PRD"),
        ("ADVP", "S"): ("LOC", "MNR"),
        ("ADVP", "NP"): ("LOC", "TMP", "DIR"),
        ("NP", "VP"): ("CLR", "EXT", "PRD"),
        ("NP", "S"): ("PRD", "TMP", "TPC", "VOC", "ADV"),
        ("NP", "NP"): ("LOC",),
        ("S", "VP"): ("CLR", "MNR", "PRD"),
        ("S", "S"): ("TPC", "MNR", "SBJ"),
        ("S", "SINV"): ("TPC",),
        ("S", "PP"): ("NOM",),
        ("SBAR", "PP"): ("NOM",),
        ("SBAR", "VP"): ("ADV", "TMP", "PRP", "MNR", "LOC", "NOM", "PRD"),
        ("SBAR", "S"): ("ADV", "TMP", "PRP", "MNR", "LOC", "NOM", "SBJ"),
    },
}


def harmonize_functions(tree: Tree, corpus: str) -> Tree:
    """The tree with at most one function in each label, as the Wall Street Journal has them."""
    if corpus == "gum":
        tree = _penn_subjects(tree)
    single = with_functions(*split_functions(rebuild(tree, _kept)))
    return rebuild(single, lambda parent: _with_marks(parent, corpus))


def _with_marks(parent: Tree, corpus: str) -> Tree:
    children = [_marked(child, parent, corpus) if isinstance(child, Tree) else child for child in parent.children]
    return Tree(parent.label, children)


def _marked(node: Tree, parent: Tree, corpus: str) -> Tree:
    label, before = split_label(node.label)
    mark = str(_mark(Place(label, name(parent), before, node, parent), corpus))
    return Tree(f"{label}-{mark}" if mark else label, node.children)


@dataclass(frozen=True)
class Place:
    """A phrase, where it is, and what its treebank says about its function."""

    label: str
    above: str  # the label of its parent
    mark: Mark
    node: Tree
    parent: Tree

    @property
    def first(self) -> str:
        return self.node.leaves()[0].word.lower()

    @property
    def is_one_word(self) -> bool:
        return len(self.node.leaves()) == 1


def _kept(node: Tree) -> Tree:
    """Drops and renames functions before one of several is chosen."""
    label, *functions = node.label.split("-") if not node.label.startswith("-") else [node.label]
    kept = [RENAMED.get(function, function) for function in functions if function not in DROPPED]
    return Tree("-".join([label, *kept]), node.children)


def _mark(place: Place, corpus: str) -> Mark:
    if place.label in WITHOUT:
        return Mark()
    mark = _CHANGES[corpus](place) if corpus in _CHANGES else place.mark
    if mark is None:
        return Mark(maybe=UNMARKED[corpus].get((place.label, place.above), ()))
    return mark


def _marked_in_craft(place: Place) -> Mark | None:
    """CRAFT hardly ever marks complements, and its annotators see a manner where Penn's don't. None if unmarked."""
    label, above, function = place.label, place.above, place.mark.function
    if label == "S" and function == "MNR":
        return Mark("ADV", ("MNR",))  # "[using a filter]"
    if label == "S" and above == "VP" and function == "PRP" and _verb(place.parent) in COMPLEMENTS:
        return Mark("CLR")
    if label == "PP" and function == "MNR" and place.first == "according":
        return Mark(maybe=("MNR",))
    if label == "PP" and above == "VP" and function in ("MNR", "PRP", "DIR"):
        return Mark(function, ("CLR",))
    if label == "NP" and above == "NP" and function in ("LOC", "ADV"):
        return Mark(maybe=(function,))  # "Minneapolis, [Minnesota]"
    if label == "ADVP" and function is None and place.is_one_word and place.first in PLACES:
        return Mark(maybe=("LOC", "CLR", "DIR"))
    return place.mark if function else None


def _marked_in_gum(place: Place) -> Mark | None:
    """GUM's functions were projected from dependencies, which tell fewer functions apart. None if unmarked."""
    label, above, function = place.label, place.above, place.mark.function
    if label == "NP" and (above == "ADVP" or (above == "PP" and function != "LGS")):
        return Mark()  # (ADVP (NP two years) ago), (PP until (NP last year))
    if label in ("PP", "ADVP") and above in INSIDE:
        return Mark(maybe=(function,)) if function and above == "ADJP" else Mark()
    if label in ("S", "SBAR") and above in ("SBAR", "ADJP"):
        return Mark()  # "too tired [to go]"
    if label == "ADJP" and above in ("VP", "S") and not function:
        return Mark("PRD")
    if label == "SBAR" and function == "ADV":
        return Mark("ADV", ADVERBIAL)
    if label == "S" and above == "VP" and function == "PRD":
        return Mark()  # open complements: "let [me look]"
    if label == "S" and above == "VP" and function == "PRP" and _verb(place.parent) in COMPLEMENTS:
        return Mark("CLR")
    if above == "NP" and label in ("NP", "PP", "ADVP"):
        return _inside_noun_phrase(place)
    if label == "PP" and above == "VP":
        if function == "LOC" and place.first in NO_PLACE:
            return None
        if function in ("DIR", "DTV"):
            return Mark(function, ("CLR",))  # "to" and "into"
    if label == "ADVP" and function in ("TMP", "MNR") and place.is_one_word and place.first in NEITHER:
        return None
    return place.mark if function else None


def _inside_noun_phrase(place: Place) -> Mark | None:
    """A part of a noun phrase in GUM."""
    label, function = place.label, place.mark.function
    if label == "PP":
        if place.first in PLAIN:
            return Mark()
        return Mark(function) if function in ("LOC", "TMP") else None
    if label == "ADVP":
        return Mark() if function == "MNR" else place.mark if function else None
    if function in ("TMP", "ADV", "EXT") and place.first in RATES:
        return Mark("ADV")  # "ten miles [a day]"
    if function == "TMP":
        return Mark(maybe=("TMP",))
    return place.mark if function == "VOC" else None


def _verb(phrase: Tree) -> str:
    first = phrase.children[0]
    return first.word.lower() if isinstance(first, Leaf) else ""


_CHANGES: Final[dict[str, Callable[[Place], Mark | None]]] = {"craft": _marked_in_craft, "gum": _marked_in_gum}


def _penn_subjects(tree: Tree, there: bool = False) -> Tree:
    """Gives the clauses of GUM the subjects that Penn gives them.

    In "there is a way", GUM's subject is "a way"; Penn's is "there", and "a way" is the predicate. GUM marks no
    expletive "it" either. ``there`` says that the clause around a VP begins with "there".
    """
    children: list[Node] = list(tree.children)
    if name(tree) == "VP":
        predicate = "NP-PRD" if there else "NP"
        children = [Tree(predicate, child.children) if _is(child, "NP-SBJ") else child for child in children]
    else:
        there = any(isinstance(child, Tree) and name(child.children[0]) == "EX" for child in children)
    if name(tree) in CLAUSES and not any(_has_subject(child) for child in children):
        names = [name(child) for child in children]
        before = names[: names.index("VP")] if "VP" in names else []
        nouns = [index for index in range(len(before)) if _is(children[index], "NP")]
        if nouns:
            subject = children[nouns[-1]]
            assert isinstance(subject, Tree)
            children[nouns[-1]] = Tree("NP-SBJ", subject.children)
    return Tree(tree.label, [_penn_subjects(child, there) if isinstance(child, Tree) else child for child in children])


def _is(node: Node, label: str) -> TypeGuard[Tree]:
    return isinstance(node, Tree) and node.label == label


def _has_subject(node: Node) -> bool:
    return isinstance(node, Tree) and split_label(node.label)[1].function == "SBJ"
