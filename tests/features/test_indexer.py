from __future__ import annotations

import pickle

import numpy as np
import pytest

from fencepost.config.settings import Config
from fencepost.config.toml import config_from_table
from fencepost.features import indexer as module
from fencepost.features.batching import cost, pieces
from fencepost.features.indexer import Indexer
from fencepost.features.spellings import LETTERS_KEPT
from fencepost.features.vocabularies import (
    SENTENCE_START,
    SENTENCE_STOP,
    START,
    STOP,
    UNKNOWN,
    UNKNOWN_LETTER,
    WORD_START,
    WORD_STOP,
    Vocabularies,
)
from fencepost.trees.treebank import Sentence
from tests.samples import TREES


def config_with(*lexical: str) -> Config:
    return config_from_table({"lexical": list(lexical), "encoder": {"d_model": 1024}})


def indexer_with(*lexical: str) -> Indexer:
    config = config_with(*lexical)
    return Indexer(config, Vocabularies.of(TREES, config))


def test_sentences_lie_end_to_end_between_start_and_stop() -> None:
    indexer = indexer_with("words", "tags")
    batch = indexer.batch([Sentence.of(TREES[1]), Sentence.of(TREES[3])])
    assert batch.lengths.tolist() == [3, 1]
    assert batch.words is not None
    assert batch.tags is not None
    assert batch.words[[0, 4, 5, 7]].tolist() == [START, STOP, START, STOP]
    assert indexer.vocabularies.words.symbol(int(batch.words[1])) == "It"
    assert indexer.vocabularies.tags.symbol(int(batch.tags[6])) == "NN"
    assert batch.spellings is None


def test_new_words_and_missing_tags_are_unknown() -> None:
    batch = indexer_with("words", "tags").batch([Sentence(("Zebras",))])
    assert batch.words is not None
    assert batch.tags is not None
    assert batch.words.tolist() == [START, UNKNOWN, STOP]
    assert batch.tags.tolist() == [START, UNKNOWN, STOP]


def test_each_distinct_word_is_spelled_once() -> None:
    indexer = indexer_with("char_lstm")
    batch = indexer.batch([Sentence(("the", "cat", "the"))])
    assert batch.spellings is not None
    assert batch.spelling_lengths is not None
    assert batch.spelling_of_token is not None
    assert len(batch.spellings) == 4  # start, stop, the, cat
    first, second, third, fourth, last = batch.spelling_of_token.tolist()
    assert second == fourth != third
    letters = indexer.vocabularies.letters
    assert batch.spellings[second].tolist() == [WORD_START, *map(letters.id, "the"), WORD_STOP]
    assert batch.spellings[first].tolist() == [WORD_START, *[SENTENCE_START] * 3, WORD_STOP]
    assert batch.spellings[last].tolist() == [WORD_START, *[SENTENCE_STOP] * 3, WORD_STOP]


@pytest.mark.parametrize(("plain", "distinct"), [(True, 3), (False, 5)])
def test_penn_quotes_are_spelled_as_plain_ones_where_the_model_knows_only_those(plain: bool, distinct: int) -> None:
    config = config_from_table({"lexical": ["char_lstm"], "plain_quotes": plain})
    batch = Indexer(config, Vocabularies.of(TREES, config)).batch([Sentence(("``", '"', "''"))])
    assert batch.spellings is not None
    assert len(batch.spellings) == distinct  # with start and stop


def test_an_unseen_letter_is_unknown() -> None:
    batch = indexer_with("char_lstm").batch([Sentence(("字",))])
    assert batch.spellings is not None
    assert batch.spelling_of_token is not None
    assert batch.spellings[batch.spelling_of_token[1]].tolist()[:3] == [WORD_START, UNKNOWN_LETTER, WORD_STOP]


def test_a_very_long_word_keeps_its_two_ends() -> None:
    indexer = indexer_with("char_lstm")
    batch = indexer.batch([Sentence(("a" * 5000 + "t" * LETTERS_KEPT,))])
    assert batch.spellings is not None
    assert batch.spelling_lengths is not None
    assert batch.spelling_lengths.max() == 2 * LETTERS_KEPT + 2
    row = batch.spellings[batch.spelling_lengths.argmax()].tolist()
    assert row[LETTERS_KEPT : LETTERS_KEPT + 2] == [indexer.vocabularies.letters.id(letter) for letter in "at"]


def test_memory_for_spellings_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_SPELLINGS_KEPT", 50)
    indexer = indexer_with("char_lstm")
    for start in range(0, 3000, 30):
        indexer.batch([Sentence(tuple(str(number) for number in range(start, start + 30)))])
    assert len(indexer._table) <= 50 + 32


def test_spellings_stay_right_when_the_table_grows() -> None:
    indexer = indexer_with("char_lstm")
    words = tuple(f"{number:b}" for number in range(2000))
    batch = indexer.batch([Sentence(words)])
    assert batch.spellings is not None
    assert batch.spelling_lengths is not None
    assert batch.spelling_of_token is not None
    lengths = batch.spelling_lengths[batch.spelling_of_token[1:-1]] - 2
    assert lengths.tolist() == [len(word) for word in words]


def test_an_indexer_can_be_pickled() -> None:
    indexer = indexer_with("char_lstm", "words")
    copy = pickle.loads(pickle.dumps(indexer))
    sentence = Sentence(("the", "mat"))
    mine, theirs = indexer.batch([sentence]), copy.batch([sentence])
    assert mine.words is not None
    assert np.array_equal(mine.words, theirs.words)


def test_pieces_hold_every_sentence_once_within_the_budget() -> None:
    lengths = [3, 40, 7, 7, 1, 300, 12]
    groups = list(pieces(lengths, 100))
    assert sorted(index for group in groups for index in group) == list(range(len(lengths)))
    assert all(len(group) == 1 or sum(cost(lengths[index]) for index in group) <= 100 for group in groups)
    assert [lengths[group[0]] for group in groups] == sorted((lengths[group[0]] for group in groups), reverse=True)


def test_no_sentences_make_no_pieces() -> None:
    assert list(pieces([], 100)) == []
