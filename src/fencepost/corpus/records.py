"""Sentences as they are written: one record each, as a line of JSON or a row of Parquet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, Protocol, TypeAlias

import numpy as np

from fencepost.corpus.arrow_arrays import ArrowArrays
from fencepost.corpus.readers import load_pyarrow
from fencepost.errors import InputError
from fencepost.parsing.columns import ParsedColumns
from fencepost.text.stream import TextSentence
from fencepost.trees.spans import nest
from fencepost.trees.tree import Leaf, Tree

if TYPE_CHECKING:
    from fencepost.parsing.confidence import Analysis

Format: TypeAlias = Literal["jsonl", "parquet"]
ROWS: Final = 8_192  # in a row group of Parquet, about


class LocatedSentence(NamedTuple):
    """A sentence and where it comes from."""

    document: int  # the index of its document in the shard
    id: str
    number: int  # in its document, from 0
    found: TextSentence


@dataclass(frozen=True)
class Records:
    """Parsed sentences."""

    sentences: Sequence[LocatedSentence]
    words: Sequence[str]  # of all sentences, as they stand in the trees
    columns: ParsedColumns
    probabilities: Sequence[float | None] | None = None  # of all constituents


def columns_of(analyses: Sequence[Analysis]) -> tuple[ParsedColumns, list[float | None]]:
    """Analyses as columns, and the probabilities of their constituents."""
    tags = [tag for analysis in analyses for tag in analysis.tree.tags()]
    parts = [part for analysis in analyses for part in analysis.constituents]
    tag_names, label_names = (dict.fromkeys(names) for names in (tags, (part.label for part in parts)))
    tag_of, label_of = ({name: number for number, name in enumerate(names)} for names in (tag_names, label_names))
    columns = ParsedColumns(
        [str(analysis.tree) for analysis in analyses],
        np.array([analysis.score for analysis in analyses]),
        _bounds([len(analysis.tree.words()) for analysis in analyses]),
        np.array([tag_of[tag] for tag in tags], np.int32),
        _bounds([len(analysis.constituents) for analysis in analyses]),
        np.array([part.start for part in parts], np.int32),
        np.array([part.end for part in parts], np.int32),
        np.array([label_of[part.label] for part in parts], np.int32),
        list(tag_names),
        list(label_names),
    )
    return columns, [part.probability for part in parts]


def _bounds(counts: list[int]) -> Any:
    return np.cumsum([0, *counts]).astype(np.int32)


class Encoder(Protocol):
    """Collects the records of a part."""

    def add(self, records: Records) -> None: ...

    def finish(self) -> bytes:
        """The content of the part; called once, at the end."""
        ...


def new_encoder(format_: Format, probabilities: bool) -> Encoder:
    return JsonLines() if format_ == "jsonl" else Parquet(probabilities)


def tree_of(record: Mapping[str, Any], root: str | None = "TOP") -> Tree:
    """The tree of a record, from its tokens and constituents instead of its brackets.

    ``root`` is the label above all constituents, which isn't one of them: TOP in the models that come with fencepost.
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

    def add(self, records: Records) -> None:
        encode = json.JSONEncoder(ensure_ascii=False).encode
        columns = records.columns
        scores, bounds = columns.scores.tolist(), columns.word_bounds.tolist()
        tags = [columns.tag_names[tag] for tag in columns.tags.tolist()]
        for number, (_, id_, place, found) in enumerate(records.sentences):
            own = slice(bounds[number], bounds[number + 1])
            plain = {
                "id": id_,
                "sentence": place,
                "text": found.text,
                "start": found.offset,
                "end": found.offset + len(found.text),
                "tokens": _plain_tokens(found, tags[own], records.words[own]),
                "tree": columns.brackets[number],
                "score": scores[number],
            }
            if records.probabilities is not None:
                plain["constituents"] = _plain_constituents(columns, records.probabilities, number)
            self._lines.append(encode(plain))

    def finish(self) -> bytes:
        return "".join(f"{line}\n" for line in self._lines).encode()


def _plain_tokens(found: TextSentence, tags: Sequence[str], words: Sequence[str]) -> list[dict[str, Any]]:
    tokens, shift = [], found.offset
    for (text, start, end, _), tag, word in zip(found.tokens, tags, words, strict=True):
        token = {"text": text, "start": shift + start, "end": shift + end, "tag": tag}
        tokens.append(token if text == word else {**token, "form": word})
    return tokens


def _plain_constituents(
    columns: ParsedColumns, probabilities: Sequence[float | None], number: int
) -> list[dict[str, Any]]:
    own = slice(columns.bounds[number], columns.bounds[number + 1])
    spans = zip(*(column[own].tolist() for column in (columns.labels, columns.starts, columns.ends)), strict=True)
    return [
        {"label": columns.label_names[label], "start": start, "end": end, "probability": probability}
        for (label, start, end), probability in zip(spans, probabilities[own], strict=True)
    ]


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
            field("tokens", pa.list_(field("element", pa.struct(token)))),
            field("tree", pa.string()),
            field("score", pa.float64()),
            field("constituents", pa.list_(field("element", pa.struct(constituent)))),
        ]
    )


class Parquet:
    """Columns, written by Arrow in row groups of about ``ROWS`` sentences."""

    def __init__(self, probabilities: bool) -> None:
        self._pa = load_pyarrow("writing Parquet files")
        self._arrays = ArrowArrays(self._pa)
        self._schema = parquet_schema(probabilities)
        self._content = self._pa.BufferOutputStream()
        self._writer = self._pa.parquet.ParquetWriter(self._content, self._schema, compression="zstd")
        self._waiting: list[Any] = []
        self._rows = 0

    def add(self, records: Records) -> None:
        self._waiting.append(self._batch(records))
        self._rows += len(records.sentences)
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

    def _batch(self, records: Records) -> Any:
        _, ids, numbers, found = zip(*records.sentences, strict=True)
        texts = [sentence.text for sentence in found]
        starts = np.array([sentence.offset for sentence in found])
        columns = records.columns
        labels = self._names(columns.label_names, columns.labels)
        constituents = [labels, columns.starts.astype(np.int16), columns.ends.astype(np.int16)]
        if records.probabilities is not None:
            constituents.append(records.probabilities)
        arrays = [
            ids,
            numbers,
            texts,
            starts,
            starts + list(map(len, texts)),
            self._lists("tokens", columns.word_bounds, self._tokens(records, starts)),
            columns.brackets,
            columns.scores,
            self._lists("constituents", columns.bounds, constituents),
        ]
        return self._pa.record_batch(list(map(self._array, arrays, self._schema.types)), schema=self._schema)

    def _tokens(self, records: Records, shifts: Any) -> list[Any]:
        tokens = list(chain.from_iterable(sentence.found.tokens for sentence in records.sentences))
        texts, starts, ends, _ = zip(*tokens, strict=True)
        shift = np.repeat(shifts, np.diff(records.columns.word_bounds))
        tags = self._names(records.columns.tag_names, records.columns.tags)
        forms = [None if word == text else word for word, text in zip(records.words, texts, strict=True)]
        return [texts, shift + starts, shift + ends, tags, forms]

    def _names(self, names: Sequence[str], numbers: Any) -> Any:
        return self._arrays.chosen(names, numbers)

    def _lists(self, name: str, bounds: Any, columns: Sequence[Any]) -> Any:
        type_ = self._schema.field(name).type
        fields = list(type_.value_type)
        arrays = [self._array(column, field.type) for column, field in zip(columns, fields, strict=True)]
        structs = self._pa.StructArray.from_arrays(arrays, fields=fields)
        return self._pa.ListArray.from_arrays(self._arrays.numbers(bounds, self._pa.int32()), structs, type=type_)

    def _array(self, column: Any, type_: Any) -> Any:
        return column if isinstance(column, self._pa.Array) else self._arrays.of(column, type_)
