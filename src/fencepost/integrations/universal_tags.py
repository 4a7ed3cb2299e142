"""Universal Dependencies' parts of speech (``token.pos_`` in spaCy) from the tags of an English tree.

Some of Penn's tags are several parts of speech. The tree tells which: ``IN`` is SCONJ before a clause and ADP
elsewhere, ``TO`` is PART before a verb, ``DT`` is PRON where it is a phrase of its own, and forms of *be*, *have* and
*do* are AUX where Universal Dependencies has auxiliaries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from fencepost.trees.tree import Leaf, Tree

_TAGS: Final = {
    "ADJ": "JJ JJR JJS",
    "ADP": "IN RP",
    "ADV": "RB RBR RBS WRB",
    "AUX": "MD",
    "CCONJ": "CC",
    "DET": "DT PDT",
    "INTJ": "UH",
    "NOUN": "NN NNS",
    "NUM": "CD",
    "PART": "POS TO",
    "PRON": "EX PRP PRP$ WDT WP WP$",
    "PROPN": "NNP NNPS",
    "PUNCT": ". , : `` '' -LRB- -RRB- HYPH NFP",
    "SYM": "$ # SYM",
    "VERB": "VB VBD VBG VBN VBP VBZ",
}
_OF_TAG: Final = {tag: part for part, tags in _TAGS.items() for tag in tags.split()}
_UNKNOWN: Final = "X"
_BE: Final = frozenset(("be", "am", "is", "are", "was", "were", "been", "being", "'s", "'m", "'re"))
_HAVE_AND_DO: Final = frozenset(("have", "has", "had", "having", "'ve", "'d", "do", "does", "did"))


def universal_tags(tree: Tree) -> list[str]:
    """The part of speech of each word of a tree.

    >>> tree = Tree.from_string("(S (NP (DT That)) (VP (VBZ has) (VP (VBN worked))))")
    >>> universal_tags(tree)
    ['PRON', 'AUX', 'VERB']
    """
    return list(_parts(tree))


def _parts(tree: Tree) -> Iterator[str]:
    for child in tree.children:
        if isinstance(child, Leaf):
            yield _part(child, tree)
        else:
            yield from _parts(child)


def _part(leaf: Leaf, phrase: Tree) -> str:
    label, word = phrase.label.partition("-")[0], leaf.word.lower()
    match leaf.tag:
        case "IN" if label == "SBAR":
            return "SCONJ"
        case "TO" if label == "PP":
            return "ADP"
        case "DT" if len(phrase.children) == 1 and label == "NP":
            return "PRON"
        case "RB" if word in ("not", "n't"):
            return "PART"
    if leaf.tag.startswith("VB") and (word in _BE or (word in _HAVE_AND_DO and _has_verb_phrase(phrase))):
        return "AUX"
    return _OF_TAG.get(leaf.tag, _UNKNOWN)


def _has_verb_phrase(phrase: Tree) -> bool:
    return any(isinstance(child, Tree) and child.label.partition("-")[0] == "VP" for child in phrase.children)
