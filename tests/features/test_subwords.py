from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.config.toml import config_from_table
from fencepost.errors import MismatchError, ModelError
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.subwords import LONGEST_WORD, Subwords, SubwordSentence
from fencepost.features.unigram import Unigram
from fencepost.features.wordpiece import WordPiece
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.treebank import Sentence
from tests.pretrained_samples import PIECES, pretrained_files, tokenizer
from tests.unigram_samples import unigram


def reader(files: PretrainedFiles | None = None, **pretrained: Any) -> Subwords:
    section = {"model": "small", **pretrained}
    return Subwords(config_from_table({"lexical": ["pretrained"], "pretrained": section}), files or pretrained_files())


def chosen(read: SubwordSentence) -> list[list[str]]:
    """The sub-tokens that each token is made of."""
    rows = iter(read.rows.tolist())
    return [[PIECES[read.ids[next(rows)]] for _ in range(count)] for count in read.rows_of_token.tolist()]


def pieces(read: SubwordSentence) -> list[str]:
    return [PIECES[number] for number in read.ids.tolist()]


def test_a_sentence_stands_between_the_special_tokens_which_are_its_start_and_stop() -> None:
    read = reader().read(Sentence(("the", "cat")))
    assert pieces(read) == ["<start>", "the", "cat", "<stop>"]
    assert chosen(read) == [["<start>"], ["the"], ["cat"], ["<stop>"]]


@pytest.mark.parametrize(("words", "of_cats"), [("first", ["cat"]), ("last", ["##s"]), ("mean", ["cat", "##s"])])
def test_a_split_word_has_its_first_or_last_sub_token_or_all(words: str, of_cats: list[str]) -> None:
    assert chosen(reader(words=words).read(Sentence(("the", "cats", "sleep"))))[2] == of_cats


def test_words_that_are_one_sub_token_share_it() -> None:
    read = reader(words="mean").read(Sentence(("can", "not", "sleep"), spaces=(False, True, True)))
    assert chosen(read) == [["<start>"], ["cannot"], ["cannot"], ["sleep"], ["<stop>"]]


@pytest.mark.parametrize(
    ("words", "of_cannot"),
    [("last", ["▁c", "n't"]), ("first", ["▁c", "an"]), ("mean", ["▁c", "an", "an", "n't"])],
)
def test_the_last_sub_token_of_a_word_ends_inside_it_if_any_does(words: str, of_cannot: list[str]) -> None:
    """The sub-token ``an`` belongs to both words; before it, one ends inside the first."""
    own = ["<unk>", "▁c", "an", "n't"]
    model = {"type": "Unigram", "unk_id": 0, "vocab": [(piece, -1.0) for piece in own]}
    files = PretrainedFiles(unigram(model=model, added_tokens=[], post_processor=None), pretrained_files("t5").encoder)
    read = reader(files, words=words).read(Sentence(("ca", "nn't"), spaces=(False, False)))
    assert [own[read.ids[row]] for row in read.rows.tolist()[1:-1]] == of_cannot


@pytest.mark.parametrize("words", ["first", "last", "mean"])
def test_a_word_that_the_tokenizer_drops_has_the_sub_token_before_it(words: str) -> None:
    read = reader(words=words).read(Sentence(("\u200b", "cat", "\u200b", "sleep")))
    assert chosen(read) == [["<start>"], ["<start>"], ["cat"], ["cat"], ["sleep"], ["<stop>"]]


def test_a_sentence_of_dropped_words_alone_is_still_read() -> None:
    assert chosen(reader().read(Sentence(("\u200b",)))) == [["<start>"], ["<start>"], ["<stop>"]]


def test_an_unknown_word_has_the_unknown_sub_token() -> None:
    assert chosen(reader().read(Sentence(("Ω",))))[1] == ["<unk>"]


def test_quotes_in_penn_spelling_are_read_as_quotes() -> None:
    assert chosen(reader().read(Sentence(("``", "cat", "''"))))[1:-1] == [['"'], ["cat"], ['"']]


def test_truncation_and_padding_of_the_tokenizer_are_not_ours() -> None:
    cut = tokenizer()
    cut.enable_truncation(3)
    cut.enable_padding(length=9)
    read = reader(PretrainedFiles(cut.to_str(), pretrained_files().encoder)).read(Sentence(("the", "cat")))
    assert pieces(read) == ["<start>", "the", "cat", "<stop>"]


@pytest.mark.parametrize("text", ["{}", '{"model": ', "[]", '{"model": 1}', '{"version": "1.0", "model": null}'])
def test_a_damaged_tokenizer_is_named(text: str) -> None:
    with pytest.raises(ModelError, match=r"tokenizer\.json is damaged"):
        reader(PretrainedFiles(text, pretrained_files().encoder))


def test_a_decoder_reads_its_start_token_first() -> None:
    files = PretrainedFiles(tokenizer(special=False).to_str(), pretrained_files("t5").encoder)
    assert pieces(reader(files).read(Sentence(("the", "cat")))) == ["<pad>", "the", "cat"]


@pytest.mark.parametrize(("kind", "longest"), [("bert", 40), ("roberta", 32), ("t5", 60)])
def test_no_window_is_longer_than_the_encoder_reads(kind: str, longest: int) -> None:
    read = reader(pretrained_files(kind), overlap=4, window=60).read(Sentence(("cat",) * 100))
    assert max(read.window_lengths) == longest


@given(st.lists(st.sampled_from(["the", "cats", "sleeping", "a", "."]), min_size=1, max_size=60), st.data())
def test_words_of_a_long_sentence_are_found_in_the_window_with_most_context(words: list[str], data: Any) -> None:
    window = data.draw(st.integers(5, 30))
    overlap = data.draw(st.integers(0, window - 4))
    cut = reader(window=window, overlap=overlap, words="mean").read(Sentence(tuple(words)))
    assert max(cut.window_lengths) <= window
    unlimited = PretrainedFiles(tokenizer().to_str(), pretrained_files(max_position_embeddings=1000).encoder)
    whole = reader(unlimited, window=1000, words="mean").read(Sentence(tuple(words)))
    assert chosen(cut) == chosen(whole)
    ends = cut.window_lengths.cumsum()
    starts = ends - cut.window_lengths
    for row in cut.rows.tolist()[1:-1]:
        number = int((ends <= row).sum())
        if number > 0:
            assert row - starts[number] - 1 >= overlap // 2
        if number < len(ends) - 1:
            assert ends[number] - 2 - row >= overlap - overlap // 2


def test_a_sentence_says_of_each_word_whether_a_blank_follows() -> None:
    with pytest.raises(MismatchError, match="2 words but 1 spaces"):
        Sentence(("can", "not"), spaces=(True,))


@lru_cache
def english() -> PretrainedFiles:
    files = ModelFolder.open("en").vocabularies.pretrained
    assert files is not None
    return files


def t5() -> PretrainedFiles:
    return PretrainedFiles(unigram(), pretrained_files("t5", vocab_size=100).encoder)


@lru_cache
@lru_cache
def reader_of(files: Callable[[], PretrainedFiles], words: str, window: int) -> Subwords:
    return reader(files(), words=words, window=window, overlap=3)


WORDS = st.lists(
    st.sampled_from(
        [
            "[SEP]",
            "a [MASK] b",
            "\u200b",
            "``",
            "state-of-the-art",
            "(",
            "42%",
            "é",
            "日本",
            "don't",
            "New York",
            "<",
            "/s",
            ">",
            " a",
            "\u0301",
        ]
    )
    | st.text(min_size=1, max_size=6),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize(("kind", "files"), [(WordPiece, english), (Unigram, t5)])
@given(WORDS, st.data(), st.sampled_from(["first", "last", "mean"]), st.sampled_from([512, 9]))
def test_what_is_read_by_stretches_is_what_the_text_is_read_as(
    kind: type, files: Callable[[], PretrainedFiles], words: list[str], data: Any, chosen_of: str, window: int
) -> None:
    spaces = data.draw(st.none() | st.lists(st.booleans(), min_size=len(words), max_size=len(words)).map(tuple))
    sentence = Sentence(tuple(words), spaces=spaces)
    subwords = reader_of(files, chosen_of, window)
    by_stretch = subwords.read(sentence)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "cuts_at_blanks", lambda *_: False)
        as_text = subwords.read(sentence)
    for name in ("ids", "window_lengths", "rows", "rows_of_token"):
        assert getattr(by_stretch, name).tolist() == getattr(as_text, name).tolist()


def test_most_sentences_are_read_by_stretches() -> None:
    tokenizer = WordPiece.of(english().tokenizer)
    assert tokenizer is not None
    assert tokenizer.cuts_at_blanks("Some words [ and brackets ]")
    assert not tokenizer.cuts_at_blanks("Some words [SEP] and a mark")


def test_of_a_giant_word_both_ends_are_read() -> None:
    half = LONGEST_WORD // 2
    begin, end = "cat" + "z" * (half - 3), "z" * (half - 5) + "sleep"
    read = reader(words="mean").read(Sentence(("the", begin + "z" * 10**6 + end, "cat")))
    assert chosen(read) == chosen(reader(words="mean").read(Sentence(("the", begin + end, "cat"))))
    other = reader(words="mean").read(Sentence(("the", begin + "!" * 10**6 + end, "cat")))
    assert chosen(other) == chosen(read)


def test_giant_words_and_stretches_are_not_remembered() -> None:
    subwords = reader(english())
    subwords.read(Sentence(("a", "cat")))
    subwords.read(Sentence(("a", "x" * 51)))
    subwords.read(Sentence(("a",) * 9, spaces=(False,) * 9))
    assert subwords._remembered.cache_info().currsize == 2
