"""Reads regular expressions in Java's syntax, which Tregex uses, into ``regex_parts``.

Python's ``re`` disagrees with Java in many details: what ``\\w`` and ``(?i)`` cover, classes inside classes,
``\\p{L}``, ``\\Q…\\E``, possessive repeats. Here every class becomes a set of characters, which means one thing only.
"""

from __future__ import annotations

from typing import Final, Literal

from fencepost.search import characters as sets
from fencepost.search.characters import Ranges
from fencepost.search.java_classes import CharacterReader, RegexError
from fencepost.search.regex_parts import Again, Anchor, Atomic, Characters, Choice, Group, Look, Part, Repeat, Sequence

FLAGS: Final = frozenset("idmsuxU")
_MOST_REPEATS: Final = 1000
_DEEPEST: Final = 50  # nested brackets


def parse(text: str, flags: frozenset[str] = frozenset()) -> tuple[Part, int]:
    """The expression, and how many groups it has."""
    plain, offsets = _without_quotes(text)
    reader = _Reader(plain, flags)
    try:
        part = reader.choice()
        if reader.at < len(plain):
            reader.fail("this bracket was never opened", hint="write \\) for a bracket in a label")
        reader.check_references()
    except RegexError as error:
        raise RegexError(error.message, offsets[error.offset], error.hint) from None
    return part, reader.groups


def _without_quotes(text: str) -> tuple[str, list[int]]:
    """The text with ``\\Q…\\E`` written as single escapes, and where each of its characters comes from."""
    parts: list[tuple[str, int]] = []
    at, quoted = 0, False
    while at < len(text):
        pair = text[at : at + 2]
        if pair == ("\\E" if quoted else "\\Q"):
            quoted = not quoted
            at += 2
        elif quoted:
            parts.extend((character, at) for character in _escaped(text[at]))
            at += 1
        else:
            size = 2 if pair[0] == "\\" else 1
            parts.extend((character, at) for character in text[at : at + size])
            at += size
    return "".join(character for character, _ in parts), [*(offset for _, offset in parts), len(text)]


def _escaped(character: str) -> str:
    return character if character.isalnum() else f"\\{character}"


class _Reader(CharacterReader):
    def __init__(self, text: str, flags: frozenset[str]) -> None:
        super().__init__(text, flags)
        self.groups = 0
        self.depth = 0
        self.names: dict[str, int] = {}
        self.references: list[tuple[int, int]] = []

    def skip_comments(self) -> None:
        while "x" in self.flags and self.at < len(self.text):
            if self.text[self.at] in " \t\n\r\f\v":
                self.at += 1
            elif self.text[self.at] == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            else:
                return

    def check_references(self) -> None:
        for group, offset in self.references:
            if group > self.groups:
                self.fail(f"the expression has no group {group}", offset, hint="groups are numbered from 1")

    # The grammar: a choice of sequences of repeated parts.

    def choice(self) -> Part:
        self.depth += 1
        if self.depth > _DEEPEST:
            self.fail(f"more than {_DEEPEST} brackets inside one another", hint="use fewer")
        outside = self.flags  # (?i) holds until the group ends
        parts = [self.sequence()]
        while self.take("|"):
            parts.append(self.sequence())
        self.flags = outside
        self.depth -= 1
        return parts[0] if len(parts) == 1 else Choice(tuple(parts))

    def sequence(self) -> Part:
        parts: list[Part] = []
        while True:
            self.skip_comments()
            if self.at >= len(self.text) or self.peek() in "|)":
                return parts[0] if len(parts) == 1 else Sequence(tuple(parts))
            part = self.one()
            parts.append(self.repeated(part))

    def repeated(self, part: Part) -> Part:
        first = True
        while True:
            self.skip_comments()
            start = self.at
            if not first and self.peek() and self.peek() in "*+?":
                self.fail(f"{self.peek()} has nothing to repeat", hint="use brackets to repeat a repeat, as in (?:a+)*")
            first = False
            if self.take("*"):
                low, high = 0, None
            elif self.take("+"):
                low, high = 1, None
            elif self.take("?"):
                low, high = 0, 1
            elif self.peek() == "{":
                low, high = self.counts()
            else:
                return part
            if max(low, high or 0) > _MOST_REPEATS:
                self.fail(f"more than {_MOST_REPEATS:,} repeats", start, hint="labels are never that long")
            mode: Literal["greedy", "lazy", "possessive"] = "greedy"
            if self.take("?"):
                mode = "lazy"
            elif self.take("+"):
                mode = "possessive"
            part = Repeat(part, low, high, mode)

    def counts(self) -> tuple[int, int | None]:
        start = self.at
        end = self.text.find("}", start)
        first, comma, second = self.text[start + 1 : max(end, start + 1)].partition(",")
        if end < 0 or not _is_number(first) or (second and not _is_number(second)):
            self.fail(
                "a { must begin a number of repeats, such as {2} or {1,3}", start, hint="write \\{ for the character"
            )
        low = int(first)
        high = (int(second) if second else None) if comma else low
        if high is not None and high < low:
            self.fail(f"{{{low},{high}}} counts backwards", start, hint=f"write {{{high},{low}}}")
        self.at = end + 1
        return low, high

    def one(self) -> Part:
        start = self.at
        character = self.peek()
        self.at += 1
        if character == "(":
            return self.group(start)
        if character == "[":
            return self.characters(self.bracketed(start))
        if character == "\\":
            return self.escape(start)
        if character == ".":
            ends = "" if "s" in self.flags else "\n" if "d" in self.flags else sets.LINE_ENDS
            return Characters(sets.complement(sets.of_characters(ends)))
        if character == "^":
            return Anchor("start")
        if character == "$":
            return Anchor("end")
        if character in "*+?{":
            self.fail(f"{character} has nothing to repeat", start, hint=f"write \\{character} for the character")
        return self.characters(sets.of_characters(character))

    def characters(self, ranges: Ranges) -> Part:
        return Characters(sets.other_cases(ranges, "u" in self.flags) if "i" in self.flags else ranges)

    # Groups

    def group(self, start: int) -> Part:
        outside = self.flags
        wrap = self.group_kind(start)
        if wrap is None:  # (?i): for the rest of the enclosing group
            return Sequence(())
        body = self.choice()
        if not self.take(")"):
            self.fail("this bracket is never closed", start, hint="write \\( for a bracket in a label")
        self.flags = outside
        if isinstance(wrap, int):
            return Group(wrap, body)
        return {
            ":": body,
            "=": Look(body, ahead=True, negated=False),
            "!": Look(body, ahead=True, negated=True),
            "<=": Look(body, ahead=False, negated=False),
            "<!": Look(body, ahead=False, negated=True),
            ">": Atomic(body),
        }[wrap]

    def group_kind(self, start: int) -> str | int | None:
        """What follows ``(``: a group's number, a sign such as ``:`` or ``<=``, or None for flags alone."""
        if not self.take("?"):
            self.groups += 1
            return self.groups
        for sign in ("<=", "<!", ":", "=", "!", ">"):
            if self.take(sign):
                return sign
        if self.take("<"):
            end = self.text.find(">", self.at)
            name = self.text[self.at : end] if end > 0 else ""
            if not (name.isascii() and name.isalnum() and name[0].isalpha()):
                self.fail("a group's name has letters and digits", hint="such as (?<name>…)")
            if name in self.names:
                self.fail(f"two groups are named {name}", hint="give one another name")
            self.at = end + 1
            self.groups += 1
            self.names[name] = self.groups
            return self.groups
        on, off = self.flag_letters(), frozenset[str]()
        if self.take("-"):
            off = self.flag_letters()
        if self.peek() not in (":", ")") or not self.peek():
            self.fail(
                "this kind of group is unknown", start, hint="use (…), (?:…), (?=…), (?!…), (?<=…), (?<!…) or (?i)"
            )
        self.flags = (self.flags | on) - off
        self.at += 1
        return ":" if self.text[self.at - 1] == ":" else None

    def flag_letters(self) -> frozenset[str]:
        first = self.at
        while self.peek() and self.peek() in FLAGS:
            self.at += 1
        return frozenset(self.text[first : self.at])

    # Escapes

    def escape(self, start: int) -> Part:
        letter = self.peek()
        if not letter:
            self.fail("a \\ at the end has nothing to escape", start, hint="write \\\\ for the character")
        anchors: dict[str, Anchor] = {
            "A": Anchor("start"),
            "G": Anchor("start"),
            "z": Anchor("end"),
            "Z": Anchor("end"),
            "b": Anchor("boundary"),
            "B": Anchor("no boundary"),
        }
        if letter in anchors:
            self.at += 1
            return anchors[letter]
        if letter in "123456789":
            return self.back_reference(start)
        if letter == "k":
            end = self.text.find(">", self.at)
            name = self.text[self.at + 2 : end] if self.peek(2) == "k<" and end > 0 else ""
            if name not in self.names:
                self.fail("\\k needs the name of an earlier group", start, hint="such as (?<x>.)\\k<x>")
            self.at = end + 1
            return Again(self.names[name])
        if letter == "R":
            self.at += 1
            return Characters(sets.VERTICAL)
        return self.characters(self.escaped_set(start))

    def back_reference(self, start: int) -> Part:
        number = int(self.peek())
        self.at += 1
        # \12 is group 12 if there are that many groups so far, else group 1 and a 2.
        while _is_number(self.peek()) and number * 10 + int(self.peek()) <= self.groups:
            number = number * 10 + int(self.peek())
            self.at += 1
        self.references.append((number, start))
        return Again(number)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()
