"""Cuts the documents of all files into shards, one for each part of the output, before the work begins.

The cut depends on the files alone, not on who does the work, so a run that goes on finds the same shards.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np

from fencepost.corpus.inputs import InputFile
from fencepost.corpus.readers import Columns, Outline, open_reader
from fencepost.errors import UsageError

SMALLEST_PART: Final = 1 << 16  # bytes of text in a part, if the size isn't given
LARGEST_PART: Final = 1 << 23
PARTS: Final = 256  # parts of a corpus between those sizes
UNPACKED: Final = 3  # bytes of text for each byte of a packed file, about


class Place(NamedTuple):
    """Where a document is."""

    file: int  # its index among the inputs
    record: int
    offset: int = 0


class Slice(NamedTuple):
    """Documents of one file, from ``record`` up to but without ``end``, or to the last."""

    file: InputFile
    record: int
    offset: int
    end: int | None


@dataclass(frozen=True)
class Shard:
    """The documents of one part, and the place of the first document with the same id for those that repeat one."""

    number: int
    documents: int
    slices: tuple[Slice, ...]
    repeated: dict[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Where each shard begins, how many documents it has, and which documents repeat the id of an earlier one."""

    starts: list[Place]
    counts: list[int]
    size: int  # bytes of all documents, about
    repeated: list[tuple[Place, Place]]  # a document, and the first one with its id; in the order of the files

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def documents(self) -> int:
        return sum(self.counts)

    def shard(self, number: int, files: Sequence[InputFile]) -> Shard:
        begin = self.starts[number]
        end = self.starts[number + 1] if number + 1 < len(self) else Place(len(files), 0)
        low, high = (bisect_left(self.repeated, (Place(place.file, place.record),)) for place in (begin, end))
        repeated = {
            (files[place.file].path, place.record): located(files[first.file].path, first.record)
            for place, first in self.repeated[low:high]
        }
        return Shard(number, self.counts[number], tuple(_slices(files, begin, end)), repeated)

    def to_json(self) -> dict[str, Any]:
        return {"starts": self.starts, "counts": self.counts, "size": self.size, "repeated": self.repeated}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        starts = [Place(*place) for place in data["starts"]]
        repeated = [(Place(*place), Place(*first)) for place, first in data["repeated"]]
        return cls(starts, data["counts"], data["size"], repeated)


def located(path: str, record: int) -> str:
    """How messages name a document."""
    return f"{path}:{record}" if record else path


def default_part_bytes(files: Sequence[InputFile]) -> int:
    """The size of a part for these files: small corpora need many parts to share the work, large ones larger parts."""
    size = sum(file.size * (UNPACKED if file.packing else 1) for file in files)
    return min(max(size // PARTS, SMALLEST_PART), LARGEST_PART)


def make_plan(
    files: Sequence[InputFile], columns: Columns, part_bytes: int, advance: Callable[[int], None] = lambda size: None
) -> Plan:
    """Reads the ids and sizes of all documents. ``advance`` is called with the size of each file that was read."""
    starts: list[Place] = []
    counts: list[int] = []
    names = array("Q")  # of the ids; eight bytes each
    total, filled = 0, part_bytes
    fields: tuple[str, ...] = ()
    has_text = False
    for index, file in enumerate(files):
        for outline in _outlines(file, columns):
            if filled >= part_bytes:
                starts.append(Place(index, outline.record, outline.offset))
                counts.append(0)
                filled = 0
            counts[-1] += 1
            filled += outline.size
            total += outline.size
            if outline.id is not None:
                names.append(_hash(outline.id))
            fields = fields or outline.fields
            has_text = has_text or not outline.fields
        advance(file.size)
    if fields and not has_text:
        raise UsageError(
            f"no document has a field {columns.text!r}", hint=f"--text-column takes one of {', '.join(fields[:20])}"
        )
    return Plan(starts, counts, total, _repeated(files, columns, names))


def _outlines(file: InputFile, columns: Columns) -> Iterator[Outline]:
    with closing(open_reader(file, columns)) as reader:
        yield from reader.outline()


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _repeated(files: Sequence[InputFile], columns: Columns, names: array[int]) -> list[tuple[Place, Place]]:
    """The documents whose id an earlier one has. Most corpora have none, and then nothing is read a second time."""
    if not len(names):
        return []
    values = np.sort(np.frombuffer(names, np.uint64))
    suspects = set(values[1:][values[1:] == values[:-1]].tolist())
    if not suspects:
        return []
    firsts: dict[str, Place] = {}
    repeated: list[tuple[Place, Place]] = []
    for index, file in enumerate(files):
        for outline in _outlines(file, columns):
            if outline.id is None or _hash(outline.id) not in suspects:
                continue
            place = Place(index, outline.record)
            first = firsts.setdefault(outline.id, place)
            if first is not place:
                repeated.append((place, first))
    return repeated


def _slices(files: Sequence[InputFile], begin: Place, end: Place) -> Iterator[Slice]:
    for index in range(begin.file, min(end.file + 1, len(files))):
        record, offset = (begin.record, begin.offset) if index == begin.file else (1, 0)
        if index < end.file:
            yield Slice(files[index], record, offset, None)
        elif record < end.record:
            yield Slice(files[index], record, offset, end.record)
