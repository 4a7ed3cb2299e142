"""Lexical representations, against naive ones word by word."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from fencepost.errors import UsageError
from fencepost.model.dropout import SharedDropout
from fencepost.model.lexical import CharConcat, CharLSTM, Lexical, TagEmbedding, WordEmbedding
from fencepost.model.parser_model import TorchBatch
from tests.model.model_samples import SENTENCES, START, STOP, WORDS, batch_of, small_model, spelling, torch_batch
from tests.model.model_samples import small_config as config_of

NO_DROPOUT = SharedDropout(0.0, shared=True)
BATCH = torch_batch(SENTENCES)
TOKENS = [token for sentence in SENTENCES for token in [START, *sentence, STOP]]


def test_a_word_reads_its_own_vector() -> None:
    words = WordEmbedding(len(WORDS), 4, NO_DROPOUT)
    vectors = words(BATCH)
    assert torch.equal(vectors[2], words.embedding.weight[WORDS.index("cat")])


def test_training_reads_a_word_seen_c_times_as_unknown_with_probability_one_in_c_plus_one() -> None:
    torch.manual_seed(0)
    sentence = ["a"] * 2000 + ["cat"] * 2000
    counts = torch.zeros(len(WORDS), dtype=torch.int64)
    counts[WORDS.index("a")], counts[WORDS.index("cat")] = 1, 3
    words = WordEmbedding(len(WORDS), 4, NO_DROPOUT, counts)
    unknown = (words(torch_batch([sentence])) == words.embedding.weight[0]).all(-1)
    assert unknown[1:2001].float().mean().item() == pytest.approx(1 / 2, abs=0.05)
    assert unknown[2001:4001].float().mean().item() == pytest.approx(1 / 4, abs=0.05)


def test_start_and_stop_are_never_read_as_unknown() -> None:
    words = WordEmbedding(len(WORDS), 4, NO_DROPOUT, torch.tensor([0, 0, 0] + [1] * (len(WORDS) - 3)))
    vectors = words(torch_batch([["a"]] * 50)).view(50, 3, 4)
    assert (vectors[:, 0] == words.embedding.weight[WORDS.index(START)]).all()
    assert (vectors[:, 2] == words.embedding.weight[WORDS.index(STOP)]).all()


def test_parsing_reads_every_known_word_as_itself() -> None:
    words = WordEmbedding(len(WORDS), 4, NO_DROPOUT, torch.ones(len(WORDS))).eval()
    assert BATCH.words is not None
    assert torch.equal(words(BATCH), words.embedding.weight[BATCH.words])


def test_counts_are_no_part_of_the_saved_weights() -> None:
    assert list(WordEmbedding(3, 4, NO_DROPOUT, torch.ones(3)).state_dict()) == ["embedding.weight"]


def test_char_lstm_equals_an_lstm_run_over_each_word_alone() -> None:
    torch.manual_seed(0)
    module = CharLSTM(32, 6, 8, 0.0, NO_DROPOUT)
    vectors = module(BATCH)
    for token, vector in zip(TOKENS, vectors, strict=True):
        states, _ = module.lstm(module.embedding(torch.tensor(spelling(token))))
        expected = torch.cat([states[-1, :4], states[0, 4:]])
        torch.testing.assert_close(vector, expected)


def test_char_lstm_saves_the_weights_of_an_embedding_and_of_an_lstm_of_torch() -> None:
    module = CharLSTM(32, 6, 32, 0.0, NO_DROPOUT)
    expected = [f"lstm.{name}" for name in torch.nn.LSTM(6, 16, bidirectional=True).state_dict()]
    assert list(module.state_dict()) == ["embedding.weight", *expected]


@pytest.mark.parametrize(
    ("word", "letters"),
    [
        ("a", ["a", "", "", "a"]),
        ("on", ["o", "n", "o", "n"]),
        ("cat", ["c", "a", "a", "t"]),
        ("extraordinarily", ["e", "x", "l", "y"]),
    ],
)
def test_char_concat_takes_the_first_and_last_letters_with_padding_outside(word: str, letters: list[str]) -> None:
    module = CharConcat(32, 3, 2, NO_DROPOUT)
    ids = [spelling(letter)[1] if letter else 0 for letter in letters]
    vector = module(torch_batch([[word]]))[1]
    assert torch.equal(vector, module.embedding.weight[ids].flatten())


def test_char_concat_reads_no_word_marks_and_no_width_of_the_batch() -> None:
    module = CharConcat(32, 3, 8, NO_DROPOUT)
    alone, in_company = module(torch_batch([["cat"]]))[1], module(torch_batch([["cat", "extraordinarily"]]))[1]
    c, a, t = spelling("cat")[1:-1]
    expected = module.embedding.weight[[c, a, t, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, c, a, t]].flatten()
    assert torch.equal(alone, expected)
    assert torch.equal(in_company, expected)


def test_char_attention_gives_a_word_the_same_vector_in_any_company() -> None:
    lexical = small_model(config_of(["char_attention"])).lexical
    alone, in_company = lexical(torch_batch([["cat"]]))[1], lexical(BATCH)[2]
    torch.testing.assert_close(alone, in_company, atol=1e-5, rtol=1e-5)


def test_char_attention_reads_the_order_of_letters() -> None:
    lexical = small_model(config_of(["char_attention"])).lexical
    batch = batch_of([["on"]])
    assert batch.spellings is not None
    is_on = batch.spellings[:, 1] == spelling("on")[1]
    reversed_spellings = np.where(is_on[:, None], np.array(spelling("no")), batch.spellings)
    on, no = (
        lexical(TorchBatch.of(batch)),
        lexical(TorchBatch.of(dataclasses.replace(batch, spellings=reversed_spellings))),
    )
    assert not torch.allclose(on[1], no[1], atol=1e-3)


def test_representations_are_summed() -> None:
    words, tags = WordEmbedding(len(WORDS), 4, NO_DROPOUT), TagEmbedding(4, 4, NO_DROPOUT)
    torch.testing.assert_close(Lexical([words, tags])(BATCH), words(BATCH) + tags(BATCH))


@pytest.mark.parametrize("kind", ["words", "tags", "char_lstm", "char_concat", "char_attention"])
def test_a_batch_without_what_the_model_reads_is_refused(kind: str) -> None:
    lexical = small_model(config_of([kind])).lexical
    bare = dataclasses.replace(
        batch_of(SENTENCES), words=None, tags=None, spellings=None, spelling_lengths=None, spelling_of_token=None
    )
    with pytest.raises(UsageError, match="this model reads"):
        lexical(TorchBatch.of(bare))
