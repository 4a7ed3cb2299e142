"""A matcher for regular expressions that reads each character once and keeps all ways of matching side by side.

The expression becomes a program for a little machine (Pike's): a *thread* is a place in the program with the groups it
has seen, and threads are kept in the order in which a backtracking matcher would try them, so both find the same match.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from fencepost.search import regex_parts
from fencepost.search.characters import Ranges

_LARGEST: Final = 20_000  # instructions


class _Instruction(NamedTuple):
    kind: Literal["character", "split", "save", "assert", "match"]
    ranges: Ranges = ()
    first: int = 0  # where a split goes first; which slot to save in
    second: int = 0
    test: regex_parts.Anchor | _Look | None = None


@dataclass(frozen=True)
class _Look:
    machine: Machine
    negated: bool
    back: int  # how many characters before this place to begin
    width: int | None  # how many characters it reads, if that is fixed


class _UnsupportedError(Exception):
    """A part that no such machine can match: a back-reference or an atomic group."""


def build(part: regex_parts.Part, groups: int) -> Machine | None:
    """A machine for an expression, or None if it has back-references or atomic groups or is too large."""
    try:
        return Machine(part, groups)
    except _UnsupportedError:
        return None


class Machine:
    def __init__(self, part: regex_parts.Part, groups: int) -> None:
        self.slots = 2 * (groups + 1)
        self.program: list[_Instruction] = []
        self._groups = groups
        self._add(_Instruction("save", first=0))
        self._compile(part)
        self._add(_Instruction("save", first=1))
        self._add(_Instruction("match"))

    def search(self, text: str) -> tuple[str | None, ...] | None:
        """The leftmost match and its groups, or None."""
        found = self._run(text, 0, anchored=False)
        if found is None:
            return None
        pairs = zip(found[::2], found[1::2], strict=True)
        return tuple(text[start:end] if start >= 0 and end >= 0 else None for start, end in pairs)

    def effort(self, length: int) -> int:
        """The most steps that a text of this length can take: a lookahead reads it again at every character."""
        looks = [one.test for one in self.program if isinstance(one.test, _Look)]
        reads = [look.machine.effort(length if look.width is None else min(look.width, length)) for look in looks]
        return (length + 1) * (len(self.program) + sum(reads))

    def matches_at(self, text: str, start: int) -> bool:
        return start >= 0 and self._run(text, start, anchored=True) is not None

    def _run(self, text: str, start: int, anchored: bool) -> tuple[int, ...] | None:
        found: tuple[int, ...] | None = None
        threads: list[tuple[int, tuple[int, ...]]] = []
        for at in range(start, len(text) + 1):
            if found is None and (at == start or not anchored):
                threads.append((0, (-1,) * self.slots))
            if not threads:
                break
            code = ord(text[at]) if at < len(text) else -1
            following: list[tuple[int, tuple[int, ...]]] = []
            for place, slots in self._ready(threads, text, at):
                instruction = self.program[place]
                if instruction.kind == "match":
                    found = slots
                    break  # the threads after this one are less preferred
                if any(first <= code <= last for first, last in instruction.ranges):
                    following.append((place + 1, slots))
            threads = following
        return found

    def _ready(
        self, threads: list[tuple[int, tuple[int, ...]]], text: str, at: int
    ) -> list[tuple[int, tuple[int, ...]]]:
        """Follows splits and saves until each thread waits for a character or has matched, visiting no place twice."""
        seen: set[int] = set()
        ready: list[tuple[int, tuple[int, ...]]] = []
        stack = list(reversed(threads))
        while stack:
            place, slots = stack.pop()
            if place in seen:
                continue
            seen.add(place)
            instruction = self.program[place]
            if instruction.kind == "split":
                stack.append((instruction.second, slots))
                stack.append((instruction.first, slots))
            elif instruction.kind == "save":
                slot = instruction.first
                stack.append((place + 1, (*slots[:slot], at, *slots[slot + 1 :])))
            elif instruction.kind == "assert":
                if _holds(instruction.test, text, at):
                    stack.append((place + 1, slots))
            else:
                ready.append((place, slots))
        return ready

    def _add(self, instruction: _Instruction) -> int:
        if len(self.program) >= _LARGEST:
            raise _UnsupportedError
        self.program.append(instruction)
        return len(self.program) - 1

    def _compile(self, part: regex_parts.Part) -> None:
        if isinstance(part, regex_parts.Characters):
            self._add(_Instruction("character", part.ranges))
        elif isinstance(part, regex_parts.Sequence):
            for each in part.parts:
                self._compile(each)
        elif isinstance(part, regex_parts.Choice):
            self._choice(part.parts)
        elif isinstance(part, regex_parts.Group):
            self._add(_Instruction("save", first=2 * part.number))
            self._compile(part.body)
            self._add(_Instruction("save", first=2 * part.number + 1))
        elif isinstance(part, regex_parts.Repeat):
            self._repeat(part)
        elif isinstance(part, regex_parts.Anchor):
            self._add(_Instruction("assert", test=part))
        elif isinstance(part, regex_parts.Look):
            self._look(part)
        else:
            raise _UnsupportedError

    def _choice(self, parts: tuple[regex_parts.Part, ...]) -> None:
        ends: list[int] = []
        for part in parts[:-1]:
            split = self._add(_Instruction("split"))
            self._compile(part)
            ends.append(self._add(_Instruction("split")))
            self._point(split, split + 1, len(self.program))
        self._compile(parts[-1])
        for end in ends:
            self._point(end, len(self.program), len(self.program))

    def _repeat(self, part: regex_parts.Repeat) -> None:
        if part.mode == "possessive":
            if part.high is not None or not isinstance(part.body, regex_parts.Characters):
                raise _UnsupportedError
            # Taking all of them and giving none back is the same as taking some with none left after.
            self._repeat(regex_parts.Repeat(part.body, part.low, None, "greedy"))
            self._look(regex_parts.Look(part.body, ahead=True, negated=True))
            return
        for _ in range(part.low):
            self._compile(part.body)
        if part.high is None:
            split = self._add(_Instruction("split"))
            self._compile(part.body)
            self._add(_Instruction("split", first=split, second=split))
            self._branch(split, len(self.program), part.mode)
            return
        splits = []
        for _ in range(part.high - part.low):
            splits.append(self._add(_Instruction("split")))
            self._compile(part.body)
        for split in splits:
            self._branch(split, len(self.program), part.mode)

    def _branch(self, split: int, end: int, mode: str) -> None:
        order = (split + 1, end) if mode == "greedy" else (end, split + 1)
        self._point(split, *order)

    def _point(self, place: int, first: int, second: int) -> None:
        self.program[place] = _Instruction("split", first=first, second=second)

    def _look(self, part: regex_parts.Look) -> None:
        back = 0
        if not part.ahead:
            branches = part.body.parts if isinstance(part.body, regex_parts.Choice) else (part.body,)
            widths = {regex_parts.width(each) for each in branches}
            if len(widths) != 1 or (known := widths.pop()) is None:
                raise _UnsupportedError
            back = known
        look = _Look(Machine(part.body, self._groups), part.negated, back, regex_parts.width(part.body))
        self._add(_Instruction("assert", test=look))


def _holds(test: regex_parts.Anchor | _Look | None, text: str, at: int) -> bool:
    if isinstance(test, _Look):
        return test.machine.matches_at(text, at - test.back) != test.negated
    assert test is not None
    if test.kind == "start":
        return at == 0
    if test.kind == "end":
        return at == len(text)
    before = at > 0 and _is_word(text[at - 1])
    after = at < len(text) and _is_word(text[at])
    return (before != after) == (test.kind == "boundary")


def _is_word(character: str) -> bool:
    return character.isalnum() or character == "_"
