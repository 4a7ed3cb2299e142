"""What ``fencepost parse`` warns of, once each: input that is trees already, or in a script the model never saw."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import Final

from fencepost.cli.parse_input import Item
from fencepost.features.vocabularies import Vocabularies

ENOUGH_LETTERS: Final = 40
_TREE: Final = re.compile(r"\s*\(\s*(?:[^\s()]+\s*)?\([^\s()]+[\s(]")  # (TOP (S … or ( (S …
TREES: Final = (
    "the input looks like trees in brackets, and is parsed as plain text\n"
    "hint: `fencepost treebank words FILE` gives their sentences, `fencepost evaluate MODEL FILE` parses them"
)


class Watcher:
    """Looks at the sentences before they are parsed: the first one, and as many letters as it needs."""

    def __init__(self, vocabularies: Vocabularies, language: str) -> None:
        self.letters = frozenset(vocabularies.letters.symbols)
        self.language = language
        self.is_first = True
        self.known = self.seen = 0

    def look(self, items: Iterable[Item]) -> Iterator[str]:
        """Warnings about these sentences, if there are any."""
        for item in items:
            if item.parsable and self.is_first:
                self.is_first = False
                if _TREE.match(item.found.text):
                    yield TREES
            if self.seen < ENOUGH_LETTERS:
                letters = [letter for letter in item.found.text if letter.isalpha()]
                self.seen += len(letters)
                self.known += sum(map(self._knows, letters))
                if self.seen >= ENOUGH_LETTERS:
                    yield from self.about_letters()

    def finish(self) -> Iterator[str]:
        """The warning about a text of few letters."""
        if self.seen < ENOUGH_LETTERS:
            yield from self.about_letters()

    def about_letters(self) -> Iterator[str]:
        if 2 * self.known < self.seen:
            yield (
                f"most letters of the input are unknown to the model, whose language is {self.language}"
                "\nhint: --model takes the folder of a model for another language"
            )

    def _knows(self, letter: str) -> bool:
        if self.letters:
            return not self.letters.isdisjoint((letter, letter.lower(), letter.upper()))
        # A model that knows sub-words only, without an alphabet of its own.
        return self.language != "en" or "LATIN" in unicodedata.name(letter, "")
