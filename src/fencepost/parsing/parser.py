"""Parser: checks sentences, groups them into chunks, and parses chunk by chunk, in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, get_args, overload

from fencepost.backends.base import Backend
from fencepost.config.settings import Config
from fencepost.errors import InputError, UsageError, require_choice, require_whole_number
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.checking import (
    GivenSentence,
    check_sentences,
    checked_many,
    checked_pairs,
    checked_pieces,
    checked_text,
    checked_texts,
    shown,
)
from fencepost.parsing.chunk_parser import ChunkParser, ScoredPair
from fencepost.parsing.chunks import equal_chunks, growing_chunks
from fencepost.parsing.jobs import Analyze, FindBestTrees, FindColumns, FindConstituents, FindFunctions, Job, Result
from fencepost.parsing.language_notice import LanguageNotice
from fencepost.storage.model_files import naming
from fencepost.text.languages import rules, text_language
from fencepost.text.sentences import Mode
from fencepost.text.stream import TextSentence, read_stream
from fencepost.trees.tree import Tree
from fencepost.trees.tree_list import Trees
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.chart.scores import SpanScores
    from fencepost.parsing.confidence import Analysis, Decoding
    from fencepost.parsing.documents import Document
    from fencepost.parsing.pipeline import DocumentJob

Context = TypeVar("Context")
BackendName: TypeAlias = Literal["onnx", "torch"]
Precision: TypeAlias = Literal["fp32", "bf16"]
MOST_TREES: Final = 10_000  # of a sentence
LARGE_CHUNK: Final = 16_384  # sentences sorted by length together; garbage collection is off for as long


@dataclass(frozen=True)
class Source:
    """Where a parser was loaded from, so that another process can load it, too."""

    path: str
    device: str
    backend: BackendName
    language: str | None = None  # of a model of several languages
    precision: Precision = "fp32"
    fingerprint: str | None = None  # of the model's files; None in a pickle of an older fencepost


class Parser:
    """A model ready to parse. It can be called from several threads, and pickled if it was loaded from a folder.

    ``fencepost.load`` makes one.

    >>> import fencepost
    >>> parser = fencepost.load()
    >>> [str(tree) for tree in parser.parse_text("It works.")]
    ['(TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))']
    """

    def __init__(
        self, backend: Backend, config: Config, vocabularies: Vocabularies, *, source: Source | None = None
    ) -> None:
        self.config = config
        self.vocabularies = vocabularies
        self._backend = backend
        self._indexer = Indexer(config, vocabularies)
        self._chunk_parser = ChunkParser(backend, self._indexer, vocabularies)
        self._source = source
        self.language_notice = LanguageNotice(self.text_language, self.name)

    def parse(
        self, sentences: Iterable[GivenSentence], *, batch_tokens: int | None = None, functions: bool = False
    ) -> Trees:
        """The best tree of each sentence, as a list. A sentence is a list of words, or a ``Sentence`` with tags.

        ``functions``: labels have the function of their phrase, such as NP-SBJ, if the model predicts functions.

        >>> import fencepost
        >>> print(fencepost.load().parse([["It", "works", "."]])[0])
        (TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))
        """
        chunks = equal_chunks(self.watched(sentences), LARGE_CHUNK)
        if functions:
            with_functions = self.best_with_functions(batch_tokens)
            return Trees(each.tree for chunk in chunks for each in self.do(with_functions, chunk))
        found = self.do_chunks(self.best_trees(batch_tokens), chunks)
        return Trees(tree for results in found for tree, _ in results)

    def iter_parse(
        self, sentences: Iterable[GivenSentence], *, batch_tokens: int | None = None, functions: bool = False
    ) -> Iterator[Tree]:
        """``parse`` for a stream: the first tree comes before the second sentence is read, the rest in chunks."""
        if functions:
            return (each.tree for each in self.iter_functions(sentences, batch_tokens=batch_tokens))
        return (tree for tree, _ in self.iter_scored(sentences, batch_tokens=batch_tokens))

    def parse_text(
        self, text: str, mode: Mode = "text", *, batch_tokens: int | None = None, functions: bool = False
    ) -> Trees:
        """The trees of raw text, split into sentences and tokens by the rules of the model's language.

        ``mode`` says what line ends mean.

        >>> import fencepost
        >>> [tree.words() for tree in fencepost.load().parse_text("It works. Try it!")]
        [['It', 'works', '.'], ['Try', 'it', '!']]
        """
        sentences = (each.sentence() for each in read_stream([checked_text(text)], mode, self.text_language))
        return self.parse(sentences, batch_tokens=batch_tokens, functions=functions)

    def iter_parse_text(
        self,
        pieces_of_text: Iterable[str],
        mode: Mode = "text",
        *,
        batch_tokens: int | None = None,
        functions: bool = False,
    ) -> Iterator[Tree]:
        """``parse_text`` for a stream of text, such as the lines of an open file."""
        require_choice("mode", mode, get_args(Mode))
        sentences = (each.sentence() for each in read_stream(checked_pieces(pieces_of_text), mode, self.text_language))
        return self.iter_parse(sentences, batch_tokens=batch_tokens, functions=functions)

    def parse_document(
        self,
        text: str,
        mode: Mode = "text",
        *,
        batch_tokens: int | None = None,
        functions: bool = False,
        probabilities: bool = False,
    ) -> Document:
        """``parse_text`` that keeps the text, with the position of each sentence and token.

        ``probabilities``: the constituents of each sentence have probabilities, which takes about twice the time.

        >>> import fencepost
        >>> document = fencepost.load().parse_document("It works. Try it!")
        >>> [(sentence.start, sentence.end, sentence.tree.words()) for sentence in document.sentences]
        [(0, 9, ['It', 'works', '.']), (10, 17, ['Try', 'it', '!'])]
        """
        from fencepost.parsing.documents import Document
        from fencepost.parsing.pipeline import with_result

        found = list(read_stream([checked_text(text)], mode, self.text_language))
        job = self._document_job(batch_tokens, functions, probabilities)
        chunks = equal_chunks(self.watched(each.sentence() for each in found), LARGE_CHUNK)
        results = chain.from_iterable(self.do_chunks(job, chunks))
        return Document(text, tuple(map(with_result, found, results)))

    @overload
    def pipe(
        self,
        texts: Iterable[str],
        *,
        as_tuples: Literal[False] = False,
        mode: Mode = "text",
        workers: int | None = 1,
        batch_tokens: int | None = None,
        functions: bool = False,
        probabilities: bool = False,
    ) -> Iterator[Document]: ...
    @overload
    def pipe(
        self,
        texts: Iterable[tuple[str, Context]],
        *,
        as_tuples: Literal[True],
        mode: Mode = "text",
        workers: int | None = 1,
        batch_tokens: int | None = None,
        functions: bool = False,
        probabilities: bool = False,
    ) -> Iterator[tuple[Document, Context]]: ...
    def pipe(
        self,
        texts: Iterable[Any],
        *,
        as_tuples: bool = False,
        mode: Mode = "text",
        workers: int | None = 1,
        batch_tokens: int | None = None,
        functions: bool = False,
        probabilities: bool = False,
    ) -> Iterator[Any]:
        """``parse_document`` for a stream of texts, in order: short texts share batches, and few are in memory at once.

        ``as_tuples``: takes pairs of a text and anything else, such as its id, and gives pairs of a document and the
        same thing. ``workers``: the number of processes; None for one per core if there are many sentences.

        >>> import fencepost
        >>> texts = [("It works.", "first"), ("", "second")]
        >>> for document, name in fencepost.load().pipe(texts, as_tuples=True):
        ...     print(name, *document.trees)
        first (TOP (S (NP (PRP It)) (VP (VBZ works)) (. .)))
        second
        """
        from fencepost.parsing.pipeline import documents
        from fencepost.parsing.workers import Workers

        texts = checked_many(texts)
        require_choice("mode", mode, get_args(Mode))
        job = self._document_job(batch_tokens, functions, probabilities)
        pairs: Iterator[tuple[str, Any]] = checked_pairs(texts) if as_tuples else checked_texts(texts)
        found = documents(Workers(self, workers), job, pairs, mode, self.text_language)
        return found if as_tuples else (document for document, _ in found)

    def _document_job(self, batch_tokens: int | None, functions: bool, probabilities: bool) -> DocumentJob:
        if probabilities:
            return self.analyses(0, batch_tokens=batch_tokens, functions=functions)
        return self.best_with_functions(batch_tokens) if functions else self.best_trees(batch_tokens)

    def iter_scored(
        self, sentences: Iterable[GivenSentence], *, batch_tokens: int | None = None
    ) -> Iterator[ScoredPair]:
        """``iter_parse`` with the score of each tree."""
        return self._do_all(self.best_trees(batch_tokens), sentences)

    def iter_functions(
        self, sentences: Iterable[GivenSentence], *, batch_tokens: int | None = None
    ) -> Iterator[Analysis]:
        """The best tree of each sentence, with the function of each constituent and its probability."""
        return self._do_all(self.best_with_functions(batch_tokens), sentences)

    def analyze(
        self,
        sentence: str | GivenSentence,
        k: int = 5,
        *,
        temperature: float | None = None,
        decoding: Decoding = "best",
        functions: bool = False,
    ) -> Analysis:
        """The k best trees of a sentence, and the probability of every constituent of the best.

        A very long sentence (1,150 words with 100 labels) gets only its best tree, without probabilities, and
        ``too_long`` is set. The default ``temperature`` is the model's: 1, or what ``fencepost calibrate`` fitted.

        >>> import fencepost
        >>> result = fencepost.load().analyze("It works.", k=2)
        >>> len(result.trees), result.trees[0].score >= result.trees[1].score
        (2, True)
        >>> [part.label for part in result.constituents if part.probability > 0.5]
        ['S', 'NP', 'VP']
        """
        if isinstance(sentence, str):
            sentence = _sentence_of_text(sentence, self.text_language)
        if not isinstance(sentence, (Sentence, Iterable)):
            raise InputError(f"analyze takes a string or a list of words, got {shown(sentence)}")
        job = self.analyses(k, temperature, decoding, functions=functions)
        (analysis,) = self._do_all(job, [sentence])
        return analysis

    def iter_analyze(
        self,
        sentences: Iterable[GivenSentence],
        k: int = 5,
        *,
        temperature: float | None = None,
        decoding: Decoding = "best",
        batch_tokens: int | None = None,
        functions: bool = False,
    ) -> Iterator[Analysis]:
        """``analyze`` for many sentences."""
        return self._do_all(self.analyses(k, temperature, decoding, batch_tokens, functions), sentences)

    def span_scores(self, sentences: Iterable[GivenSentence]) -> SpanScores:
        """The score of every span and label, for a few sentences: all are in memory at once."""
        return self._backend.score(self._indexer.batch(list(self.checked(sentences)))).spans

    # The steps shared by all of the above, in order; ``Workers`` and ``fencepost parse`` take them one by one.

    def best_trees(self, batch_tokens: int | None = None) -> FindBestTrees:
        """The job behind ``parse``."""
        return FindBestTrees(self._batch_tokens(batch_tokens))

    def best_columns(self, batch_tokens: int | None = None) -> FindColumns:
        """The job that finds the trees of ``parse`` as arrays, for formats that store arrays."""
        return FindColumns(self._batch_tokens(batch_tokens))

    def best_with_constituents(self, batch_tokens: int | None = None) -> FindConstituents:
        """The job that finds the trees of ``parse`` and their constituents, for formats that list constituents."""
        return FindConstituents(self._batch_tokens(batch_tokens))

    def best_with_functions(self, batch_tokens: int | None = None) -> FindFunctions:
        """The job behind ``parse`` with functions."""
        self._require_functions()
        return FindFunctions(self._batch_tokens(batch_tokens))

    def analyses(
        self,
        k: int = 5,
        temperature: float | None = None,
        decoding: Decoding = "best",
        batch_tokens: int | None = None,
        functions: bool = False,
    ) -> Analyze:
        """The job behind ``analyze``."""
        require_whole_number("k", k, 0, MOST_TREES)
        if functions:
            self._require_functions()
        from fencepost.parsing.confidence import Analyst, Decoding  # here: most programs only need trees

        require_choice("decoding", decoding, get_args(Decoding))
        if temperature is None:
            temperature = self.config.eval.temperature
        analyst = Analyst(self.vocabularies.labels.chains, self.config.scorer.force_root, k, temperature, decoding)
        return Analyze(self._batch_tokens(batch_tokens), analyst, functions)

    def _batch_tokens(self, wanted: int | None) -> int:
        if wanted is None:
            return self._backend.batch_tokens
        require_whole_number("batch_tokens", wanted, 1)
        return wanted

    def _require_functions(self) -> None:
        if self.vocabularies.functions is None:
            raise UsageError(
                "this model doesn't predict functions",
                hint="use a model that was trained with scorer.functions = true on labels such as NP-SBJ",
            )

    def checked(self, sentences: Iterable[GivenSentence], first: int = 1) -> Iterator[Sentence]:
        """The sentences as the model reads them. If one can't be parsed, the error gives its number."""
        return check_sentences(sentences, self._indexer.reads_tags, first)

    def watched(self, sentences: Iterable[GivenSentence]) -> Iterator[Sentence]:
        """``checked`` for a whole input, with a warning if it isn't in the model's language."""
        return self.language_notice.watched(self.checked(sentences))

    def do(self, job: Job[Result], chunk: list[Sentence]) -> list[Result]:
        """Does a job on a chunk of checked sentences."""
        if self._source is None:
            return job.do(self._chunk_parser, chunk)
        with naming(Path(self._source.path)):
            return job.do(self._chunk_parser, chunk)

    def do_chunks(self, job: Job[Result], chunks: Iterable[list[Sentence]]) -> Iterator[list[Result]]:
        """Does a job on many chunks, in order."""
        if self._source is None:
            yield from job.do_chunks(self._chunk_parser, chunks)
            return
        with naming(Path(self._source.path)):
            yield from job.do_chunks(self._chunk_parser, chunks)

    def _do_all(self, job: Job[Result], sentences: Iterable[GivenSentence]) -> Iterator[Result]:
        return chain.from_iterable(self.do_chunks(job, growing_chunks(self.watched(sentences), len, job.budget)))

    def __repr__(self) -> str:
        return f"Parser of {self.name or 'a model in memory'} on {self.backend_name}"

    @property
    def name(self) -> str | None:
        """What ``load`` calls the model: ``en``, ``multi:fo``, or the name of its folder. None if it wasn't loaded."""
        if self._source is None:
            return None
        language = f":{self._source.language}" if self.vocabularies.part is not None else ""
        return f"{Path(self._source.path).name}{language}"

    @property
    def text_language(self) -> str:
        """The language whose rules split text (``fencepost.text.rules``)."""
        return text_language(self.config.language, None if self._source is None else self._source.language)

    @property
    def runs_on_cpu(self) -> bool:
        """True if it was loaded for the CPU, so that other processes can load a copy that is as fast."""
        return self._source is not None and self._source.device == "cpu"

    @property
    def backend_name(self) -> str:
        """What runs the model: ``onnx`` or ``torch``."""
        return "torch" if self._source is None else self._source.backend

    @property
    def threads(self) -> int:
        """How many threads of this process share the work on a batch."""
        return self._backend.threads

    def __reduce__(self) -> tuple[object, ...]:
        from fencepost.parsing.load import load_again  # here: that module imports this one

        if self._source is None:
            raise TypeError("only a parser loaded from a folder can be pickled")
        return (load_again, (self._source,))


def _sentence_of_text(text: str, language: str) -> Sentence:
    """A text as one sentence, even if it contains full stops."""
    tokens = rules(language).tokenize(text)
    return TextSentence(text, 0, tokens).sentence() if tokens else Sentence(())
