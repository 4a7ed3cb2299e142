"""What regular expressions are made of: ``java_regex`` reads an expression into these parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from fencepost.search.characters import Ranges


@dataclass(frozen=True)
class Characters:
    ranges: Ranges


@dataclass(frozen=True)
class Sequence:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Choice:
    parts: tuple[Part, ...]


@dataclass(frozen=True)
class Repeat:
    body: Part
    low: int
    high: int | None  # None: without end
    mode: Literal["greedy", "lazy", "possessive"]


@dataclass(frozen=True)
class Group:
    number: int
    body: Part


@dataclass(frozen=True)
class Look:
    body: Part
    ahead: bool
    negated: bool


@dataclass(frozen=True)
class Atomic:
    body: Part


@dataclass(frozen=True)
class Again:
    """A back-reference: the text of a group once more."""

    group: int


@dataclass(frozen=True)
class Anchor:
    kind: Literal["start", "end", "boundary", "no boundary"]


Part: TypeAlias = Characters | Sequence | Choice | Repeat | Group | Look | Atomic | Again | Anchor


def width(part: Part) -> int | None:
    """The number of characters that a part matches, if it is always the same."""
    if isinstance(part, Characters):
        return 1
    if isinstance(part, Sequence):
        widths = [width(each) for each in part.parts]
        return None if None in widths else sum(each for each in widths if each is not None)
    if isinstance(part, Choice):
        lengths = {width(each) for each in part.parts}
        return lengths.pop() if len(lengths) == 1 else None
    if isinstance(part, Group | Atomic):
        return width(part.body)
    if isinstance(part, Repeat):
        body = width(part.body)
        return body * part.low if body is not None and part.low == part.high else None
    return None if isinstance(part, Again) else 0
