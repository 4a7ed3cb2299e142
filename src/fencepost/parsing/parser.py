"""Parser: sentences to batches to scores to trees, in the order they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import accumulate, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias, get_args

from fencepost.backends.base import Backend, Parsed
from fencepost.config.settings import Config
from fencepost.errors import InputError, MissingExtraError, ModelError, UsageError, require_choice, require_device
from fencepost.features.batch import Ints
from fencepost.features.batching import pieces
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.parsing.chunks import growing_chunks
from fencepost.storage.model_files import ONNX, WEIGHTS, naming
from fencepost.storage.model_folder import ModelFolder
from fencepost.text.sentences import Mode
from fencepost.text.stream import TextSentence, read_stream
from fencepost.text.tokens import tokenize
from fencepost.trees.garbage_collection import no_garbage_collection
from fencepost.trees.spans import nest
from fencepost.trees.tree import Leaf, Tree, check_tags, real_words, unchecked_leaves
from fencepost.trees.treebank import Sentence

if TYPE_CHECKING:
    from fencepost.chart.cky import Decoded
    from fencepost.chart.scores import SpanScores
    from fencepost.parsing.confidence import Analysis, Analyst, Decoding

ScoredPair: TypeAlias = tuple[Tree, float]
BackendName: TypeAlias = Literal["onnx", "torch"]
UNTAGGED: Final = "UNK"  # the tag of words that nobody tagged
CHUNK: Final = 4096  # sentences of a stream that are sorted by length together, and in memory at once
LARGE_CHUNK: Final = 16_384  # the same where all sentences are given at once; the collector rests as long


def load(model: str | Path | None = None, *, device: str = "cpu", backend: BackendName | None = None) -> Parser:
    """The parser in a model folder, or else the one inside the package that has this name; without a name, its ``en``.

    ``backend``: ``onnx`` runs an exported model without torch; without a choice it does, where it can.
    """
    require_device(device)
    if backend is not None:
        require_choice("backend", backend, get_args(BackendName))
    folder = ModelFolder.open(model)
    if backend is None:
        backend = "onnx" if device == "cpu" and folder.has(ONNX) else "torch"
    run = _load_onnx(folder, device) if backend == "onnx" else _load_torch(folder, device)
    with naming(folder.path):
        return Parser(run, folder.config, folder.vocabularies, _source=(str(folder.path.absolute()), device, backend))


def _load_onnx(folder: ModelFolder, device: str) -> Backend:
    if device != "cpu":
        raise UsageError(
            f"ONNX models run on the CPU, not on {device}", hint="device cpu, or a model with weights for torch"
        )
    if not folder.has(ONNX):
        raise ModelError(f"{folder.path}: no {ONNX} to run", hint="make one with `fencepost export`")
    try:
        from fencepost.backends.onnx import OnnxBackend
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{folder.path} needs {error.name}, which is not installed", hint=f"pip install {error.name}"
        ) from error
    return OnnxBackend.load(folder)


def _load_torch(folder: ModelFolder, device: str) -> Backend:
    if not folder.has(WEIGHTS):
        hint = 'an exported model runs on device "cpu" with backend "onnx"' if folder.has(ONNX) else None
        raise ModelError(f"{folder.path}: no {WEIGHTS} for torch to run", hint=hint)
    try:
        from fencepost.backends.torch import TorchBackend
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "torch", "train", f"running the model {folder.path}") from error
    return TorchBackend.load(folder, device)


class Parser:
    """A model ready to parse. Calls may come from several threads; a loaded parser can be pickled."""

    def __init__(
        self,
        backend: Backend,
        config: Config,
        vocabularies: Vocabularies,
        *,
        _source: tuple[str, str, BackendName] | None = None,
    ) -> None:
        self.config = config
        self.vocabularies = vocabularies
        self._backend = backend
        self._indexer = Indexer(config, vocabularies)
        self._source = _source

    def parse(self, sentences: Iterable[Sentence | Sequence[str]], *, batch_tokens: int | None = None) -> list[Tree]:
        """The best tree of each sentence, given as words or as a ``Sentence`` with tags."""
        checked = self.checked(sentences)
        chunks = iter(lambda: list(islice(checked, LARGE_CHUNK)), [])
        return [tree for tree, _ in self._parse_chunks(chunks, batch_tokens)]

    def iter_parse(
        self, sentences: Iterable[Sentence | Sequence[str]], *, batch_tokens: int | None = None
    ) -> Iterator[Tree]:
        """``parse`` for endless input: the first tree comes before the second sentence is read, the rest in chunks."""
        return (tree for tree, _ in self.iter_scored(sentences, batch_tokens=batch_tokens))

    def parse_text(self, text: str, mode: Mode = "text", *, batch_tokens: int | None = None) -> list[Tree]:
        """Trees for raw text, split into sentences and Penn tokens; ``mode`` says what line ends mean."""
        if not isinstance(text, str):
            raise InputError(f"text is a string, not {text!r:.50}", hint="iter_parse_text takes texts in pieces")
        return self.parse((found.sentence() for found in read_stream([text], mode)), batch_tokens=batch_tokens)

    def iter_parse_text(
        self, pieces_of_text: Iterable[str], mode: Mode = "text", *, batch_tokens: int | None = None
    ) -> Iterator[Tree]:
        """``parse_text`` for endless text, such as the lines of an open file."""
        require_choice("mode", mode, get_args(Mode))
        sentences = (found.sentence() for found in read_stream(pieces_of_text, mode))
        return self.iter_parse(sentences, batch_tokens=batch_tokens)

    def iter_scored(
        self, sentences: Iterable[Sentence | Sequence[str]], *, batch_tokens: int | None = None
    ) -> Iterator[ScoredPair]:
        """``iter_parse`` with the score of each tree."""
        return self._parse_chunks(growing_chunks(self.checked(sentences), CHUNK), batch_tokens)

    def analyze(
        self,
        sentence: str | Sentence | Sequence[str],
        k: int = 5,
        *,
        temperature: float | None = None,
        decoding: Decoding = "best",
    ) -> Analysis:
        """The k best trees of a sentence, and the probability of every constituent of the best.

        One of very many words (1,150 with 100 labels) has its best tree alone, without probabilities, and says so.
        Without a ``temperature`` it is the model's own: 1, or what ``fencepost calibrate`` has fitted.
        """
        if isinstance(sentence, str):
            sentence = _sentence_of_text(sentence)
        return next(self.iter_analyze([sentence], k, temperature=temperature, decoding=decoding))

    def iter_analyze(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        k: int = 5,
        *,
        temperature: float | None = None,
        decoding: Decoding = "best",
        batch_tokens: int | None = None,
    ) -> Iterator[Analysis]:
        """``analyze`` for many sentences."""
        from fencepost.parsing.confidence import Analyst, Decoding

        require_choice("decoding", decoding, get_args(Decoding))
        heat = self.config.eval.temperature if temperature is None else temperature
        analyst = Analyst(self.vocabularies.labels.chains, self.config.scorer.force_root, k, heat, decoding)
        chunks = growing_chunks(self.checked(sentences), CHUNK)
        budget = batch_tokens or self._backend.batch_tokens
        return (found for chunk in chunks for found in self._analyze_chunk(chunk, analyst, budget))

    def _analyze_chunk(self, sentences: list[Sentence], analyst: Analyst, budget: int) -> list[Analysis]:
        found: dict[int, Analysis] = {}
        too_long = [place for place, each in enumerate(sentences) if not analyst.can_analyze(len(each))]
        best = self._parse_chunk([sentences[place] for place in too_long], budget)
        found |= {place: analyst.best_alone(*pair) for place, pair in zip(too_long, best, strict=True)}
        others = [place for place in range(len(sentences)) if place not in found]
        for group in pieces([len(sentences[place]) for place in others], budget):
            places = [others[number] for number in group]
            scored = self._backend.score(self._indexer.batch([sentences[place] for place in places]))
            leaves = self._leaves_of_batch([sentences[place] for place in places], scored.tags)
            for row, place in enumerate(places):
                found[place] = analyst.analyze(scored.spans, row, partial(self._tree, leaves[row]))
        return [found[place] for place in range(len(sentences))]

    def span_scores(self, sentences: Sequence[Sentence | Sequence[str]]) -> SpanScores:
        """The score of every span and label, of all sentences at once: for analyses of a few."""
        return self._backend.score(self._indexer.batch(list(self.checked(sentences)))).spans

    def checked(self, sentences: Iterable[Sentence | Sequence[str]]) -> Iterator[Sentence]:
        """The sentences as the model reads them; one that can't be parsed is an error that says its number."""
        return (self._sentence(sentence, number) for number, sentence in enumerate(sentences, 1))

    @property
    def runs_on_cpu(self) -> bool:
        """Whether it was loaded for the CPU, so that other processes can have a copy that is as fast."""
        return self._source is not None and self._source[1] == "cpu"

    @property
    def backend_name(self) -> str:
        """What runs the model: ``onnx`` or ``torch``."""
        return "torch" if self._source is None else self._source[2]

    @property
    def threads(self) -> int:
        """How many threads of this process share the work on a batch."""
        return self._backend.threads

    def _parse_chunks(self, chunks: Iterable[list[Sentence]], batch_tokens: int | None) -> Iterator[ScoredPair]:
        for chunk in chunks:
            with no_garbage_collection():
                trees = self._parse_chunk(chunk, batch_tokens or self._backend.batch_tokens)
            yield from trees

    def _parse_chunk(self, sentences: list[Sentence], budget: int) -> list[ScoredPair]:
        trees: dict[int, ScoredPair] = {}
        waiting: tuple[list[int], Callable[[], Parsed]] | None = None
        for places in pieces([len(sentence) for sentence in sentences], budget):
            finish = self._backend.launch(self._indexer.batch([sentences[place] for place in places]))
            # The device works on this batch while the host builds the trees of the one before.
            if waiting is not None:
                trees.update(self._trees(sentences, *waiting))
            waiting = places, finish
        if waiting is not None:
            trees.update(self._trees(sentences, *waiting))
        return [trees[place] for place in range(len(sentences))]

    def _trees(
        self, sentences: list[Sentence], places: list[int], finish: Callable[[], Parsed]
    ) -> Iterator[tuple[int, ScoredPair]]:
        parsed = finish()
        leaves = self._leaves_of_batch([sentences[place] for place in places], parsed.tags)
        for place, words, decoded in zip(places, leaves, parsed.trees, strict=True):
            yield place, (self._tree(words, decoded), decoded.score)

    def _leaves_of_batch(self, sentences: list[Sentence], tags: Ints | None) -> list[list[Leaf]]:
        tag_ids = [] if tags is None else tags.tolist()
        ends = accumulate(map(len, sentences))
        return [self._leaves(one, tag_ids[end - len(one) : end]) for one, end in zip(sentences, ends, strict=True)]

    def _leaves(self, sentence: Sentence, predicted: list[int]) -> list[Leaf]:
        tags: Sequence[str] = [UNTAGGED] * len(sentence)
        if sentence.tags is not None:
            tags = sentence.tags
        elif predicted:
            tags = list(map(self.vocabularies.tags.symbol, predicted))
        return unchecked_leaves(tags, sentence.words)

    def _tree(self, leaves: list[Leaf], decoded: Decoded) -> Tree:
        chains = self.vocabularies.labels.chains
        labels = [chains[label] for label in decoded.labels.tolist()]
        return nest(leaves, decoded.starts.tolist(), decoded.ends.tolist(), labels, self.vocabularies.root)

    def _sentence(self, given: Sentence | Sequence[str], number: int) -> Sentence:
        """What was given, checked, with Penn escapes undone: words are real text."""
        if not isinstance(given, Sentence):
            given = Sentence(_words(given, number))
        words, tags = given.words, given.tags
        if not words:
            raise InputError(f"sentence {number} has no words")
        try:
            real = real_words(words)
            check_tags(tags or ())
        except InputError as error:
            raise InputError(f"sentence {number}: {error.message}") from None
        except TypeError:
            raise InputError(f"sentence {number}: {_stranger(given)}") from None
        sentence = given if real is words else Sentence(real, tags, spaces=given.spaces)
        if self._indexer.reads_tags and sentence.tags is None:
            raise InputError(
                f"sentence {number} has no tags, and this model reads tags",
                hint="give fencepost.Sentence(words, tags), or use a model without tags in its lexical list",
            )
        return sentence

    def __reduce__(self) -> tuple[object, ...]:
        if self._source is None:
            raise TypeError("only a parser that was loaded from a folder can be pickled")
        return (_load, self._source)


def _sentence_of_text(text: str) -> Sentence:
    """A text as one sentence, whatever stops are in it."""
    tokens = tokenize(text)
    return TextSentence(text, 0, tokens).sentence() if tokens else Sentence(())


def _load(path: str, device: str, backend: BackendName) -> Parser:
    return load(path, device=device, backend=backend)


def _words(given: Sequence[str], number: int) -> tuple[str, ...]:
    if isinstance(given, str) or not isinstance(given, Iterable):
        what = "a string" if isinstance(given, str) else repr(given)
        raise InputError(
            f"sentence {number} is {what}, not a list of words",
            hint='parse([["Words", "like", "these"]]), or parse_text("Words like these.")',
        )
    return tuple(given)


def _stranger(sentence: Sentence) -> str:
    """The first of its words and tags that is no string."""
    for what, texts in (("word", sentence.words), ("tag", sentence.tags or ())):
        for place, text in enumerate(texts, 1):
            if not isinstance(text, str):
                return f"{what} {place} is {text!r}, not a string"
    raise AssertionError(sentence)
