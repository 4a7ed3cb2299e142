from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.text import Mode, read_sentences, read_stream

LINES = ["One two. Three\n", "four goes on. Five\n", "\n", "Six\n", "seven"]


@pytest.mark.parametrize("mode", ["text", "paragraph", "line"])
@given(st.text(st.sampled_from("aB .\n。!?,"), max_size=200))
def test_lines_one_by_one_give_the_sentences_of_the_whole(mode: Mode, text: str) -> None:
    found = list(read_stream(text.splitlines(keepends=True), mode))
    whole = list(read_sentences(text, mode))
    assert [(one.offset, one.tokens) for one in found] == [(span.start, tokens) for span, tokens in whole]
    assert all(text[one.offset :].startswith(one.text) for one in found)


def lines_read_when_sentences_come(lines: list[str]) -> list[tuple[int, str]]:
    read = 0

    def reading() -> Iterator[str]:
        nonlocal read
        for line in lines:
            read += 1
            yield line

    return [(read, found.text) for found in read_stream(reading())]


def test_a_sentence_comes_when_its_end_is_certain() -> None:
    assert lines_read_when_sentences_come(LINES) == [
        (1, "One two."),
        (2, "Three\nfour goes on."),
        (3, "Five"),
        (5, "Six\nseven"),
    ]


def test_a_text_without_end_is_not_held_back() -> None:
    found = lines_read_when_sentences_come(["and so on\n"] * 10_000)
    assert found[0][0] < 1000
    assert sum(len(text.split()) for _, text in found) == 30_000


def test_the_parser_is_told_where_blanks_stood() -> None:
    (found,) = read_stream(['He said "no."'])
    assert found.sentence().words == ("He", "said", "``", "no", ".", "''")
    assert found.sentence().spaces == (True, True, False, False, False, True)
