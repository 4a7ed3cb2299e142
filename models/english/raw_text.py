"""Rebuilds running text from treebank sentences, whose source text isn't available, and scores parses of it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final

from corpora import Item
from hyphens import is_suspended

from fencepost.evaluation.brackets import Brackets
from fencepost.evaluation.characters import InText, score_in_text
from fencepost.features.spacing import PLAIN_QUOTES, guess_spaces
from fencepost.parsing.parser import Parser
from fencepost.text import read_stream
from fencepost.trees.tree import Leaf, Tree

ESCAPED: Final = re.compile(r"\\([/*])")


def text_of(items: Iterable[Item]) -> str:
    """Text with blanks as in English. A paragraph ends at the end of a document, and after a heading (no full stop)."""
    parts: list[str] = []
    document = None
    for item in items:
        if document not in (None, item.document):
            parts.append("\n\n")
        document = item.document
        leaves = item.tree.leaves()
        parts.append(sentence_text(leaves) + (" " if any(leaf.tag == "." for leaf in leaves[-3:]) else "\n\n"))
    return "".join(parts)


def sentence_text(leaves: Sequence[Leaf]) -> str:
    words = surface(leaves)
    spaces = list(guess_spaces(words, "en"))
    for index, leaf in enumerate(leaves):
        if leaf.tag == "HYPH" or (leaf.tag == "SYM" and leaf.word in ("-", "/")):
            spaces[max(index - 1, 0)] = False
            spaces[index] = spaces[index] and is_suspended(leaves, index)
    return "".join(word + " " * space for word, space in zip(words, spaces, strict=True)).strip()


def surface(leaves: Iterable[Leaf]) -> list[str]:
    """Words as they are written in text, without Penn's quotes and backslashes (``1\\/2``)."""
    return [PLAIN_QUOTES.get(leaf.word, ESCAPED.sub(r"\1", leaf.word)) for leaf in leaves]


def score_raw_text(parser: Parser, items: Sequence[Item]) -> Brackets:
    """F1 in characters: the parser finds sentences and tokens itself, and is compared with the original trees."""
    sentences = list(read_stream([text_of(items)]))
    trees = parser.parse(sentence.sentence() for sentence in sentences)
    tokens = [[token.text for token in sentence.tokens] for sentence in sentences]
    predicted = list(zip(trees, tokens, strict=True))
    return score_in_text([_in_text(item.tree) for item in items], predicted)


def _in_text(tree: Tree) -> InText:
    return tree, surface(tree.leaves())
