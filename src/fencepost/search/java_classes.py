"""Reads escapes and classes of characters in Java's syntax: ``\\p{L}``, ``\\x41``, ``[a-z&&[^aeiou]]``."""

from __future__ import annotations

import string
from typing import Final, NoReturn

from fencepost.search import characters as sets
from fencepost.search.characters import Ranges

_SPECIAL: Final = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}


class RegexError(Exception):
    """A mistake in an expression; ``offset`` counts its characters from 0."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        super().__init__(message)
        self.message, self.offset, self.hint = message, offset, hint


class CharacterReader:
    """Reads from ``text``, beginning at the character ``at``."""

    def __init__(self, text: str, flags: frozenset[str]) -> None:
        self.text = text
        self.flags = flags
        self.at = 0

    def fail(self, message: str, offset: int | None = None, hint: str | None = None) -> NoReturn:
        raise RegexError(message, self.at if offset is None else offset, hint)

    def peek(self, length: int = 1) -> str:
        return self.text[self.at : self.at + length]

    def take(self, expected: str) -> bool:
        if not self.text.startswith(expected, self.at):
            return False
        self.at += len(expected)
        return True

    def escaped_set(self, start: int) -> Ranges:
        """The characters that an escape stands for, inside or outside of [...]."""
        letter = self.peek()
        self.at += 1
        unicode = "U" in self.flags
        classes = {
            "d": sets.where(str.isdecimal) if unicode and letter in "dD" else sets.DIGITS,
            "w": sets.where(sets.is_in_word) if unicode and letter in "wW" else sets.WORD,
            "s": sets.where(sets.is_space) if unicode and letter in "sS" else sets.SPACE,
            "h": sets.HORIZONTAL,
            "v": sets.VERTICAL,
        }
        if letter in classes:
            return classes[letter]
        if letter.lower() in classes:
            return sets.complement(classes[letter.lower()])
        if letter in _SPECIAL:
            return sets.of_characters(_SPECIAL[letter])
        if letter in "pP":
            return self.property(start, negated=letter == "P")
        if letter in "xu0c":
            return sets.of_characters(self.code(letter, start))
        if letter.isascii() and letter.isalpha():
            self.fail(f"\\{letter} isn't a known escape", start, hint=f"write {letter} for the letter")
        return sets.of_characters(letter)

    def property(self, start: int, negated: bool) -> Ranges:
        if self.take("{"):
            end = self.text.find("}", self.at)
            name = self.text[self.at : end] if end >= 0 else ""
            self.at = end + 1 if end >= 0 else len(self.text)
        else:
            name = self.peek()
            self.at += 1
        ranges = sets.named(name)
        if ranges is None:
            self.fail(
                f"the class {name!r} is unknown",
                start,
                hint="such as \\p{L}, \\p{Lu}, \\p{Punct}, \\p{IsGreek} or \\p{InGreek}",
            )
        return sets.complement(ranges) if negated else ranges

    def code(self, letter: str, start: int) -> str:
        """A character given by its number: ``\\x41``, ``\\x{1F600}``, ``\\u0041``, ``\\0101``, ``\\cA``."""
        digits = ""
        if letter == "c" and self.peek():
            self.at += 1
            return chr(ord(self.text[self.at - 1]) ^ 64)
        if letter == "x" and self.take("{"):
            end = self.text.find("}", self.at)
            digits = self.text[self.at : end] if end >= 0 else ""
            self.at = end + 1
        elif letter in "xu":
            digits = self.peek(2 if letter == "x" else 4)
            self.at += len(digits)
            digits = digits if len(digits) == (2 if letter == "x" else 4) else ""
        elif letter == "0":
            while (
                len(digits) < 3
                and self.peek()
                and self.peek() in string.octdigits
                and int(digits + self.peek(), 8) < 256
            ):
                digits += self.peek()
                self.at += 1
        base = 8 if letter == "0" else 16
        if not digits or not set(digits) <= set(string.hexdigits) or int(digits, base) > sets.LAST:
            self.fail(f"\\{letter} needs the number of a character", start, hint="such as \\x41 or \\u0041")
        return chr(int(digits, base))

    # Classes

    def bracketed(self, start: int) -> Ranges:
        """The characters of ``[...]``, with classes inside it and intersections (``&&``)."""
        negated = self.take("^")
        result: Ranges | None = None
        current: Ranges = ()
        first = True
        while True:
            if self.at >= len(self.text):
                self.fail("this [ is never closed", start, hint="write \\[ for the character")
            at = self.at
            if self.take("&&"):
                result = current if result is None else sets.intersection(result, current)
                current, first = (), True
                continue
            if self.peek() == "]" and not first:
                self.at += 1
                break
            if self.take("["):
                current = sets.union(current, self.bracketed(at))
            elif "x" in self.flags and self.peek() in " \t\n":
                self.at += 1
            else:
                current = sets.union(current, self.class_item())
            first = False
        if "i" in self.flags:
            current = sets.other_cases(current, "u" in self.flags)
        result = current if result is None else sets.intersection(result, current)
        return sets.complement(result) if negated else result

    def class_item(self) -> Ranges:
        start = self.at
        one = self.class_character()
        if self.peek() != "-" or self.peek(2) in ("-]", "-[") or len(self.peek(2)) < 2:
            return one
        self.at += 1
        other = self.class_character()
        if not (_is_single(one) and _is_single(other)):
            self.fail("each end of a range must be a single character", start, hint="write \\- for a hyphen")
        if other[0][0] < one[0][0]:
            self.fail(f"the range {self.text[start : self.at]} goes backwards", start, hint="such as a-z")
        return ((one[0][0], other[0][0]),)

    def class_character(self) -> Ranges:
        start = self.at
        self.at += 1
        if self.text[start] != "\\":
            return sets.of_characters(self.text[start])
        if not self.peek():
            self.fail("a \\ at the end has nothing to escape", start, hint="write \\\\ for the character")
        return self.escaped_set(start)


def _is_single(ranges: Ranges) -> bool:
    return len(ranges) == 1 and ranges[0][0] == ranges[0][1]
