"""Sentences as they are written: one record each, as a line of JSON or a row of Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from fencepost.corpus.readers import load_pyarrow
from fencepost.errors import InputError
from fencepost.text.stream import TextSentence
from fencepost.trees.spans import nest, spans_below_root
from fencepost.trees.tree import Leaf, Tree

if TYPE_CHECKING:
    from fencepost.parsing.confidence import Constituent

Format: TypeAlias = Literal["jsonl", "parquet"]
ROWS: Final = 8_192  # in a row group of Parquet, about


class Record(NamedTuple):
    """A parsed sentence of a document."""

    id: str  # of the document
    number: int  # in the document, from 0
    sentence: TextSentence
    tree: Tree
    score: float
    constituents: tuple[Constituent, ...] | None = None  # with probabilities, if they were asked for


class Encoder(Protocol):
    """Collects the records of a part."""

    def add(self, records: Sequence[Record]) -> None: ...

    def finish(self) -> bytes:
        """The content of the part; called once, at the end."""
        ...


def new_encoder(format_: Format, probabilities: bool) -> Encoder:
    return JsonLines() if format_ == "jsonl" else Parquet(probabilities)


def tree_of(record: Mapping[str, Any], root: str | None = "TOP") -> Tree:
    """The tree of a record, from its tokens and constituents: about twice as fast as reading its brackets.

    ``root`` is the label above all constituents, which isn't one of them: TOP for all models that come with fencepost.
    """
    if record.get("constituents") is None:
        raise InputError(
            "the record has no constituents", hint="they are in Parquet files, and in JSON Lines with --probabilities"
        )
    leaves = [Leaf(token["tag"], token.get("form") or token["text"]) for token in record["tokens"]]
    parts = record["constituents"]
    columns = ([part["start"] for part in parts], [part["end"] for part in parts], [(part["label"],) for part in parts])
    return nest(leaves, *columns, root)


class JsonLines:
    """One object per line."""

    def __init__(self) -> None:
        self._lines: list[str] = []

    def add(self, records: Sequence[Record]) -> None:
        encode = json.JSONEncoder(ensure_ascii=False).encode
        self._lines += [encode(_plain(record)) for record in records]

    def finish(self) -> bytes:
        return "".join(f"{line}\n" for line in self._lines).encode()


def _plain(record: Record) -> dict[str, Any]:
    sentence, shift = record.sentence, record.sentence.offset
    tokens = []
    for (text, start, end, _), leaf in zip(sentence.tokens, record.tree.leaves(), strict=True):
        token = {"text": text, "start": shift + start, "end": shift + end, "tag": leaf.tag}
        tokens.append(token if text == leaf.word else {**token, "form": leaf.word})
    plain: dict[str, Any] = {
        "id": record.id,
        "sentence": record.number,
        "text": sentence.text,
        "start": shift,
        "end": shift + len(sentence.text),
        "tokens": tokens,
        "tree": str(record.tree),
        "score": record.score,
    }
    if record.constituents is not None:
        plain["constituents"] = [
            {"label": part.label, "start": part.start, "end": part.end, "probability": part.probability}
            for part in record.constituents
        ]
    return plain


def _spans(tree: Tree) -> list[tuple[str, int, int]]:
    return [(label, start, end) for start, end, labels in spans_below_root(tree) for label in labels]


def parquet_schema(probabilities: bool = False) -> Any:
    """The Arrow schema of the parts; docs/scale.md describes the columns."""
    pa = load_pyarrow("writing Parquet files")

    def field(name: str, type_: Any) -> Any:
        return pa.field(name, type_, nullable=False)

    token = [field("text", pa.string()), field("start", pa.int32()), field("end", pa.int32())]
    token += [field("tag", pa.string()), pa.field("form", pa.string())]
    constituent = [field("label", pa.string()), field("start", pa.int16()), field("end", pa.int16())]
    if probabilities:
        constituent.append(pa.field("probability", pa.float32()))
    return pa.schema(
        [
            field("id", pa.string()),
            field("sentence", pa.int32()),
            field("text", pa.string()),
            field("start", pa.int32()),
            field("end", pa.int32()),
            field("tokens", pa.list_(field("token", pa.struct(token)))),
            field("tree", pa.string()),
            field("score", pa.float64()),
            field("constituents", pa.list_(field("constituent", pa.struct(constituent)))),
        ]
    )


class Parquet:
    """Columns, written by Arrow in row groups of about ``ROWS`` sentences."""

    def __init__(self, probabilities: bool) -> None:
        self._pa = load_pyarrow("writing Parquet files")
        self._schema = parquet_schema(probabilities)
        self._content = self._pa.BufferOutputStream()
        self._writer = self._pa.parquet.ParquetWriter(self._content, self._schema, compression="zstd")
        self._waiting: list[Any] = []
        self._rows = 0

    def add(self, records: Sequence[Record]) -> None:
        self._waiting.append(self._batch(records))
        self._rows += len(records)
        if self._rows >= ROWS:
            self._write()

    def finish(self) -> bytes:
        self._write()
        self._writer.close()
        content: bytes = self._content.getvalue().to_pybytes()
        return content

    def _write(self) -> None:
        if self._waiting:
            self._writer.write_table(self._pa.Table.from_batches(self._waiting, self._schema), self._rows)
        self._waiting, self._rows = [], 0

    def _batch(self, records: Sequence[Record]) -> Any:
        sentences = [record.sentence for record in records]
        columns: list[Any] = [
            [record.id for record in records],
            [record.number for record in records],
            [sentence.text for sentence in sentences],
            [sentence.offset for sentence in sentences],
            [sentence.offset + len(sentence.text) for sentence in sentences],
            self._tokens(records),
            [str(record.tree) for record in records],
            [record.score for record in records],
            self._constituents(records),
        ]
        pa = self._pa
        arrays = [
            column if isinstance(column, pa.Array) else pa.array(column, field.type)
            for column, field in zip(columns, self._schema, strict=True)
        ]
        return pa.record_batch(arrays, schema=self._schema)

    def _tokens(self, records: Sequence[Record]) -> Any:
        lengths = [len(record.sentence.tokens) for record in records]
        shifts = np.repeat([record.sentence.offset for record in records], lengths)
        tokens = list(chain.from_iterable(record.sentence.tokens for record in records))
        leaves = list(chain.from_iterable(record.tree.leaves() for record in records))
        texts, starts, ends, _ = zip(*tokens, strict=True)
        columns = (
            texts,
            np.asarray(starts) + shifts,
            np.asarray(ends) + shifts,
            [leaf.tag for leaf in leaves],
            [None if leaf.word == text else leaf.word for leaf, text in zip(leaves, texts, strict=True)],
        )
        return self._lists("tokens", lengths, columns)

    def _constituents(self, records: Sequence[Record]) -> Any:
        columns: tuple[Sequence[object], ...]
        if records[0].constituents is None:
            rows = [_spans(record.tree) for record in records]
            columns = tuple(zip(*chain.from_iterable(rows), strict=True)) or ((), (), ())
            return self._lists("constituents", list(map(len, rows)), columns)
        parts = [record.constituents or () for record in records]
        flat = list(chain.from_iterable(parts))
        names = [field.name for field in self._schema.field("constituents").type.value_type]
        columns = tuple([getattr(part, name) for part in flat] for name in names)
        return self._lists("constituents", list(map(len, parts)), columns)

    def _lists(self, name: str, lengths: list[int], columns: Sequence[Any]) -> Any:
        pa, type_ = self._pa, self._schema.field(name).type
        fields = list(type_.value_type)
        arrays = [pa.array(column, field.type) for column, field in zip(columns, fields, strict=True)]
        structs = pa.StructArray.from_arrays(arrays, fields=fields)
        return pa.ListArray.from_arrays(pa.array(np.cumsum([0, *lengths]), pa.int32()), structs, type=type_)
