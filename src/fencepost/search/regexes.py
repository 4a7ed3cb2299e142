"""Regular expressions over labels, in Java's syntax and with bounded time.

Python's ``re`` is fast, but ``(a+)+$`` can keep it busy for years. ``ways`` bounds how many ways it could try before it
gives up. Where the bound is low, ``re`` does the work; elsewhere ``machine`` does, which reads each character once, and
again for each lookahead.
"""

from __future__ import annotations

import math
import re
from functools import cached_property
from typing import Final

from fencepost.errors import InputError
from fencepost.search import java_regex, regex_parts
from fencepost.search.characters import LINE_ENDS, Ranges, complement, of_characters
from fencepost.search.java_classes import RegexError
from fencepost.search.machine import Machine, build

_MOST_STEPS: Final = 10**6  # of `re`, for one label: some milliseconds
_MOST_EFFORT: Final = 10**7  # of `machine`, for one label: a second or two
_NOT_LINE_END: Final = complement(of_characters(LINE_ENDS))


class Regex:
    """An expression that searches labels as Java's ``find`` does."""

    def __init__(self, source: str, flags: str = "") -> None:
        self.source = source
        self.flags = flags
        self._cheap: dict[int, bool] = {}
        self._part, self.groups = java_regex.parse(source, frozenset(flags))
        try:
            self._re = re.compile(to_python(self._part))
        except re.error as error:
            if "look-behind" in str(error):
                raise RegexError(
                    "what (?<=…) and (?<!…) look for must have one length", 0, "write one for each length"
                ) from None
            raise RegexError(str(error), 0, "simplify it") from None
        except (OverflowError, RecursionError):
            raise RegexError("the expression is too large", 0, "simplify it") from None

    def search(self, label: str) -> tuple[str | None, ...] | None:
        """The whole match and its groups, or None. Raises InputError for a label that would take too long."""
        if self._is_cheap(len(label)):
            match = self._re.search(label)
            return None if match is None else (match[0], *(match[f"g{n}"] for n in range(1, self.groups + 1)))
        if self._machine is None:
            raise InputError(
                f"the expression /{self.source}/ could take exponential time on a label of {len(label)} characters",
                hint="remove back-references such as \\1 and atomic groups, or nested repeats such as (a+)+",
            )
        if self._machine.effort(len(label)) > _MOST_EFFORT:
            raise InputError(
                f"the expression /{self.source}/ takes too long on a label of {len(label)} characters",
                hint="remove lookaheads and lookbehinds, or make the repeats smaller",
            )
        return self._machine.search(label)

    def _is_cheap(self, length: int) -> bool:
        """True if ``re`` needs few steps for labels of this length."""
        cheap = self._cheap.get(length)
        if cheap is None:
            cheap = self._cheap[length] = ways(self._part, length) * (length + 1) <= _MOST_STEPS
        return cheap

    @cached_property
    def _machine(self) -> Machine | None:
        return build(self._part, self.groups)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Regex) and (self.source, self.flags) == (other.source, other.flags)

    def __hash__(self) -> int:
        return hash((self.source, self.flags))

    def __repr__(self) -> str:
        return f"/{self.source}/{self.flags}"

    def __reduce__(self) -> tuple[object, ...]:
        return (Regex, (self.source, self.flags))


def ways(part: regex_parts.Part, length: int) -> float:
    """At most how many ways a backtracking matcher can try from one place in a label of ``length`` characters."""
    if isinstance(part, regex_parts.Sequence):
        return math.prod(ways(each, length) for each in part.parts)
    if isinstance(part, regex_parts.Choice):
        return sum(ways(each, length) for each in part.parts)
    if isinstance(part, regex_parts.Group | regex_parts.Look | regex_parts.Atomic):
        return ways(part.body, length)
    if isinstance(part, regex_parts.Repeat):
        most = length if part.high is None else min(part.high, length)
        inside = ways(part.body, length)
        if inside <= 1:
            return max(most - part.low, 0) + 1
        try:
            return float(inside + 1) ** max(most, part.low)
        except OverflowError:
            return math.inf
    return 1


def to_python(part: regex_parts.Part) -> str:
    """The same expression for Python's ``re``."""
    return _Writer().write(part)


class _Writer:
    def __init__(self) -> None:
        self.atomic = 0

    def write(self, part: regex_parts.Part) -> str:
        if isinstance(part, regex_parts.Characters):
            return _class(part.ranges)
        if isinstance(part, regex_parts.Sequence):
            return "".join(self.write(each) for each in part.parts)
        if isinstance(part, regex_parts.Choice):
            return f"(?:{'|'.join(self.write(each) for each in part.parts)})"
        if isinstance(part, regex_parts.Group):
            return f"(?P<g{part.number}>{self.write(part.body)})"
        if isinstance(part, regex_parts.Look):
            return self.look(part)
        if isinstance(part, regex_parts.Atomic):
            return self.once(part.body)
        if isinstance(part, regex_parts.Again):
            return f"(?P=g{part.group})"
        if isinstance(part, regex_parts.Repeat):
            return self.repeat(part)
        return {"start": r"\A", "end": r"\Z", "boundary": r"\b", "no boundary": r"\B"}[part.kind]

    def repeat(self, part: regex_parts.Repeat) -> str:
        if part.mode == "possessive":
            return self.once(regex_parts.Repeat(part.body, part.low, part.high, "greedy"))
        count = f"{{{part.low},{'' if part.high is None else part.high}}}"
        return f"(?:{self.write(part.body)}){count}{'?' if part.mode == 'lazy' else ''}"

    def look(self, part: regex_parts.Look) -> str:
        sign = ("" if part.ahead else "<") + ("!" if part.negated else "=")
        if part.ahead or not isinstance(part.body, regex_parts.Choice):
            return f"(?{sign}{self.write(part.body)})"
        # Each branch has its own length, which `re` allows only outside of a look-behind.
        branches = [f"(?{sign}{self.write(each)})" for each in part.body.parts]
        return "".join(branches) if part.negated else f"(?:{'|'.join(branches)})"

    def once(self, body: regex_parts.Part) -> str:
        """A part that is never tried again once it has matched. Python 3.10 has no other way to say it."""
        self.atomic += 1
        name = f"a{self.atomic}"
        return f"(?=(?P<{name}>{self.write(body)}))(?P={name})"


def _class(ranges: Ranges) -> str:
    if not ranges:
        return "(?!)"
    if len(ranges) == 1 and ranges[0][0] == ranges[0][1]:
        return re.escape(chr(ranges[0][0]))
    if ranges == _NOT_LINE_END:
        return f"[^{LINE_ENDS}]"
    return "[" + "".join(f"{_hex(first)}-{_hex(last)}" for first, last in ranges) + "]"


def _hex(code: int) -> str:
    return f"\\U{code:08x}"
