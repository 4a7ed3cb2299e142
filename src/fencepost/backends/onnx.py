"""The model on ONNX Runtime, on the CPU, without torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import onnxruntime
from onnxruntime import InferenceSession

from fencepost.backends.base import FunctionReader, Parsed, Scored
from fencepost.backends.word_vector_cache import WordVectorCache
from fencepost.chart import cky, packing
from fencepost.chart.scores import Floats, LabelChart, SpanScores
from fencepost.config.settings import REACH, Config, PlanConfig
from fencepost.errors import ModelError
from fencepost.features.batch import Batch, Ints
from fencepost.features.batching import pieces
from fencepost.features.constituents import Constituents
from fencepost.features.lexical_kinds import LETTERS, LEXICAL_KINDS, SUBWORDS, graphs
from fencepost.storage.model_files import FUNCTIONS, ONNX, SPANS, require_listed
from fencepost.storage.model_folder import ModelFolder, disagreement
from fencepost.storage.subword_table import SUBWORD_TABLE, SubwordTable

BATCH_TOKENS: Final = 4_000
ENCODED: Final = 500  # tokens, as ``features.batching`` counts, that go through the encoder at once
CELLS: Final = 2_048  # spans scored at once
SPELLED: Final = 2_000  # letters read at once
# Fusions that are slower than the operators that they fuse: 2.6 ms against 0.3 ms for a sum and a norm, 0.9 ms against
# 0.6 ms for a bias and gelu.
SLOWER: Final = ["SkipLayerNormFusion", "BiasGeluFusion"]
SEQUENCE: Final = ("lengths", "position", "mask")  # inputs that describe sequences, not words


class OnnxBackend:
    """One model in memory."""

    def __init__(
        self, sessions: dict[str, InferenceSession], config: Config, subword_table: SubwordTable | None = None
    ) -> None:
        """``sessions`` maps the file name of each graph to its session."""
        self._model, self._spans = sessions[ONNX], sessions[SPANS]
        self._functions = sessions.get(FUNCTIONS)
        self._letters, self._subwords = sessions.get(LETTERS), sessions.get(SUBWORDS)
        self._subword_table = subword_table
        self._cache = WordVectorCache(self._spell)
        self._plan = config.eval.plan
        self._longest = config.eval.longest
        self._force_root = config.scorer.force_root
        self._predicts_tags = config.scorer.predict_tags

    @classmethod
    def load(cls, folder: ModelFolder, threads: int = 1) -> OnnxBackend:
        """``threads`` share each matrix product, which helps with one sentence; for a file, use several processes."""
        names = [ONNX, SPANS, *graphs(folder.config)]
        if folder.config.scorer.functions:
            names.append(FUNCTIONS)
        sessions = {name: _session(folder, name, threads) for name in names}
        table = SubwordTable(folder.path / SUBWORD_TABLE) if folder.has(SUBWORD_TABLE) else None
        _require_agreement(folder, sessions, table)
        return cls(sessions, folder.config, table)

    @property
    def overlaps(self) -> bool:
        return False

    @property
    def threads(self) -> int:
        return int(self._model.get_session_options().intra_op_num_threads)

    @property
    def batch_tokens(self) -> int:
        return BATCH_TOKENS

    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Parsed]:
        fenceposts, tags, vectors = self._encode(batch, functions)
        pairs = _pairs(batch.lengths)
        parts = [_run(self._spans, ("best", "label"), piece) for piece in _cut(fenceposts, *pairs)]
        best, labels = (np.concatenate(column) for column in zip(*parts, strict=True))
        if self._force_root:
            roots = packing.roots(batch.lengths)
            (scores,) = _run(self._spans, ("scores",), _spans(fenceposts, pairs[0][roots], pairs[1][roots]))
            best[roots], labels[roots] = scores[:, 1:].max(axis=1), 1 + scores[:, 1:].argmax(axis=1)
        trees = cky.decode(LabelChart(best, labels.astype(np.int32), batch.lengths))
        parsed = Parsed(trees, tags, self._function_reader(vectors, batch.lengths))
        return lambda: parsed

    def score(self, batch: Batch, *, functions: bool = False) -> Scored:
        fenceposts, tags, vectors = self._encode(batch, functions)
        parts = (_run(self._spans, ("scores",), piece)[0] for piece in _cut(fenceposts, *_pairs(batch.lengths)))
        reader = self._function_reader(vectors, batch.lengths)
        return Scored(SpanScores.from_pieces(parts, batch.lengths), tags, reader)

    def _function_reader(self, vectors: Floats | None, lengths: Ints) -> FunctionReader | None:
        if vectors is None:
            return None
        session = self._functions
        assert session is not None

        def read(constituents: Constituents) -> Floats:
            starts, ends = constituents.fenceposts(lengths)
            labels, parents = constituents.labels, constituents.parents
            feeds = {**_spans(vectors, starts, ends, "vectors"), "labels": labels, "parents": parents}
            (probabilities,) = _run(session, ("probabilities",), feeds)
            return np.asarray(probabilities)

        return read

    def _encode(self, batch: Batch, functions: bool) -> tuple[Floats, Ints | None, Floats | None]:
        """The projected fenceposts of all sentences [F, hidden], the tags of their words [W] if the model predicts
        tags, and the vectors of the fenceposts [F, d_model] if ``functions`` are asked for.
        """
        first_token, first_post, first_word = (_firsts(batch.lengths + more) for more in (2, 1, 0))
        letters, subwords = self._letter_vectors(batch), self._subword_vectors(batch)
        wanted = ["fenceposts", *["predicted_tags"] * self._predicts_tags, *["vectors"] * functions]
        fenceposts: Floats | None = None
        vectors: Floats | None = None
        tags = np.empty(batch.lengths.sum(), np.int64)
        for sentences in self._groups(batch.lengths):
            lengths = batch.lengths[sentences]
            width = int(lengths.max()) + 2
            # Past its end a sentence repeats its stop token, which nothing attends to there.
            token = first_token[sentences, None] + np.minimum(np.arange(width), lengths[:, None] + 1)
            feeds = self._feeds(batch, token, letters, subwords)
            feeds |= _sequence_feeds(lengths + 2, width, self._plan, self._longest)
            outputs = dict(zip(wanted, _run(self._model, wanted, feeds), strict=True))
            if fenceposts is None:
                fenceposts = np.empty(((batch.lengths + 1).sum(), outputs["fenceposts"].shape[-1]), np.float32)
            _scatter(fenceposts, outputs["fenceposts"], first_post[sentences], lengths + 1)
            if self._predicts_tags:
                _scatter(tags, outputs["predicted_tags"][:, 1:], first_word[sentences], lengths)
            if functions:
                if vectors is None:
                    vectors = np.empty((len(fenceposts), outputs["vectors"].shape[-1]), np.float32)
                _scatter(vectors, outputs["vectors"], first_post[sentences], lengths + 1)
        assert fenceposts is not None
        return fenceposts, tags if self._predicts_tags else None, vectors

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
        feeds: dict[str, npt.NDArray[Any]] = {}
        if batch.words is not None:
            feeds["words"] = batch.words[token]
        if batch.tags is not None:
            feeds["tags"] = batch.tags[token]
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
        vectors = np.empty((len(batch.subwords), self._subwords.get_outputs()[0].shape[2]), np.float32)
        for windows in pieces(batch.window_lengths.tolist(), ENCODED):
            lengths = batch.window_lengths[windows]
            # Past its end a window repeats its last sub-token, which nothing attends to there.
            row = first[windows, None] + np.minimum(np.arange(lengths.max()), lengths[:, None] - 1)
            feeds = {"subwords": batch.subwords[row], **_sequence_feeds(lengths, row.shape[1], PlanConfig())}
            if self._subword_table is not None:
                feeds["embedded"] = self._subword_table.vectors(feeds["subwords"])
            _scatter(vectors, _run(self._subwords, ("vectors",), feeds)[0], first[windows], lengths)
        assert batch.subword_rows is not None
        return _means(vectors, batch.subword_rows, batch.rows_of_token)

    def _spell(self, spellings: Ints, lengths: Ints) -> Floats:
        """The vectors of words that are not in the cache: [U, C] -> [U, d]."""
        assert self._letters is not None
        vectors = np.empty((len(lengths), self._letters.get_outputs()[0].shape[1]), np.float32)
        for words in pieces(lengths.tolist(), SPELLED):
            width = int(lengths[words].max())
            feeds = {"spellings": spellings[words, :width], **_sequence_feeds(lengths[words], width, PlanConfig())}
            vectors[words] = _run(self._letters, ("vectors",), feeds)[0]
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


def _require_agreement(folder: ModelFolder, sessions: dict[str, InferenceSession], table: SubwordTable | None) -> None:
    """Raises an error if the graphs' inputs or outputs don't match the configuration, the vocabularies or the table."""
    expected = {LEXICAL_KINDS[kind].reads for kind in folder.config.lexical}
    read = {value.name for value in sessions[ONNX].get_inputs()} - set(SEQUENCE)
    if read != expected:
        raise disagreement(folder, f"{ONNX} reads {', '.join(sorted(read))}, not {', '.join(sorted(expected))}")
    predicts_tags = "predicted_tags" in [value.name for value in sessions[ONNX].get_outputs()]
    if predicts_tags != folder.config.scorer.predict_tags:
        raise disagreement(folder, f"{ONNX} predicts {'tags' if predicts_tags else 'no tags'}")
    if SUBWORDS in sessions:
        embedded = [value.shape[-1] for value in sessions[SUBWORDS].get_inputs() if value.name == "embedded"]
        if embedded != ([] if table is None else [table.size]):
            raise disagreement(folder, f"{SUBWORDS} and {SUBWORD_TABLE} don't belong together")
    labels = {value.name: value.shape[-1] for value in sessions[SPANS].get_outputs()}["scores"]
    if labels != len(folder.vocabularies.labels):
        raise disagreement(folder, f"{SPANS} knows {labels} labels, not {len(folder.vocabularies.labels)}")
    if FUNCTIONS in sessions:
        functions, known = sessions[FUNCTIONS].get_outputs()[0].shape[-1], folder.vocabularies.functions
        if known is None or functions != len(known):
            raise disagreement(folder, f"{FUNCTIONS} knows {functions} functions, not {len(known or ())}")


def _session(folder: ModelFolder, name: str, threads: int) -> InferenceSession:
    require_listed(folder.path, name)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # every batch has its own shape
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    path = folder.path / name
    try:
        return InferenceSession(str(path), options, disabled_optimizers=SLOWER)
    except Exception as error:  # its errors have no common parent
        raise ModelError(f"{path}: ONNX Runtime can't read it: {error}", hint="export the model again") from error


def _run(session: InferenceSession, outputs: Sequence[str], feeds: dict[str, npt.NDArray[Any]]) -> list[Any]:
    inputs = {value.name: feeds[value.name] for value in session.get_inputs()}
    return list(session.run(list(outputs), inputs))


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


def _cut(fenceposts: Floats, starts: Ints, ends: Ints) -> Iterator[dict[str, npt.NDArray[Any]]]:
    for low in range(0, len(starts), CELLS):
        yield _spans(fenceposts, starts[low : low + CELLS], ends[low : low + CELLS])
