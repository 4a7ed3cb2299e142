"""A pattern once it is read: labels to test, relations to follow, and how they combine."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

from fencepost.search.labels import LabelTest
from fencepost.search.regexes import Regex

# How a label is described: `__`, `NP|VP`, `/^NP/`, `=name` (the very node that has the name), `~name` (the same label).
# `_ROOT_` is "root" only until the grammar has turned it into `__ !> __`.
Kind = Literal["any", "root", "labels", "regex", "same node", "same label"]


@dataclass(frozen=True)
class Description:
    """What a node must look like on its own."""

    kind: Kind
    labels: frozenset[str] = frozenset()  # for "labels"
    regex: Regex | None = None  # for "regex"
    reference: str = ""  # the name that "same node" and "same label" refer to
    negated: bool = False
    basic: bool = False  # @: compare labels without their functions and indices
    groups: tuple[tuple[int, str], ...] = ()  # (group of the expression, variable)
    name: str | None = None
    column: int = field(default=1, compare=False)

    @cached_property
    def fits(self) -> LabelTest:
        return LabelTest(self)


@dataclass(frozen=True)
class Relation:
    """How the other node lies to this one. ``number`` is the i of ``<i`` and its like, ``chain`` the C of ``<+(C)``."""

    symbol: str
    number: int = 0
    chain: Description | None = None

    def __str__(self) -> str:
        if self.symbol in ("<i", ">i", "<<<i"):
            return f"{self.symbol[:-1]}{self.number}"
        return self.symbol


@dataclass(frozen=True)
class Related:
    """One relation to another node: ``< NP``, ``!< NP``, ``?< NP``."""

    relation: Relation
    node: NodePattern
    negated: bool = False
    optional: bool = False


@dataclass(frozen=True)
class All:
    """Conditions that all hold, joined by ``&`` or by nothing."""

    parts: tuple[Condition, ...]
    negated: bool = False
    optional: bool = False


@dataclass(frozen=True)
class Any:
    """Conditions of which one holds, joined by ``|``."""

    parts: tuple[Condition, ...]
    negated: bool = False
    optional: bool = False


Condition: TypeAlias = Related | All | Any


@dataclass(frozen=True)
class NodePattern:
    """A node: its description, and its relations to others."""

    description: Description
    condition: Condition | None = None


def has_references(pattern: NodePattern) -> bool:
    """True if what matches depends on names or variables that are bound elsewhere in the pattern."""
    description = pattern.description
    if description.kind in ("same node", "same label") or description.groups:
        return True
    return pattern.condition is not None and condition_refers(pattern.condition)


def condition_refers(condition: Condition) -> bool:
    """``has_references`` for a condition."""
    if isinstance(condition, Related):
        return has_references(condition.node)
    return any(map(condition_refers, condition.parts))


def condition_binds(condition: Condition) -> bool:
    """True if names or variables occur in a condition."""
    if not isinstance(condition, Related):
        return any(map(condition_binds, condition.parts))
    description = condition.node.description
    if description.name is not None or description.groups or description.reference:
        return True
    return condition.node.condition is not None and condition_binds(condition.node.condition)


def effort(pattern: NodePattern) -> int:
    """How much work a pattern is: 1 for each relation, more for chains."""
    total = 0
    waiting: list[Condition] = [] if pattern.condition is None else [pattern.condition]
    while waiting:
        condition = waiting.pop()
        if isinstance(condition, Related):
            total += relation_effort(condition.relation)
            waiting.extend([] if condition.node.condition is None else [condition.node.condition])
        else:
            waiting.extend(condition.parts)
    return total


def relation_effort(relation: Relation) -> int:
    return 1 if relation.chain is None else 10
