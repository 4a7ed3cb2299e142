"""Reads documents from the rows of Parquet files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any, Final, TypeAlias

from fencepost.corpus.inputs import InputFile
from fencepost.corpus.readers import Columns, Outline, RawDocument, Reader, checked_id, checked_text, load_pyarrow
from fencepost.errors import EncodingError, UsageError

_ROWS: Final = 1_024  # in memory at once, but fewer of large texts
_MOST: Final = 1 << 29  # bytes of them, even if all rows have the largest text of their row group
_BUFFER: Final = 1 << 20  # bytes read at once; without a buffer, all texts of a row group are
_NOT_UTF8: Final = object()


class ParquetReader(Reader):
    """Each row is a document."""

    def __init__(self, file: InputFile, columns: Columns) -> None:
        super().__init__(file, columns)
        self._pyarrow = load_pyarrow("reading Parquet files")
        self._parquet: Any = None

    def close(self) -> None:
        if self._parquet is not None:
            self._parquet.close()
            self._parquet = None

    def outline(self) -> Iterator[Outline]:
        try:
            parquet = self._open()
        except EncodingError:
            yield Outline(1, 0, self.file.size, None)
            return
        self._require_columns(parquet.schema_arrow)
        count = parquet.metadata.num_rows
        if self._has_ids():
            rows = self._rows([self.columns.id_name], 0, count)
        else:
            rows = (self._document(row, {}) for row in range(count))
        for document, size in zip(rows, _average_sizes(parquet.metadata, self.columns.text), strict=True):
            yield Outline(document.record, 0, size, document.id)

    def documents(self, record: int, offset: int, end: int | None) -> Iterator[RawDocument]:
        try:
            parquet = self._open()
        except EncodingError as error:
            yield RawDocument(1, None, None, error.problem)
            return
        last = parquet.metadata.num_rows if end is None else end - 1
        names = [self.columns.text, *[self.columns.id_name] * self._has_ids()]
        yield from self._rows(names, record - 1, last)

    def _open(self) -> Any:
        if self._parquet is None:
            try:
                self._parquet = self._pyarrow.parquet.ParquetFile(self.file.path, buffer_size=_BUFFER)
            except (OSError, self._pyarrow.ArrowException) as error:
                raise EncodingError(f"damaged Parquet file: {error}", source=self.file.path) from error
        return self._parquet

    def _require_columns(self, schema: Any) -> None:
        names, types = schema.names, self._pyarrow.types
        for name in filter(None, (self.columns.text, self.columns.id)):
            if name not in names:
                option = "--text-column" if name == self.columns.text else "--id-column"
                raise UsageError(
                    f"{self.file.path} has no column {name!r}", hint=f"{option} takes one of {', '.join(names)}"
                )
        for name in (self.columns.text, self.columns.id_name):
            if names.count(name) > 1:
                raise UsageError(
                    f"{self.file.path} has {names.count(name)} columns {name!r}", hint="give each column its own name"
                )
        type_ = schema.field(self.columns.text).type
        type_ = type_.value_type if types.is_dictionary(type_) else type_
        is_text = types.is_string(type_) or types.is_large_string(type_) or types.is_string_view(type_)
        if not is_text and not types.is_null(type_):  # other files of the same data may have texts
            raise UsageError(
                f"{self.file.path}: the column {self.columns.text!r} has the type {type_}",
                hint="--text-column takes a column of strings",
            )

    def _has_ids(self) -> bool:
        return self.columns.id_name in self._open().schema_arrow.names

    def _rows(self, names: list[str], first: int, last: int) -> Iterator[RawDocument]:
        """The rows from ``first`` up to but without ``last``, counted from 0, with the columns of these names."""
        row = first
        try:
            for batch in self._batches(names, first, last):
                columns = dict(zip(batch.schema.names, batch.columns, strict=True))
                for index in range(batch.num_rows):
                    yield self._document(row, {name: _value(column[index]) for name, column in columns.items()})
                    row += 1
        except (OSError, self._pyarrow.ArrowException) as error:
            for damaged in range(row, last):
                yield RawDocument(damaged + 1, None, None, f"damaged Parquet file: {error}")

    def _batches(self, names: list[str], first: int, last: int) -> Iterator[Any]:
        """These rows, as batches of Arrow, from only the row groups that have some of them."""
        parquet = self._open()
        begin = 0
        for group in range(parquet.num_row_groups):
            metadata = parquet.metadata.row_group(group)
            row, begin = begin, begin + metadata.num_rows
            if first >= begin or row >= last:
                continue
            rows = max(1, min(_ROWS, _MOST // max(1, *(_size(metadata, name) for name in names))))
            for batch in parquet.iter_batches(rows, row_groups=[group], columns=names, use_threads=False):
                low, high = max(first - row, 0), min(last - row, batch.num_rows)
                if low < high:
                    yield batch.slice(low, high - low)
                row += batch.num_rows
                if row >= last:
                    break

    def _document(self, row: int, values: dict[str, object]) -> RawDocument:
        columns, record = self.columns, row + 1
        id_: str | None = f"{self.file.path}:{record}"
        problem = text = text_problem = None
        if columns.id_name in values:
            id_, problem = _checked(checked_id, values, columns.id_name)
        if columns.text in values:
            text, text_problem = _checked(checked_text, values, columns.text)
        has_number = isinstance(values.get(columns.id_name), int)
        return RawDocument(record, id_, text, problem or text_problem, has_number=has_number)


_Checked: TypeAlias = "tuple[str | None, str | None]"


def _checked(check: Callable[[object, str], _Checked], values: dict[str, object], name: str) -> _Checked:
    return (None, f"{name!r} isn't UTF-8") if values[name] is _NOT_UTF8 else check(values[name], name)


def _value(scalar: Any) -> object:
    """Some programs write strings that aren't UTF-8; Arrow finds that out only here."""
    try:
        return scalar.as_py()
    except UnicodeDecodeError:
        return _NOT_UTF8


def _average_sizes(metadata: Any, column: str) -> Iterator[int]:
    """The size of each row's text: the average of its row group, for that is known without reading the texts."""
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        yield from repeat(max(_size(group, column) // max(group.num_rows, 1), 1), group.num_rows)


def _size(group: Any, column: str) -> int:
    """The unpacked bytes of a column in a row group."""
    parts = map(group.column, range(group.num_columns))
    return sum(part.total_uncompressed_size for part in parts if part.path_in_schema == column)
