"""Many documents through one parser: small documents share batches, and every document comes out in its turn."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar

from fencepost.parsing.documents import Document, ParsedSentence, parsed_sentence
from fencepost.text.sentences import Mode
from fencepost.text.stream import TextSentence, read_stream

if TYPE_CHECKING:
    from fencepost.parsing.chunk_parser import ScoredPair
    from fencepost.parsing.confidence import Analysis
    from fencepost.parsing.jobs import Job
    from fencepost.parsing.workers import Workers
    from fencepost.trees.treebank import Sentence

Context = TypeVar("Context")
DocumentJob: TypeAlias = "Job[Any]"  # its results are pairs of a tree and its score, or analyses


@dataclass(frozen=True)
class _Item(Generic[Context]):
    """A sentence, the end of a document, or both. Empty documents have one, too, so that many of them fill a chunk."""

    found: TextSentence | None
    ended: tuple[str, Context] | None = None  # the text of the document, and what came along with it

    @property
    def length(self) -> int:
        return 0 if self.found is None else len(self.found.tokens)

    def sentence(self) -> Sentence:
        assert self.found is not None  # a chunk parses only items with words
        return self.found.sentence()


def documents(
    workers: Workers,
    job: DocumentJob,
    texts: Iterable[tuple[str, Context]],
    mode: Mode = "text",
    language: str = "en",
) -> Iterator[tuple[Document, Context]]:
    """Each text as a document, with what came along with the text; ``workers`` end after the last one.

    At most a few chunks are in memory at once.
    """
    sentences: list[ParsedSentence] = []
    with workers:
        for chunk, results in workers.do_items(job, _items(texts, mode, language)):
            remaining = iter(results)
            for item in chunk:
                if item.found is not None:
                    sentences.append(with_result(item.found, next(remaining)))
                if item.ended is not None:
                    text, context = item.ended
                    document, sentences = Document(text, tuple(sentences)), []
                    yield document, context


def with_result(found: TextSentence, result: ScoredPair | Analysis) -> ParsedSentence:
    """A sentence of a document, from what a job found."""
    if isinstance(result, tuple):
        return parsed_sentence(found, *result)
    constituents = result.constituents
    says_more = any(part.probability is not None or part.function_probability is not None for part in constituents)
    return parsed_sentence(found, result.tree, result.score, constituents if says_more else None)


def _items(texts: Iterable[tuple[str, Context]], mode: Mode, language: str) -> Iterator[_Item[Context]]:
    for ended in texts:
        waiting: TextSentence | None = None
        for found in read_stream([ended[0]], mode, language):
            if waiting is not None:
                yield _Item(waiting)
            waiting = found
        yield _Item(waiting, ended)
