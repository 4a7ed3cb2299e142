"""Universal Dependencies' parts of speech (``token.pos_`` in spaCy) from the tags of a tree.

Some of Penn's tags are several parts of speech. The tree tells which: ``IN`` is SCONJ before a clause and ADP
elsewhere, ``TO`` is PART before a verb, ``DT`` is PRON where it is a phrase of its own, and forms of *be*, *have* and
*do* are AUX where Universal Dependencies has auxiliaries. For other languages a table of tags decides
(universal_tags.toml); in French, a verb before a participle is AUX.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources
from typing import Final

from fencepost.text.languages import base_language
from fencepost.trees.tree import Leaf, Tree

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

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
_SAME_TAGS: Final = {"is-historical": "fo"}
_UNKNOWN: Final = "X"
_ENDING: Final = re.compile(r"[-_\d]")  # of a tag: N-A, so_fh, N21
_BE: Final = frozenset(("be", "am", "is", "are", "was", "were", "been", "being", "'s", "'m", "'re"))
_HAVE_AND_DO: Final = frozenset(("have", "has", "had", "having", "'ve", "'d", "do", "does", "did"))


def has_universal_tags(language: str) -> bool:
    """True if parts of speech are known for the tags of a model of this language."""
    return _table(language) is not None


def universal_tags(tree: Tree, language: str = "en") -> list[str]:
    """The part of speech of each word of a tree by a model of this language. X stands for an unknown tag.

    >>> tree = Tree.from_string("(S (NP (DT That)) (VP (VBZ has) (VP (VBN worked))))")
    >>> universal_tags(tree)
    ['PRON', 'AUX', 'VERB']
    """
    table = _table(language) or {}
    part = {"en": _english, "fr": _french}.get(base_language(language), _plain)
    return [part(leaf, phrase, table) for leaf, phrase in _leaves(tree)]


def _leaves(tree: Tree) -> Iterator[tuple[Leaf, Tree]]:
    """The leaves of a tree, each with the phrase that it is in."""
    waiting = [(child, tree) for child in reversed(tree.children)]
    while waiting:  # not by recursion: trees may be deep
        node, phrase = waiting.pop()
        if isinstance(node, Leaf):
            yield node, phrase
        else:
            waiting += [(child, node) for child in reversed(node.children)]


@lru_cache(maxsize=16)
def _table(language: str) -> Mapping[str, str] | None:
    """The part of speech of each tag; None for a language without a table."""
    tables = tomllib.loads(resources.files("fencepost.integrations").joinpath("universal_tags.toml").read_text("utf-8"))
    tables["en"] = _TAGS
    code = language.lower().replace("_", "-")
    parts = tables.get(_SAME_TAGS.get(code, code)) or tables.get(base_language(language))
    return None if parts is None else {tag: part for part, tags in parts.items() for tag in tags.split()}


def _plain(leaf: Leaf, phrase: Tree, table: Mapping[str, str]) -> str:
    return table.get(leaf.tag) or table.get(_ENDING.split(leaf.tag)[0], _UNKNOWN)


def _french(leaf: Leaf, phrase: Tree, table: Mapping[str, str]) -> str:
    part = _plain(leaf, phrase, table)
    if part == "VERB" and phrase.label == "VN":
        # By identity: a word may come twice.
        place = next(number for number, child in enumerate(phrase.children) if child is leaf)
        if any(isinstance(child, Leaf) and child.tag == "VPP" for child in phrase.children[place + 1 :]):
            return "AUX"
    return part


def _english(leaf: Leaf, phrase: Tree, table: Mapping[str, str]) -> str:
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
    return table.get(leaf.tag, _UNKNOWN)


def _has_verb_phrase(phrase: Tree) -> bool:
    return any(isinstance(child, Tree) and child.label.partition("-")[0] == "VP" for child in phrase.children)
