"""Cuts the documents of all files into shards, one for each part of the output, before the work begins.

The cut depends on the files alone, not on who does the work, so a run that goes on finds the same shards.

If several documents have the same id, it belongs to the first one with words in its text. Documents without any are bad
for reasons of their own, and take no id away from a later one.
"""

from __future__ import annotations

import hashlib
from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, Final, NamedTuple

import numpy as np

from fencepost.corpus.inputs import InputFile
from fencepost.corpus.readers import Columns, Outline, RawDocument, open_reader
from fencepost.errors import UsageError

SMALLEST_PART: Final = 1 << 17  # bytes of text in a part, if the size isn't given
LARGEST_PART: Final = 1 << 23
PARTS: Final = 256  # parts of a corpus between those sizes
UNPACKED: Final = 3  # bytes of text for each byte of a packed file, about


class Place(NamedTuple):
    """Where a document is."""

    file: int  # its index among the inputs
    record: int
    offset: int = 0


class Repeat(NamedTuple):
    """A document that can't be parsed because an earlier one has its id."""

    place: Place
    first: Place
    as_text: bool = False  # one of them has a number as its id, the other a string with the same digits


class Slice(NamedTuple):
    """Documents of one file, from ``record`` up to but without ``end``, or to the last."""

    file: InputFile
    record: int
    offset: int
    end: int | None


@dataclass(frozen=True)
class Shard:
    """The documents of one part, and why those that repeat an id can't be parsed."""

    number: int
    documents: int
    slices: tuple[Slice, ...]
    repeated: dict[tuple[str, int], str] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """Where each shard begins, how large it is, and which documents repeat the id of an earlier one."""

    starts: list[Place]
    counts: list[int]
    sizes: list[int]  # bytes of each shard, about
    repeated: list[Repeat]  # in the order of the files

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def documents(self) -> int:
        return sum(self.counts)

    @property
    def size(self) -> int:
        return sum(self.sizes)

    def shard(self, number: int, files: Sequence[InputFile]) -> Shard:
        begin = self.starts[number]
        end = self.starts[number + 1] if number + 1 < len(self) else Place(len(files), 0)
        low, high = (bisect_left(self.repeated, (Place(place.file, place.record),)) for place in (begin, end))
        repeated = {
            (files[place.file].path, place.record): _reason(located(files[first.file].path, first.record), as_text)
            for place, first, as_text in self.repeated[low:high]
        }
        return Shard(number, self.counts[number], tuple(_slices(files, begin, end)), repeated)

    def to_json(self) -> dict[str, Any]:
        return {"starts": self.starts, "counts": self.counts, "sizes": self.sizes, "repeated": self.repeated}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Plan:
        """The plan that ``to_json`` wrote. Raises KeyError, TypeError or ValueError if it can't be one."""
        starts = [Place(*place) for place in data["starts"]]
        repeated = [Repeat(Place(*place), Place(*first), as_text) for place, first, as_text in data["repeated"]]
        counts, sizes = data["counts"], data["sizes"]
        places = [*starts, *(place for pair in repeated for place in pair[:2])]
        if any(type(number) is not int or number < 0 for number in (*counts, *sizes, *chain(*places))):
            raise ValueError("a number is missing")
        if not len(starts) == len(counts) == len(sizes) or starts != sorted(starts):
            raise ValueError("its parts are out of order")
        return cls(starts, counts, sizes, repeated)


def located(path: str, record: int) -> str:
    """How messages name a document."""
    return f"{path}:{record}" if record else path


def _reason(first: str, as_text: bool) -> str:
    return f"{first} has the same id" + (", once as a number and once as a string" if as_text else "")


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
    sizes: list[int] = []
    fields: tuple[str, ...] = ()
    has_text = False
    for index, file in enumerate(files):
        for outline in _outlines(file, columns):
            if not sizes or sizes[-1] >= part_bytes:
                starts.append(Place(index, outline.record, outline.offset))
                counts.append(0)
                sizes.append(0)
            counts[-1] += 1
            sizes[-1] += outline.size
            if outline.id is not None:
                names.append(_hash(outline.id))
            fields = fields or outline.fields
            has_text = has_text or outline.has_text
        advance(file.size)
    if fields and not has_text:
        raise UsageError(
            f"no document has text in the field {columns.text!r}",
            hint=f"--text-column takes one of {', '.join(fields[:20])}",
        )
    return Plan(starts, counts, sizes, _repeated(files, columns, names))


def _outlines(file: InputFile, columns: Columns) -> Iterator[Outline]:
    with closing(open_reader(file, columns)) as reader:
        yield from reader.outline()
    file.require_unchanged()


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little")


def _repeated(files: Sequence[InputFile], columns: Columns, names: array[int]) -> list[Repeat]:
    """The documents whose id an earlier one has. Most corpora have none, and then nothing is read a second time."""
    if not len(names):
        return []
    values = np.sort(np.frombuffer(names, np.uint64))
    suspects = set(values[1:][values[1:] == values[:-1]].tolist())
    if not suspects:
        return []
    firsts: dict[str, tuple[Place, bool]] = {}
    repeated: list[Repeat] = []
    for index, file in enumerate(files):
        for document in _documents(file, columns):
            if document.id is None or _hash(document.id) not in suspects or not _has_words(document):
                continue
            place = Place(index, document.record)
            first, has_number = firsts.setdefault(document.id, (place, document.has_number))
            if first is not place:
                repeated.append(Repeat(place, first, has_number != document.has_number))
    return repeated


def _documents(file: InputFile, columns: Columns) -> Iterator[RawDocument]:
    with closing(open_reader(file, columns)) as reader:
        yield from reader.documents(1, 0, None)
    file.require_unchanged()


def _has_words(document: RawDocument) -> bool:
    return document.problem is None and bool((document.text or "").strip())


def _slices(files: Sequence[InputFile], begin: Place, end: Place) -> Iterator[Slice]:
    for index in range(begin.file, min(end.file + 1, len(files))):
        record, offset = (begin.record, begin.offset) if index == begin.file else (1, 0)
        if index < end.file:
            yield Slice(files[index], record, offset, None)
        elif record < end.record:
            yield Slice(files[index], record, offset, end.record)
