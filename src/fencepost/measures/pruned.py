"""Trees without punctuation and traces: a full stop would add 1 to the Yngve depth of every word before it."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

from fencepost.trees.normalize import TRACE
from fencepost.trees.tree import Node, Tree, unchecked_tree

_SIGNS: Final = frozenset("%&@#*")  # punctuation for Unicode, words for a treebank


@lru_cache(maxsize=2**14)
def is_punctuation(word: str) -> bool:
    """True for a word that consists of punctuation marks.

    >>> [word for word in ["cat", ",", "--", "%", "$", "(", "'s"] if is_punctuation(word)]
    [',', '--', '(']
    """
    return all(unicodedata.category(character).startswith("P") and character not in _SIGNS for character in word)


def without_punctuation(tree: Tree) -> Tree | None:
    """The tree without punctuation, traces and the phrases that held nothing else; None if nothing is left.

    >>> print(without_punctuation(Tree.from_string("(S (NP (NNS Cats)) (VP (VBP sleep)) (. .))")))
    (S (NP (NNS Cats)) (VP (VBP sleep)))
    """
    kept: list[Node] = []  # the children so far of the innermost open phrase
    above: list[list[Node]] = []
    stack: list[Node | str] = [tree]  # a label closes a phrase
    while stack:
        node = stack.pop()
        if isinstance(node, Tree):
            above.append(kept)
            kept = []
            stack.append(node.label)
            stack.extend(reversed(node.children))
        elif isinstance(node, str):
            phrase = tuple(kept)
            kept = above.pop()
            if phrase:
                kept.append(unchecked_tree(node, phrase))
        elif node.tag != TRACE and not is_punctuation(node.word):
            kept.append(node)
    return kept[0] if kept and isinstance(kept[0], Tree) else None
