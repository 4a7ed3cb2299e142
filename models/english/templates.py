"""Sentences written from templates: bracketed trees with slots, such as ``(NP (NP {money}) (NP-ADV {unit}))``."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from nodes import with_leaves

from fencepost.trees.tree import Leaf, Tree

Filler = Sequence[str] | Callable[[random.Random], str]  # what may fill a slot
Grammar = Mapping[str, Filler]

_SLOT: Final = re.compile(r"\{(\w+)\}")


def sentences(grammar: Grammar, choice: random.Random, count: int) -> Iterator[Tree]:
    """Different sentences from the slot ``sentence``, the templates in turn."""
    seen: set[str] = set()
    templates = grammar["sentence"]
    assert not callable(templates)
    while len(seen) < count:
        text = filled(templates[len(seen) % len(templates)], grammar, choice)
        if text not in seen:
            seen.add(text)
            yield with_capital(Tree.from_string(f"(TOP {text})"))


def filled(template: str, grammar: Grammar, choice: random.Random) -> str:
    """The template with every slot filled, and those of its fillers."""

    def fill(slot: re.Match[str]) -> str:
        filler = grammar[slot[1]]
        return filled(filler(choice) if callable(filler) else choice.choice(filler), grammar, choice)

    return _SLOT.sub(fill, template)


def with_capital(tree: Tree) -> Tree:
    """The first word that is no sign begins with a capital."""
    leaves = tree.leaves()
    place = next(i for i, leaf in enumerate(leaves) if leaf.word[0].isalnum())
    leaf = leaves[place]
    leaves[place] = Leaf(leaf.tag, leaf.word[0].upper() + leaf.word[1:])
    return with_leaves(tree, leaves)


def leaves(*words: str) -> tuple[str, ...]:
    """Fillers from texts such as ``DT:a NN:share``."""
    return tuple(" ".join(f"({tag} {word})" for tag, word in map(_parts, text.split())) for text in words)


def _parts(text: str) -> tuple[str, str]:
    tag, _, word = text.partition(":")
    return tag, word
