"""Grammatical functions of all treebanks in one notation: that of the Wall Street Journal. README.md says why.

Where a treebank doesn't mark a function that others mark, the function gets a question mark: ``PP-CLR?`` may have the
function CLR, and training leaves it to the other treebanks (see ``fencepost.trees.functions``).
"""

from __future__ import annotations

from typing import Final, TypeGuard

from nodes import name, rebuild

from fencepost.trees.functions import Mark, split_functions, split_label, with_functions
from fencepost.trees.spans import phrases, spans_below_root
from fencepost.trees.tree import Node, Tree

# Kinds of text and of clauses rather than functions, or marked in one treebank only.
DROPPED: Final = frozenset({"TTL", "HLN", "CLF", "IMP", "ETC", "UNF", "SEZ", "FRM"})
RENAMED: Final = {"PUT": "LOC", "BNF": "DTV"}
WITHOUT: Final = frozenset(
    {"VP", "WHNP", "WHPP", "WHADVP", "WHADJP"}
)  # phrases that have no function in Penn's notation
CLAUSES: Final = frozenset({"S", "SQ", "SINV"})
ADVERBIAL: Final = ("TMP", "PRP", "MNR", "LOC")

# What a phrase without a function may still have, by its label and that of its parent.
UNMARKED: Final[dict[str, dict[tuple[str, str], tuple[str, ...]]]] = {
    "craft": {
        ("PP", "VP"): ("CLR", "DIR"),
        ("ADVP", "VP"): ("CLR", "DIR"),
        ("S", "VP"): ("CLR",),
        ("NP", "VP"): ("CLR",),
    },
    "gum": {
        ("PP", "VP"): ("CLR", "LOC", "MNR", "PRP", "DIR", "TMP", "EXT"),
        ("PP", "S"): ("CLR", "LOC", "MNR", "PRP", "TMP"),
        ("ADVP", "VP"): ("CLR", "LOC", "DIR", "MNR", "EXT", "PRD"),
        ("ADVP", "S"): ("LOC", "MNR"),
        ("NP", "VP"): ("CLR", "EXT", "PRD"),
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
    plain, marks = split_functions(rebuild(tree, _kept))
    pairs = zip(phrases(spans_below_root(plain)), marks, strict=True)
    return with_functions(plain, [_mark(phrase.label, phrase.parent, mark, corpus) for phrase, mark in pairs])


def _kept(node: Tree) -> Tree:
    """Drops and renames functions before one of several is chosen."""
    label, *functions = node.label.split("-") if not node.label.startswith("-") else [node.label]
    kept = [RENAMED.get(function, function) for function in functions if function not in DROPPED]
    return Tree("-".join([label, *kept]), node.children)


def _mark(label: str, parent: str, mark: Mark, corpus: str) -> Mark:
    if label in WITHOUT:
        return Mark()
    if corpus == "gum":
        mark = _marked_in_gum(label, parent, mark)
    if mark:
        return mark
    return Mark(maybe=UNMARKED.get(corpus, {}).get((label, parent), ()))


def _marked_in_gum(label: str, parent: str, mark: Mark) -> Mark:
    """GUM's functions were projected from dependencies, which tell fewer functions apart."""
    if label == "NP" and (parent == "ADVP" or (parent == "PP" and mark.function != "LGS")):
        return Mark()  # (ADVP (NP two years) ago), (PP until (NP last year))
    if label == "ADJP" and parent in ("VP", "S") and not mark:
        return Mark("PRD")
    if label == "SBAR" and mark.function == "ADV":
        return Mark("ADV", ADVERBIAL)
    if label == "S" and parent == "VP" and mark.function == "PRD":
        return Mark()  # open complements: "let [me look]"
    return mark


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
