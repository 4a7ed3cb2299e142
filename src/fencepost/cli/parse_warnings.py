"""Warnings of ``fencepost parse``, each given once: the input is already trees, or the model doesn't know its letters.

``parsing.language_notice`` warns about text in another language. This module checks letters only if the model's
language is unknown there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from fencepost.cli.parse_input import Item
from fencepost.features.vocabularies import Vocabularies

ENOUGH_LETTERS: Final = 40
_TREE: Final = re.compile(r"\s*\(\s*(?:[^\s()]+\s*)?\([^\s()]+[\s(]")  # (TOP (S … or ( (S …
TREES: Final = (
    "the input looks like bracketed trees, but is parsed as plain text\n"
    "hint: `fencepost treebank words FILE` extracts their sentences, `fencepost evaluate MODEL FILE` parses them"
)


class Watcher:
    """Checks the first sentence and the first ``ENOUGH_LETTERS`` letters of the input."""

    def __init__(self, vocabularies: Vocabularies, language: str, *, looks_at_letters: bool) -> None:
        self.letters = frozenset(vocabularies.letters.symbols)
        self.language = language
        self.looks_at_letters = looks_at_letters
        self.is_first = True
        self.known = self.seen = 0

    def look(self, items: Iterable[Item]) -> Iterator[str]:
        """Yields warnings about these sentences."""
        for item in items:
            if item.parsable and self.is_first:
                self.is_first = False
                if _TREE.match(item.text_sentence.text):
                    yield TREES
            if self.looks_at_letters and self.seen < ENOUGH_LETTERS:
                letters = [letter for letter in item.text_sentence.text if letter.isalpha()]
                self.seen += len(letters)
                self.known += sum(map(self._knows, letters))
                if self.seen >= ENOUGH_LETTERS:
                    yield from self.about_letters()

    def finish(self) -> Iterator[str]:
        """Yields the warning about letters if the input was too short for it to come earlier."""
        if self.seen < ENOUGH_LETTERS:
            yield from self.about_letters()

    def about_letters(self) -> Iterator[str]:
        if 2 * self.known < self.seen:
            yield (
                f"the model, whose language is {self.language}, doesn't know most letters of the input"
                "\nhint: use --model with a model for another language"
            )

    def _knows(self, letter: str) -> bool:
        # A model that reads sub-words has no alphabet of its own.
        return not self.letters or not self.letters.isdisjoint((letter, letter.lower(), letter.upper()))
