from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.errors import UsageError
from fencepost.text import Mode, read_sentences, read_stream

LINES = ["One two. Three\n", "four goes on. Five\n", "\n", "Six\n", "seven"]


@pytest.mark.parametrize("mode", ["text", "paragraph", "line"])
@given(st.text(st.sampled_from("aB .\n。!?,"), max_size=200))
def test_lines_one_by_one_give_the_sentences_of_the_whole(mode: Mode, text: str) -> None:
    found = list(read_stream(text.splitlines(keepends=True), mode))
    whole = list(read_sentences(text, mode))
    assert [(one.offset, one.tokens) for one in found] == [(span.start, tokens) for span, tokens in whole]
    assert all(text[one.offset :].startswith(one.text) for one in found)


PARTS = ["One", "two", "i", "I", "It", "U.S.", "Mr.", "No.", "5", "et al.", "...", ".", "!", "。", '"', "(", "- ", ")"]
PARTS += [
    '!"',
    "Ada",
    "cried",
    "said",
    "p.m.",
    "At",
    ":",
    ":)",
    "😀",
    "\u200d",
    "[17]",
    "[...]",
    "•",
    "1.",
    "2)",
    "(b)",
    "|",
    ">",
]
PARTS += ["HEAD", "To:", "A.", "#", "---", "2.1", "Inc."]
BLANKS = [" ", " ", " ", "\n", "\n\n", "\n \n", "\t", "  ", ""]


@st.composite
def cut_texts(draw: st.DrawFn) -> list[str]:
    """A text in pieces that end anywhere, within a word, too."""
    parts = draw(st.lists(st.tuples(st.sampled_from(PARTS), st.sampled_from(BLANKS)), max_size=40))
    text = "".join(part + blank for part, blank in parts)
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=30)))
    return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]


@pytest.mark.parametrize("mode", ["text", "paragraph", "line"])
@given(cut_texts())
def test_a_text_cut_anywhere_gives_the_sentences_of_the_whole(mode: Mode, pieces: list[str]) -> None:
    found = list(read_stream(pieces, mode))
    whole = list(read_sentences("".join(pieces), mode))
    assert [(one.offset, one.tokens) for one in found] == [(span.start, tokens) for span, tokens in whole]


def test_a_piece_of_blanks_alone_ends_no_sentence() -> None:
    assert [one.text for one in read_stream(["The cat", " ", "sat", "\n", "down."])] == ["The cat sat\ndown."]


def test_a_long_line_of_many_sentences_leaves_the_last_one_open() -> None:
    lines = ["It slept. " * 900 + "The old grey cat\n", "sat on the mat.\n"]
    assert [one.text for one in read_stream(lines)][-2:] == ["It slept.", "The old grey cat\nsat on the mat."]


def test_a_sentence_without_end_is_cut_between_words() -> None:
    text = "and so on " * 2000
    words = [word for one in read_stream(text) for word in one.sentence().words]
    assert words == text.split()


def test_lines_that_are_sentences_come_at_once() -> None:
    lines = iter(["A heading\n", "Another\n"])
    assert next(read_stream(lines, "line")).text == "A heading"
    assert list(lines) == ["Another\n"]


def test_an_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="mode can't be 'lines'"):
        list(read_stream(["One."], "lines"))  # type: ignore[arg-type]


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


def test_an_item_of_a_list_comes_when_the_next_one_begins() -> None:
    lines = ["- milk\n", "- eggs\n", "and bread\n", "- butter\n"]
    assert lines_read_when_sentences_come(lines) == [(2, "- milk"), (4, "- eggs\nand bread"), (4, "- butter")]


def test_a_text_without_end_is_not_held_back() -> None:
    found = lines_read_when_sentences_come(["and so on\n"] * 10_000)
    assert found[0][0] < 1000
    assert sum(len(text.split()) for _, text in found) == 30_000


def test_the_parser_is_told_where_blanks_stood() -> None:
    (found,) = read_stream(['He said "no."'])
    assert found.sentence().words == ("He", "said", "``", "no", ".", "''")
    assert found.sentence().spaces == (True, True, False, False, False, True)


@pytest.mark.parametrize(("mode", "end"), [("text", ["\n"]), ("paragraph", []), ("line", [])])
def test_a_long_sentence_with_stops_inside_comes_when_its_end_is_there(mode: Mode, end: list[str]) -> None:
    line = "in no. 3.1 of the list e.g. " * 30
    lines = [f"{line}\n", *end] if mode != "text" else [f"{word} " for word in line.split()] + ["\n", *end]
    reading = read_stream(chain(lines, iter(lambda: pytest.fail("asked for more"), None)), mode)
    assert next(reading).text.startswith("in no. 3.1")
