"""Reading a batch at once gives the same numbers as reading its sentences one by one."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fencepost
from fencepost.config.toml import config_from_table
from fencepost.features import subword_batches as module
from fencepost.features.batch import Batch
from fencepost.features.growing_array import GrowingArray
from fencepost.features.indexer import Indexer
from fencepost.features.lists import firsts, ranges, with_ends
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.spacing import guess_spaces
from fencepost.features.subword_batches import SubwordBatches
from fencepost.features.subwords import Subwords, SubwordSentence, joined_sentences
from fencepost.features.vocabularies import Vocabularies
from fencepost.trees.treebank import Sentence
from tests.pretrained_samples import pretrained_files
from tests.samples import TREES
from tests.unigram_samples import unigram

KNOWN = [
    "The",
    "cat",
    "``",
    "''",
    '"',
    "(",
    ")",
    ".",
    ",",
    "do",
    "n't",
    "$",
    "5",
    "\u200b",
    "é",
    "日本",
    "[SEP]",
    "x" * 51,
]
WORDS = st.lists(st.sampled_from(KNOWN) | st.text(min_size=1, max_size=5), min_size=1, max_size=12)


@st.composite
def sentences(draw: Any) -> Sentence:
    words = tuple(draw(WORDS))
    spaces = draw(st.none() | st.tuples(*[st.booleans()] * len(words)))
    tags = draw(st.none() | st.tuples(*[st.sampled_from(["NN", "DT", "ODD"])] * len(words)))
    return Sentence(words, tags, spaces=spaces)


BATCHES = st.lists(sentences(), min_size=1, max_size=5)


@lru_cache
def english() -> PretrainedFiles:
    files = fencepost.load().vocabularies.pretrained
    assert files is not None
    return files


@lru_cache
def t5() -> PretrainedFiles:
    """A tokenizer for which a blank at the end is a sub-token, too."""
    return PretrainedFiles(unigram(), pretrained_files("t5", vocab_size=100).encoder)


@lru_cache
def subwords_of(
    words: str, window: int, language: str = "en", files: Callable[[], PretrainedFiles] = english
) -> Subwords:
    pretrained = {"model": "small", "words": words, "window": window, "overlap": 3}
    return Subwords(
        config_from_table({"lexical": ["pretrained"], "pretrained": pretrained, "language": language}), files()
    )


def lists(read: SubwordSentence) -> list[list[int]]:
    return [getattr(read, field.name).tolist() for field in fields(read)]


def one_by_one(subwords: Subwords, batch: Sequence[Sentence]) -> SubwordSentence:
    return joined_sentences([subwords.read(sentence) for sentence in batch])


@given(
    st.lists(BATCHES, min_size=1, max_size=3),
    st.sampled_from(["first", "last", "mean"]),
    st.sampled_from([512, 9]),
    st.sampled_from(["en", "de"]),
    st.sampled_from([english, t5]),
)
def test_batches_are_read_like_single_sentences(
    batches: list[list[Sentence]], words: str, window: int, language: str, files: Callable[[], PretrainedFiles]
) -> None:
    subwords = subwords_of(words, window, language, files)
    reader = SubwordBatches(subwords)
    for batch in batches:  # what was read before is remembered
        assert lists(reader.read(batch)) == lists(one_by_one(subwords, batch))


@given(BATCHES, st.sampled_from(["en", "de"]))
def test_spaces_are_guessed_like_those_of_single_sentences(batch: list[Sentence], language: str) -> None:
    usual = [tuple(word for word in sentence.words if len(word) < 50 and word != "[SEP]") for sentence in batch]
    words = [own for own in usual if own]
    reader = SubwordBatches(subwords_of("mean", 512, language))
    numbers = reader._words.numbers([word for own in words for word in own])
    guessed = reader._guessed_spaces(numbers, np.array(list(map(len, words)), np.int64))
    assert guessed.tolist() == [space for own in words for space in guess_spaces(own, language)]


def test_a_word_without_sub_tokens_is_made_of_the_first_if_nothing_comes_before_it() -> None:
    settings = json.loads(english().tokenizer)
    settings["post_processor"] = None  # no special sub-tokens
    config = config_from_table({"lexical": ["pretrained"], "pretrained": {"model": "small"}})
    subwords = Subwords(config, PretrainedFiles(json.dumps(settings), english().encoder))
    batch = [Sentence(("cat", "dog")), Sentence(("\u200b", "cat"))]
    read = SubwordBatches(subwords).read(batch)
    assert lists(read) == lists(one_by_one(subwords, batch))
    assert read.rows.tolist() == [0, 0, 1, 1, 2, 2, 2, 2]


def test_long_stretches_and_quotes_in_several_sentences_are_read_like_single_sentences() -> None:
    subwords = subwords_of("mean", 512)
    batch = [
        Sentence(('"', "a", '"', "b", '"')),
        Sentence(("a",) * 9, spaces=(False,) * 9),
        Sentence(("(", '"', "``", "''")),
        Sentence(("\u200b", "\u200b")),
    ]
    assert lists(SubwordBatches(subwords).read(batch)) == lists(one_by_one(subwords, batch))


def test_what_is_remembered_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "STRETCHES_KEPT", 40)
    subwords = subwords_of("mean", 512)
    reader = SubwordBatches(subwords)
    for start in range(0, 400, 20):
        batch = [Sentence(tuple(f"w{number}" for number in range(start, start + 20)))]
        assert lists(reader.read(batch)) == lists(one_by_one(subwords, batch))
        assert len(reader._words) <= 61


def test_giant_words_are_not_remembered() -> None:
    reader = SubwordBatches(subwords_of("mean", 512))
    reader.read([Sentence(("a", "x" * 51))])
    assert reader._words.words == ["", "a"]


def columns(batch: Batch) -> dict[str, Any]:
    values = {field.name: getattr(batch, field.name) for field in fields(batch)}
    return {name: None if value is None else (value.dtype, value.tolist()) for name, value in values.items()}


@given(st.lists(BATCHES, min_size=1, max_size=3), st.booleans())
def test_a_batch_is_what_indexing_its_sentences_for_later_gives(batches: list[list[Sentence]], quotes: bool) -> None:
    config = config_from_table({"lexical": ["words", "tags", "char_lstm"], "plain_quotes": quotes})
    indexer = Indexer(config, Vocabularies.of(TREES, config))
    for batch in batches:
        expected = columns(indexer.index(batch).batch(range(len(batch))))
        assert columns(indexer.batch(batch)) == expected


def test_the_shipped_model_indexes_batches_like_single_sentences() -> None:
    indexer = fencepost.load()._indexer
    batch = [Sentence(tuple(tree.words())) for tree in TREES]
    expected = columns(indexer.index(batch).batch(range(len(batch))))
    assert columns(indexer.batch(batch)) == expected


def test_lists_end_to_end() -> None:
    assert firsts(np.array([2, 0, 3])).tolist() == [0, 2, 2]
    assert ranges(np.array([7, 3, 1]), np.array([2, 0, 1])).tolist() == [7, 8, 1]
    values, counts = np.array([5, 6, 7]), np.array([2, 0, 1])
    assert with_ends(values, counts, [1], [2, 3]).tolist() == [1, 5, 6, 2, 3, 1, 2, 3, 1, 7, 2, 3]
    own = np.array([[10], [20], [30]])
    assert with_ends(values, counts, own, own + 1).tolist() == [10, 5, 6, 11, 20, 21, 30, 7, 31]
    assert with_ends(np.zeros(0, np.int64), np.zeros(0, np.int64), [], []).tolist() == []


def test_an_array_grows_and_keeps_its_values() -> None:
    array = GrowingArray(np.int64, [3])
    for number in range(3000):
        array.append([number] * 2)
    assert len(array) == 6001
    assert array.array[[0, 1, 2, -1]].tolist() == [3, 0, 0, 2999]
    array.array[0] = 4
    assert array.array[0] == 4
