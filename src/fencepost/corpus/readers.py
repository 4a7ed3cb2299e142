"""Reads documents from files: lines of JSON, rows of Parquet, whole text files or their lines.

A document that can't be read doesn't end the reading: it comes with its problem in place of its text.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from fencepost.corpus.inputs import SURROGATE, InputFile
from fencepost.corpus.packed_files import LARGEST, PackedFile, RawLine, unpacker
from fencepost.errors import EncodingError, MissingExtraError
from fencepost.storage.text_reader import BYTE_ORDER_MARK, other_format

ID, TEXT = "id", "text"
_TOO_LARGE: Final = f"more than {LARGEST >> 20} MB"
_LONGEST_ID: Final = 10_000  # characters; it is written beside each sentence of its document


@dataclass(frozen=True)
class Columns:
    """Where documents have their ids and texts."""

    id: str | None = None  # None: ``id`` where there is one, else the place of the document
    text: str = TEXT
    lines: bool = False  # every line of a text file is a document

    @property
    def id_name(self) -> str:
        return self.id or ID


class Outline(NamedTuple):
    """What planning has to know about a document."""

    record: int  # its line or row, from 1; 0 for a whole file
    offset: int  # unpacked bytes before it; 0 in Parquet and for whole files
    size: int  # bytes, roughly those of its text
    id: str | None  # None if it can't be read
    fields: tuple[str, ...] = ()  # those that it has, if its text isn't among them
    has_text: bool = True


class RawDocument(NamedTuple):
    record: int
    id: str | None
    text: str | None
    problem: str | None = None  # why it can't be parsed
    fields: tuple[str, ...] = ()
    has_number: bool = False  # its id is a number in the file


class Reader(ABC):
    """Reads one file."""

    def __init__(self, file: InputFile, columns: Columns) -> None:
        self.file, self.columns = file, columns

    @abstractmethod
    def outline(self) -> Iterator[Outline]:
        """All documents of the file, good and bad."""

    @abstractmethod
    def documents(self, record: int, offset: int, end: int | None) -> Iterator[RawDocument]:
        """The documents from ``record`` on, which begins at ``offset``, up to but without ``end``."""

    @abstractmethod
    def close(self) -> None: ...


def open_reader(file: InputFile, columns: Columns) -> Reader:
    if file.kind == "parquet":
        from fencepost.corpus.parquet_reader import ParquetReader  # here: that module imports this one

        return ParquetReader(file, columns)
    if file.kind == "jsonl":
        return JsonReader(file, columns)
    return TextLineReader(file, columns) if columns.lines else TextReader(file, columns)


def require_libraries(files: Sequence[InputFile]) -> None:
    """Raises MissingExtraError if a file can't be read for want of a package."""
    if any(file.kind == "parquet" for file in files):
        load_pyarrow("reading Parquet files")
    for packing in {file.packing for file in files} - {None}:
        unpacker(packing)


def load_pyarrow(what: str) -> Any:
    """``pyarrow`` with its submodule ``parquet``. ``what`` needs it, for the error if it is missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ModuleNotFoundError as error:
        raise MissingExtraError("pyarrow", "corpus", what) from error
    return pyarrow


class _PackedReader(Reader):
    def __init__(self, file: InputFile, columns: Columns) -> None:
        super().__init__(file, columns)
        self._packed = PackedFile(file)

    def close(self) -> None:
        self._packed.close()


class TextReader(_PackedReader):
    """The whole file is one document."""

    def outline(self) -> Iterator[Outline]:
        yield Outline(0, 0, self.file.size, self.file.path)

    def documents(self, record: int, offset: int, end: int | None) -> Iterator[RawDocument]:
        try:
            content = self._packed.content()
        except EncodingError as error:
            yield RawDocument(0, self.file.path, None, error.problem)
            return
        text, problem = (None, f"the text has {_TOO_LARGE}") if content is None else _decode(content)
        yield RawDocument(0, self.file.path, text, problem)


class _LineReader(_PackedReader):
    """Each line is a document; empty lines are passed over."""

    @abstractmethod
    def read(self, text: str, number: int) -> RawDocument: ...

    def outline(self) -> Iterator[Outline]:
        for line, document in self._read(1, 0, None):
            has_text = document.text is not None
            yield Outline(line.number, line.offset, line.size, document.id, document.fields, has_text)

    def documents(self, record: int, offset: int, end: int | None) -> Iterator[RawDocument]:
        for _, document in self._read(record, offset, end):
            yield document

    def place(self, number: int) -> str:
        return f"{self.file.path}:{number}"

    def _read(self, number: int, offset: int, end: int | None) -> Iterator[tuple[RawLine, RawDocument]]:
        try:
            for line in self._packed.lines(number, offset, end):
                number, offset = line.number + 1, line.offset + line.size
                if line.content is None:
                    yield line, RawDocument(line.number, None, None, f"the line has {_TOO_LARGE}")
                elif line.content.strip():
                    text, problem = _decode(line.content)
                    unread = RawDocument(line.number, None, None, problem)
                    yield line, unread if text is None else self.read(text, line.number)
        except EncodingError as error:
            # The lines before the damage can be read, and so can other files.
            yield RawLine(number, offset, None, 0), RawDocument(number, None, None, error.problem)


class TextLineReader(_LineReader):
    def read(self, text: str, number: int) -> RawDocument:
        return RawDocument(number, self.place(number), text)


class JsonReader(_LineReader):
    def read(self, text: str, number: int) -> RawDocument:
        try:
            fields = json.loads(text)
        except json.JSONDecodeError as error:
            return RawDocument(number, None, None, f"not JSON: {error.msg} at column {error.colno}")
        except (ValueError, RecursionError) as error:  # a number of too many digits, or too many brackets
            return RawDocument(number, None, None, f"not JSON that can be read: {error}")
        if not isinstance(fields, dict):
            return RawDocument(number, None, None, f"not a JSON object but {_shown(fields)}")
        columns = self.columns
        if columns.id_name in fields:
            id_, problem = checked_id(fields[columns.id_name], columns.id_name)
        elif columns.id is None:
            id_, problem = self.place(number), None
        else:
            id_, problem = None, f"no field {columns.id_name!r}"
        if columns.text not in fields:
            return RawDocument(number, id_, None, problem or f"no field {columns.text!r}", tuple(fields))
        text_, text_problem = checked_text(fields[columns.text], columns.text)
        has_number = isinstance(fields.get(columns.id_name), int)
        return RawDocument(number, id_, text_, problem or text_problem, has_number=has_number)


def checked_id(value: object, name: str) -> tuple[str | None, str | None]:
    """An id, or what is wrong with it."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value), None
    if not isinstance(value, str):
        return None, f"{name!r} is {_shown(value)}, not a string or a whole number"
    if SURROGATE.search(value):
        return None, f"{name!r} has half of a surrogate pair, which isn't text"
    if len(value) > _LONGEST_ID:
        return None, f"{name!r} has {len(value):,} characters; at most {_LONGEST_ID:,} are allowed"
    return (value, None) if value else (None, f"{name!r} is empty")


def checked_text(value: object, name: str) -> tuple[str | None, str | None]:
    """A text, or what is wrong with it."""
    if not isinstance(value, str):
        return None, f"{name!r} is {_shown(value)}, not a string"
    if len(value) > LARGEST:
        return None, f"{name!r} has {_TOO_LARGE}"
    if SURROGATE.search(value):
        return None, f"{name!r} has half of a surrogate pair, which isn't text"
    return value, None


def _shown(value: object) -> str:
    names = {type(None): "null", bool: "true or false", int: "a number", float: "a decimal number", str: "a string"}
    return names.get(type(value), "a list" if isinstance(value, list) else "an object")


def _decode(content: bytes) -> tuple[str | None, str | None]:
    """The text of these bytes, or what is wrong with them."""
    if problem := other_format(content):
        return None, problem
    try:
        return content.removeprefix(BYTE_ORDER_MARK).decode("utf-8"), None
    except UnicodeDecodeError as error:
        return None, f"not UTF-8: byte 0x{content[error.start]:02x} at byte {error.start + 1}"
