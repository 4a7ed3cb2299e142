"""Text that is normalised step by step, and where each letter comes from, as the `tokenizers` library sees it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

Span = tuple[int, int]  # start and end in the original text


@dataclass(frozen=True)
class AlignedText:
    text: str
    spans: list[Span]  # of each letter

    @classmethod
    def of(cls, text: str, start: int = 0) -> AlignedText:
        return cls(text, [(index, index + 1) for index in range(start, start + len(text))])

    def part(self, start: int, end: int) -> AlignedText:
        return AlignedText(self.text[start:end], self.spans[start:end])

    def with_first(self, letter: str) -> AlignedText:
        """Puts a letter before the others; it gets the position of the first one."""
        return AlignedText(letter + self.text, self.spans[:1] + self.spans)

    def without(self, pattern: re.Pattern[str]) -> AlignedText:
        """Without the matches of a pattern."""
        return self.replaced(pattern, "")

    def replaced(self, pattern: re.Pattern[str], content: str) -> AlignedText:
        """Replaces each match; the replacement gets the position of the match's last letter."""
        text, spans, done = "", [], 0
        for match in pattern.finditer(self.text):
            start, end = match.span()
            text += self.text[done:start] + content
            spans += self.spans[done:start] + [self.spans[end - 1]] * len(content)
            done = end
        return AlignedText(text + self.text[done:], spans + self.spans[done:])

    def with_replacements(self, replacements: Iterable[tuple[int, str | None]]) -> AlignedText:
        """Replaces runs of letters, given by their lengths, from left to right; None keeps a run.

        New letters get the positions of the run's letters one by one; further ones get that of the run's last letter.
        Where letters are dropped, the library moves on behind the letter before them. If there is none, it doesn't, and
        everything that follows comes from too far left.
        """
        text: list[str] = []
        moves: list[int] = []  # how many letters of the original each letter takes
        done = 0
        for length, replacement in replacements:
            content = self.text[done : done + length] if replacement is None else replacement
            done += length
            text += content
            moves += [1] * min(length, len(content)) + [0] * (len(content) - length)
            if len(content) < length and moves:
                moves[-1] += length - len(content)
        return AlignedText("".join(text), list(self._moved(moves)))

    def _moved(self, moves: list[int]) -> Iterable[Span]:
        at = 0
        for move in moves:
            if move:
                yield self.spans[at]
            else:
                yield self.spans[at - 1] if at else (0, 0)
            at += move
