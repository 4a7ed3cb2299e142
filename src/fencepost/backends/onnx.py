"""The model on ONNX Runtime, on the CPU, without torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from fencepost.backends.base import FunctionReader, Parsed, Scored, require_finite
from fencepost.backends.onnx_graphs import AGAIN, Graph, open_graphs
from fencepost.backends.word_vector_cache import WordVectorCache
from fencepost.chart import cky, packing
from fencepost.chart.scores import Floats, LabelChart, SpanScores
from fencepost.config.settings import REACH, Config, PlanConfig
from fencepost.errors import ModelError
from fencepost.features.batch import Batch, Ints
from fencepost.features.batching import pieces
from fencepost.features.constituents import Constituents
from fencepost.features.impossible_labels import ImpossibleLabels
from fencepost.features.lexical_kinds import LETTERS, SUBWORDS
from fencepost.features.vocabularies import TreebankPart
from fencepost.storage.model_files import FUNCTIONS, ONNX, SPANS
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable

BATCH_TOKENS: Final = 4_000
ENCODED: Final = 500  # tokens, as ``features.batching`` counts, that go through the encoder at once
CELLS: Final = 2_048  # spans scored at once
SPELLED: Final = 2_000  # letters read at once


class OnnxBackend:
    """One model in memory."""

    def __init__(
        self,
        graphs: dict[str, Graph],
        config: Config,
        labels: int,
        subword_table: SubwordTable | None = None,
        part: TreebankPart | None = None,
        impossible: ImpossibleLabels | None = None,
    ) -> None:
        """``graphs`` are given by the names of their files; ``labels`` is the number of labels, of this ``part``."""
        self._impossible = impossible if config.scorer.predict_tags else None
        self._model, self._spans = graphs[ONNX], graphs[SPANS]
        self._functions = graphs.get(FUNCTIONS)
        self._function_words = config.scorer.function_words
        self._letters, self._subwords = graphs.get(LETTERS), graphs.get(SUBWORDS)
        self._subword_table = subword_table
        self._cache = WordVectorCache(self._spell)
        self._labels = labels
        self._chosen: dict[str, Ints] = {} if part is None else {"labels": part.labels, "tag_numbers": part.tags}
        self._plan = config.eval.plan
        self._longest = config.eval.longest
        self._force_root = config.scorer.force_root
        self._predicts_tags = config.scorer.predict_tags

    @classmethod
    def load(cls, folder: ModelFolder, threads: int = 1) -> OnnxBackend:
        """``threads`` share each matrix product, which helps with one sentence; for a file, use several processes."""
        table = SubwordTable(folder.path / SUBWORD_TABLE) if folder.has(SUBWORD_TABLE) else None
        graphs, known = open_graphs(folder, table, threads), folder.chosen_vocabularies
        return cls(graphs, folder.config, len(known.labels), table, known.part, ImpossibleLabels.of(known))

    @property
    def overlaps(self) -> bool:
        return False

    @property
    def threads(self) -> int:
        return self._model.threads

    @property
    def batch_tokens(self) -> int:
        return BATCH_TOKENS

    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Parsed]:
        fenceposts, tags, read = self._encode(batch, functions)
        pairs = _pairs(batch.lengths)
        parts = [
            self._spans.run({**piece, **self._chosen}, best=_cells(piece), label=_cells(piece))
            for piece in _cut(fenceposts, *pairs)
        ]
        best, labels = (np.concatenate(column) for column in zip(*parts, strict=True))
        others = self._others_before(tags, batch.lengths)
        if self._impossible is not None:
            doubtful = np.flatnonzero(np.isin(labels, self._impossible.labels))
            doubtful = doubtful[others[pairs[0][doubtful]] == others[pairs[1][doubtful]]]
            for low in range(0, len(doubtful), CELLS):
                cells = doubtful[low : low + CELLS]
                scores = self._label_scores(_spans(fenceposts, pairs[0][cells], pairs[1][cells]), others)
                best[cells], labels[cells] = scores.max(axis=1), scores.argmax(axis=1)
        if self._force_root:
            roots = packing.roots(batch.lengths)
            scores = self._label_scores(_spans(fenceposts, pairs[0][roots], pairs[1][roots]), others)
            best[roots], labels[roots] = scores[:, 1:].max(axis=1), 1 + scores[:, 1:].argmax(axis=1)
        require_finite(best)
        if not 0 <= labels.min() <= labels.max() < self._labels:
            raise ModelError(f"{self._spans.path}: gives numbers of labels that don't exist", hint=AGAIN)
        trees = cky.decode(LabelChart(best, labels.astype(np.int32), batch.lengths))
        parsed = Parsed(trees, tags, self._function_reader(read, batch.lengths))
        return lambda: parsed

    def score(self, batch: Batch, *, functions: bool = False) -> Scored:
        fenceposts, tags, read = self._encode(batch, functions)
        others = self._others_before(tags, batch.lengths)
        parts = (self._label_scores(piece, others) for piece in _cut(fenceposts, *_pairs(batch.lengths)))
        reader = self._function_reader(read, batch.lengths)
        return Scored(SpanScores.from_pieces(parts, batch.lengths), tags, reader)

    def vectors(self, batch: Batch) -> tuple[Floats, Floats | None]:
        """What functions are read from: the vectors of all fenceposts, and of the words to their right.

        [F, d_model] and [F, hidden]; the second only if the model has a pre-trained encoder.
        """
        _, _, read = self._encode(batch, functions=True)
        assert read is not None
        return read

    def _others_before(self, tags: Ints | None, lengths: Ints) -> Ints:
        if self._impossible is None or tags is None:
            return np.zeros(0, np.int64)
        return self._impossible.others_before(tags, lengths)

    def _label_scores(self, spans: dict[str, npt.NDArray[Any]], others: Ints) -> Floats:
        """The scores of all labels, -inf for impossible ones; ``others`` is what ``others_before`` counts."""
        (scores,) = self._spans.run({**spans, **self._chosen}, scores=(*_cells(spans), self._labels))
        require_finite(scores)
        if self._impossible is not None:
            nominal = np.flatnonzero(others[spans["starts"]] == others[spans["ends"]])
            scores[nominal[:, None], self._impossible.labels] = -np.inf
        return scores

    def _function_reader(
        self, vectors_and_words: tuple[Floats, Floats | None] | None, lengths: Ints
    ) -> FunctionReader | None:
        if vectors_and_words is None:
            return None
        vectors, words = vectors_and_words
        graph = self._functions
        assert graph is not None

        def read(constituents: Constituents) -> Floats:
            starts, ends = constituents.fenceposts(lengths)
            labels, parents = constituents.labels, constituents.parents
            feeds = {**_spans(vectors, starts, ends, "vectors"), "labels": labels, "parents": parents}
            if self._function_words:
                assert words is not None
                feeds["words"] = words
            (probabilities,) = graph.run(feeds, probabilities=(len(labels), graph.width("probabilities")))
            require_finite(probabilities)
            return probabilities

        return read

    def _encode(self, batch: Batch, functions: bool) -> tuple[Floats, Ints | None, tuple[Floats, Floats | None] | None]:
        """The projected fenceposts of all sentences [F, hidden], the tags of their words [W] if the model predicts
        tags, and what functions are read from, as ``vectors`` gives it, if ``functions`` are asked for.
        """
        first_token, first_post, first_word = (_firsts(batch.lengths + more) for more in (2, 1, 0))
        letters, subwords = self._letter_vectors(batch), self._subword_vectors(batch)
        hidden = self._model.width("fenceposts")
        fenceposts = np.empty(((batch.lengths + 1).sum(), hidden), np.float32)
        tags = np.empty(batch.lengths.sum(), np.int64) if self._predicts_tags else None
        vectors = np.empty((len(fenceposts), self._model.width("vectors")), np.float32) if functions else None
        for sentences in self._groups(batch.lengths):
            lengths = batch.lengths[sentences]
            width = int(lengths.max()) + 2
            # Past its end a sentence repeats its stop token, which nothing attends to there.
            token = first_token[sentences, None] + np.minimum(np.arange(width), lengths[:, None] + 1)
            feeds = self._feeds(batch, token, letters, subwords)
            feeds |= _sequence_feeds(lengths + 2, width, self._plan, self._longest)
            shapes: dict[str, tuple[int, ...]] = {"fenceposts": (len(lengths), width - 1, hidden)}
            if tags is not None:
                shapes["predicted_tags"] = (len(lengths), width)
            if vectors is not None:
                shapes["vectors"] = (len(lengths), width - 1, vectors.shape[1])
            outputs = dict(zip(shapes, self._model.run(feeds, **shapes), strict=True))
            _scatter(fenceposts, outputs["fenceposts"], first_post[sentences], lengths + 1)
            if tags is not None:
                _scatter(tags, outputs["predicted_tags"][:, 1:], first_word[sentences], lengths)
            if vectors is not None:
                _scatter(vectors, outputs["vectors"], first_post[sentences], lengths + 1)
        require_finite(fenceposts)
        if tags is not None and tags.min(initial=0) < 0:
            raise ModelError(f"{self._model.path}: gives numbers of tags that don't exist", hint=AGAIN)
        if vectors is None:
            return fenceposts, tags, None
        return fenceposts, tags, (vectors, None if subwords is None else subwords[_right_tokens(batch.lengths)])

    def _groups(self, lengths: Ints) -> Iterator[list[int]]:
        """Sentences to encode together. Those so long that their positions restart get groups of their own."""
        long = lengths + 2 > (self._longest or np.inf)
        for sentences in (np.flatnonzero(long), np.flatnonzero(~long)):
            for piece in pieces(lengths[sentences].tolist(), ENCODED):
                yield sentences[piece].tolist()

    def _feeds(
        self, batch: Batch, token: Ints, letters: Floats | None, subwords: Floats | None
    ) -> dict[str, npt.NDArray[Any]]:
        """The inputs of model.onnx for some sentences, whose tokens have these indices [B, T]."""
        feeds: dict[str, npt.NDArray[Any]] = dict(self._chosen)
        if batch.words is not None:
            feeds["words"] = batch.words[token]
        if batch.tags is not None:
            feeds["tags"] = batch.tags[token]
        if batch.treebanks is not None:
            feeds["treebanks"] = batch.treebanks[token]
        if letters is not None and batch.spelling_of_token is not None:
            feeds["letters"] = letters[batch.spelling_of_token[token]]
        if subwords is not None:
            feeds["subwords"] = subwords[token]
        return feeds

    def _letter_vectors(self, batch: Batch) -> Floats | None:
        if batch.spellings is None or batch.spelling_lengths is None:
            return None
        return self._cache.vectors(batch.spellings, batch.spelling_lengths)

    def _subword_vectors(self, batch: Batch) -> Floats | None:
        """The mean of the vectors of the sub-tokens that each token is made of: [T, hidden]."""
        if self._subwords is None:
            return None
        assert batch.subwords is not None
        assert batch.window_lengths is not None
        assert batch.rows_of_token is not None
        first = _firsts(batch.window_lengths)
        vectors = np.empty((len(batch.subwords), self._subwords.width("vectors")), np.float32)
        for windows in pieces(batch.window_lengths.tolist(), ENCODED):
            lengths = batch.window_lengths[windows]
            # Past its end a window repeats its last sub-token, which nothing attends to there.
            row = first[windows, None] + np.minimum(np.arange(lengths.max()), lengths[:, None] - 1)
            feeds = {"subwords": batch.subwords[row], **_sequence_feeds(lengths, row.shape[1], PlanConfig())}
            if self._subword_table is not None:
                feeds["embedded"] = self._subword_table.vectors(feeds["subwords"])
            (found,) = self._subwords.run(feeds, vectors=(*row.shape, vectors.shape[1]))
            _scatter(vectors, found, first[windows], lengths)
        require_finite(vectors)
        assert batch.subword_rows is not None
        return _means(vectors, batch.subword_rows, batch.rows_of_token)

    def _spell(self, spellings: Ints, lengths: Ints) -> Floats:
        """The vectors of words that are not in the cache: [U, C] -> [U, d]."""
        assert self._letters is not None
        vectors = np.empty((len(lengths), self._letters.width("vectors")), np.float32)
        for words in pieces(lengths.tolist(), SPELLED):
            width = int(lengths[words].max())
            feeds = {"spellings": spellings[words, :width], **_sequence_feeds(lengths[words], width, PlanConfig())}
            (vectors[words],) = self._letters.run(feeds, vectors=(len(words), vectors.shape[1]))
        require_finite(vectors)
        return vectors


def attention_mask(lengths: Ints, width: int, plan: PlanConfig, longest: int | None = None) -> Floats:
    """``model.plan.AttentionPlan.mask`` in numpy: 0 where attention is allowed, else -inf."""
    token = np.arange(width)
    real = token < lengths[:, None]  # [B, width]
    free = ~real
    if plan.relaxed:
        free = free | (token < 2) | (token >= lengths[:, None] - 2)

    def near(distance: int) -> npt.NDArray[np.bool_]:
        return np.asarray(free[:, :, None] | free[:, None, :] | (np.abs(token[:, None] - token) <= distance))

    allowed = real[:, None, :]
    if plan.window is not None:
        allowed = allowed & near(plan.window)
    if longest is not None and width > longest:
        allowed = allowed & (near(longest // REACH) | (lengths[:, None, None] <= longest))
    return np.asarray(np.where(allowed, np.float32(0), np.float32(-np.inf))[:, None])


def _sequence_feeds(
    lengths: Ints, width: int, plan: PlanConfig, longest: int | None = None
) -> dict[str, npt.NDArray[Any]]:
    """The inputs in ``SEQUENCE`` for sentences that are either all longer than ``longest`` or all not."""
    position = np.arange(width)
    return {
        "lengths": lengths.astype(np.int32),
        "position": position if longest is None or width <= longest else position % longest,
        "mask": attention_mask(lengths, width, plan, longest),
    }


def _right_tokens(lengths: Ints) -> Ints:
    """The token to the right of each fencepost: [F]."""
    return np.arange((lengths + 1).sum()) + np.repeat(np.arange(len(lengths)), lengths + 1) + 1


def _firsts(counts: Ints) -> Ints:
    return np.asarray(np.cumsum(counts) - counts)


def _means(vectors: Floats, rows: Ints, counts: Ints) -> Floats:
    """The means of as many of the rows [M] as each count [T] says, at least one: [T, size]."""
    means: Floats = vectors[rows[_firsts(counts)]]
    several = np.flatnonzero(counts > 1)  # most tokens have one row, and adding is slower than copying
    if len(several):
        total = np.add.reduceat(vectors[rows[np.repeat(counts > 1, counts)]], _firsts(counts[several]))
        means[several] = total / counts[several, None].astype(np.float32)
    return means


def _scatter(rows: npt.NDArray[Any], padded: npt.NDArray[Any], first: Ints, counts: Ints) -> None:
    """Copies the real entries of [B, width, ...] to rows that lie end to end."""
    for source, start, count in zip(padded, first.tolist(), counts.tolist(), strict=True):
        rows[start : start + count] = source[:count]


def _pairs(lengths: Ints) -> tuple[Ints, Ints]:
    """The fenceposts, counted through the batch, where each span starts and ends."""
    sentences, starts, ends = packing.cells(lengths)
    first = _firsts(lengths + 1)[sentences]
    return first + starts, first + ends


def _spans(fenceposts: Floats, starts: Ints, ends: Ints, name: str = "fenceposts") -> dict[str, npt.NDArray[Any]]:
    return {name: fenceposts, "starts": starts, "ends": ends}


def _cells(spans: dict[str, npt.NDArray[Any]]) -> tuple[int]:
    return (len(spans["starts"]),)


def _cut(fenceposts: Floats, starts: Ints, ends: Ints) -> Iterator[dict[str, npt.NDArray[Any]]]:
    for low in range(0, len(starts), CELLS):
        yield _spans(fenceposts, starts[low : low + CELLS], ends[low : low + CELLS])
