"""Sentences that run from right to left."""

from __future__ import annotations

import pytest

from fencepost.drawing.direction import is_right_to_left


@pytest.mark.parametrize(
    "words",
    [
        ["שלום", "עולם", "!"],
        ["مرحبا", "3"],
        ["IBM", "הודיעה", "היום"],  # the first word alone doesn't decide
        ["ב-IBM", "5"],  # a word goes by its first letter
        ["«שלום»", "12:30", "—"],  # only words with letters count
    ],
)
def test_most_words_run_to_the_left(words: list[str]) -> None:
    assert is_right_to_left(words)


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["3", "!"],
        ["The", "cat"],
        ["漢字", "です"],
        ["ש1", "abcש"],  # one word either way
        ["שלום", "Bob"],
        ["abcש", "xyzש", "ש"],  # two words begin with a Latin letter
        ["🇮🇱", "🇮🇱", "A"],
        ["The", "word", "שלום", "means", "peace"],
    ],
)
def test_otherwise_a_sentence_runs_to_the_right(words: list[str]) -> None:
    assert not is_right_to_left(words)
