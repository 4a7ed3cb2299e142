"""A toy grammar that yields as many different trees as a test wants."""

from __future__ import annotations

import random

from fencepost.trees.tree import Leaf, Node, Tree

WORDS = {
    "DT": ("the", "a", "this", "every", "no"),
    "JJ": ("small", "old", "green", "noisy", "careful"),
    "NN": ("cat", "engine", "garden", "letter", "river", "teacher", "window"),
    "NNS": ("birds", "papers", "stones", "friends"),
    "NNP": ("Ada", "Oslo", "Noor", "Ramanujan"),
    "VBD": ("saw", "moved", "painted", "forgot", "followed"),
    "VBZ": ("sleeps", "waits", "works"),
    "IN": ("in", "near", "with", "under"),
    "RB": ("quickly", "often", "never"),
    "CC": ("and", "or"),
    "MD": ("can", "will"),
    "VB": ("move", "see", "paint"),
}
RULES: dict[str, tuple[tuple[str, ...], ...]] = {
    "S": (("NP", "VP"), ("NP", "VP"), ("NP", "ADVP", "VP"), ("PP", "NP", "VP"), ("VP",)),
    "NP": (("DT", "NN"), ("NNP",), ("DT", "JJ", "NN"), ("NNS",), ("NP", "PP"), ("NP", "CC", "NP"), ("JJ", "NNS")),
    "VP": (("VBD", "NP"), ("VBZ",), ("VBD", "NP", "PP"), ("MD", "VP2"), ("VP", "PP")),
    "VP2": (("VB", "NP"), ("VB",)),
    "PP": (("IN", "NP"),),
    "ADVP": (("RB",),),
}


def toy_trees(count: int, seed: int = 0, longest: int = 15) -> list[Tree]:
    """Different trees, always the same for a seed."""
    source = random.Random(seed)
    trees: dict[str, Tree] = {}
    while len(trees) < count:
        sentence = _grow("S", source, 0)
        assert isinstance(sentence, Tree)
        tree = Tree("TOP", [Tree(sentence.label, [*sentence.children, Leaf(".", ".")])])
        if len(tree.leaves()) <= longest:
            trees.setdefault(str(tree), tree)
    return list(trees.values())


def _grow(symbol: str, source: random.Random, depth: int) -> Node:
    if symbol in WORDS:
        return Leaf(symbol, source.choice(WORDS[symbol]))
    rules = RULES[symbol]
    rule = source.choice(rules if depth < 4 else rules[:2])
    return Tree(symbol.rstrip("2"), [_grow(part, source, depth + 1) for part in rule])
