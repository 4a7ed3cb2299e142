"""Makes a part of the output from a shard of documents. Parts can be made in any process and in any order.

Batches hold sentences of one shard alone. The scores of some models depend a little on the other sentences in a batch,
and a part must have the same bytes whichever process makes it, and whatever that process made before.
"""

from __future__ import annotations

import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from fencepost.corpus.inputs import InputFile
from fencepost.corpus.plan import Shard, located
from fencepost.corpus.readers import Columns, RawDocument, Reader, open_reader
from fencepost.corpus.records import Format, LocatedSentence, Records, columns_of, new_encoder
from fencepost.errors import FencepostError, InputError, WorkerError
from fencepost.parsing.chunks import equal_chunks
from fencepost.parsing.load import load_same
from fencepost.text.other_language import LanguageWatch
from fencepost.text.stream import read_stream

if TYPE_CHECKING:
    from fencepost.parsing.parser import Parser, Precision
    from fencepost.trees.treebank import Sentence

SENTENCES: Final = 8_192  # parsed together, and so sorted by length together


@dataclass(frozen=True)
class PartSettings:
    """Everything but the documents that decides the bytes of a part."""

    model: str  # a name or a folder
    device: str
    format: Format
    columns: Columns
    probabilities: bool
    batch_tokens: int | None
    precision: Precision = "fp32"
    language: str | None = None  # of a model of several languages
    fingerprint: str | None = None  # of the model when the run began


class Failure(NamedTuple):
    """A document that can't be parsed, as ``errors.jsonl`` lists it."""

    id: str | None
    file: str
    line: int | None  # or the row, in Parquet; None if the whole file is the document
    reason: str


@dataclass(frozen=True)
class Part:
    """A part of the output, and what became of its documents."""

    number: int
    content: bytes
    documents: int  # those that couldn't be parsed included
    sentences: int
    tokens: int
    failures: list[Failure]
    # Documents with text that isn't in the model's language, by what it looks like.
    other_languages: dict[str, int] = field(default_factory=dict)


class _BadDocumentsError(Exception):
    """Documents that can be read but not parsed: their indices in the shard, and why."""

    def __init__(self, problems: dict[int, str]) -> None:
        super().__init__(problems)
        self.problems = problems


class _Source:
    """Chunks of checked sentences for a parser, which may read them in a thread, ahead of what it has parsed."""

    def __init__(
        self, chunks: Iterable[list[LocatedSentence]], check: Callable[[list[LocatedSentence]], list[Sentence]]
    ) -> None:
        self._chunks, self._check = iter(chunks), check
        self._lock = Lock()
        self._is_stopped = False
        self.has_failed = False  # a file can't be read
        self.waiting: deque[tuple[list[LocatedSentence], list[str]]] = deque()  # chunks being parsed, and their words

    def __iter__(self) -> Iterator[list[Sentence]]:
        return self

    def __next__(self) -> list[Sentence]:
        with self._lock:
            if self._is_stopped:
                raise StopIteration
            try:
                chunk = next(self._chunks)
            except Exception as error:
                self.has_failed = not isinstance(error, StopIteration)
                raise
            words: list[str] = []
            self.waiting.append((chunk, words))
            sentences = self._check(chunk)
            words += [word for sentence in sentences for word in sentence.words]
            return sentences

    def stop(self) -> None:
        """Waits until nothing is being read, and makes sure that nothing will be."""
        with self._lock:
            self._is_stopped = True


class PartMaker:
    """A model that makes parts."""

    def __init__(self, settings: PartSettings, parser: Parser | None = None) -> None:
        self._settings = settings
        if parser is None:
            parser = load_same(
                settings.fingerprint, settings.model, settings.device, None, settings.language, settings.precision
            )
        self._parser = parser
        job = self._parser.analyses(0, batch_tokens=settings.batch_tokens) if settings.probabilities else None
        self._job: Any = job or self._parser.best_columns(settings.batch_tokens)
        self._reader: Reader | None = None  # of the last file: the next shard often goes on in it

    @staticmethod
    def recipe(settings: PartSettings) -> tuple[object, ...]:
        """What makes a maker in another process."""
        return (PartMaker, (settings,))

    def close(self) -> None:
        """Closes the file that was read last."""
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def do(self, job: object, shards: list[Shard]) -> list[Part | FencepostError]:
        """The parts of these shards, or why the run can't go on; ``parsing.pool`` calls this in other processes."""
        return [self.make_or_fail(shard) for shard in shards]

    def make_or_fail(self, shard: Shard) -> Part | FencepostError:
        try:
            return self.make(shard)
        except FencepostError as error:
            return error
        except Exception as error:
            first = shard.slices[0]
            where = located(first.file.path, first.record)
            again = "run the same command again: it resumes where this run stopped"
            less = "use fewer workers or --batch-tokens 500, and " if _is_memory(error) else ""
            return WorkerError(
                f"the part from {where} on failed: {type(error).__name__}: {error}",
                hint=less + again if _is_fatal(error) else None,
            )

    def make(self, shard: Shard) -> Part:
        """Parses the documents of a shard."""
        problems: dict[int, str] = {}
        with _one_thread():
            while True:
                try:
                    return self._make(shard, problems)
                except _BadDocumentsError as error:
                    problems |= error.problems  # and everything again, without these documents

    def _make(self, shard: Shard, problems: dict[int, str]) -> Part:
        encoder = new_encoder(self._settings.format, self._settings.probabilities)
        failures: list[Failure] = []
        others: Counter[str] = Counter()
        sentences = tokens = 0
        for records in self._records(equal_chunks(self._sentences(shard, problems, failures, others), SENTENCES)):
            encoder.add(records)
            sentences += len(records.sentences)
            tokens += len(records.words)
        return Part(shard.number, encoder.finish(), shard.documents, sentences, tokens, failures, dict(others))

    def _sentences(
        self, shard: Shard, problems: dict[int, str], failures: list[Failure], others: Counter[str]
    ) -> Iterator[LocatedSentence]:
        """The sentences of all documents. Documents without any, and those with problems, become failures."""
        for index, (file, document) in enumerate(self._documents(shard)):
            problem = document.problem or shard.repeated.get((file.path, document.record)) or problems.get(index)
            if problem is None:
                number = -1
                watch, found = LanguageWatch(self._parser.text_language), None
                for number, sentence in enumerate(
                    read_stream([document.text or ""], language=self._parser.text_language)
                ):
                    found = watch.look([token.form for token in sentence.tokens]) or found
                    yield LocatedSentence(index, document.id or "", number, sentence)
                if found := found or watch.finish():
                    others[found.name] += 1
                problem = "the text has no sentences" if number < 0 else None
            if problem is not None:
                failures.append(Failure(document.id, file.path, document.record or None, problem))

    def _documents(self, shard: Shard) -> Iterator[tuple[InputFile, RawDocument]]:
        count = 0
        for file, record, offset, end in shard.slices:
            file.require_unchanged()
            for document in self._open(file).documents(record, offset, end):
                count += 1
                yield file, document
            file.require_unchanged()
        if count != shard.documents:
            files = ", ".join(dict.fromkeys(slice_.file.path for slice_ in shard.slices))
            raise InputError(f"{count} documents instead of {shard.documents}: the file has changed", source=files)

    def _open(self, file: InputFile) -> Reader:
        if self._reader is None or self._reader.file != file:
            self.close()
            self._reader = open_reader(file, self._settings.columns)
        return self._reader

    def _records(self, chunks: Iterable[list[LocatedSentence]]) -> Iterator[Records]:
        source = _Source(chunks, self._checked)
        try:
            for results in self._parser.do_chunks(self._job, source):
                columns, probabilities = columns_of(results) if self._settings.probabilities else (results[0], None)
                yield Records(*source.waiting.popleft(), columns, probabilities)
        except Exception as error:
            source.stop()
            if source.has_failed or _is_fatal(error):
                raise
            waiting = [chunk for chunk, _ in source.waiting]
            problems = {index: problem for chunk in waiting for index, problem in self._bad_documents(chunk)}
            if not problems:
                raise
            raise _BadDocumentsError(problems) from error

    def _checked(self, chunk: Iterable[LocatedSentence]) -> list[Sentence]:
        return list(self._parser.checked(each.found.sentence() for each in chunk))

    def _bad_documents(self, chunk: list[LocatedSentence]) -> Iterator[tuple[int, str]]:
        """The documents of a chunk that fail by themselves, and why."""
        for index, sentences in groupby(chunk, key=attrgetter("document")):
            try:
                self._parser.do(self._job, self._checked(sentences))
            except Exception as error:
                if _is_fatal(error):
                    raise
                yield index, f"{type(error).__name__}: {error}"


def _is_fatal(error: Exception) -> bool:
    """True if another machine, or this one in another hour, may well parse the document."""
    if isinstance(error, FencepostError):
        return not isinstance(error, InputError)
    return isinstance(error, OSError) or _is_memory(error)


def _is_memory(error: Exception) -> bool:
    return isinstance(error, MemoryError) or "memory" in f"{type(error).__name__} {error}".lower()


@contextmanager
def _one_thread() -> Iterator[None]:
    """One thread for torch, as in worker processes: sums in several threads have other last digits."""
    torch = sys.modules.get("torch")
    if torch is None:
        yield
        return
    threads: int = torch.get_num_threads()
    set_threads: Callable[[int], None] = torch.set_num_threads
    set_threads(1)
    try:
        yield
    finally:
        set_threads(threads)
