from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fencepost.text import Mode, read_sentences, split_sentences
from fencepost.text.sentences import LONGEST_SENTENCE

# Sentences are parted by | where they should be.
SPLITS = [
    "The cat sat.| It slept.",
    "One! |Two? |Three.",
    "no stop at all",
    "Mr. Smith met Dr. Jones.| They talked.",
    "He went to St. Louis with Gen. Grant.| It rained.",
    "J. R. R. Tolkien wrote it.",
    "She lives in the U.S. and works.",
    "She lives in the U.S.| She works.",
    "The U.S. Senate voted.",
    "Acme Corp. Chairman Ada Smith left.",
    "He joined Acme Corp.| The firm grew.",
    "We met at 5 p.m. Monday.",
    "We met at 5 p.m.| Then we left.",
    "See e.g. Smith, cf. Jones, i.e. nobody.",
    "It was No. 5.| No.| He said no.| Then he left.",
    "On Jan. 5 it rained, see Fig. 2.| Then it stopped.",
    "I met Al.| Mary left.",
    "Chen et al. (2003) and Wu et al. [12] agree.| Nobody else does.",
    "It cost 3.50 dollars.| Cheap.",
    "1. Go home.| 2. Sleep.",
    "a. First of all.| Second.",
    '"Go!" he said.| "Now."',
    'He said "Go."| He left.',
    "(It was late.)| We left.",
    "“Really?” she asked.| “Yes.”",
    "Wait... what?| Well... I left.| Hm...| Then nothing.",
    "He bought Yahoo! shares, and I like it? no.",
    "See http://example.com/a?b=c. |It works.",
    "Mail me at a.b@example.com. |Thanks.",
    "i went home. |it rained. |bye.",
    "The file is called a.txt or b.txt.| 3 files are there.",
    "我喜欢猫。|你呢？|好！",
    "שלום עולם. |מה שלומך?",
    "यह एक वाक्य है।| यह दूसरा है।",
    "Vitamin C.| The pill.",
    "He left.| (She stayed.)| They called.",
    "A heading\n\n|And a text.",
    "A line\nthat goes on.| Another.",
]


def sentences(text: str, mode: Mode = "text") -> list[str]:
    return [text[start:end] for start, end in split_sentences(text, mode)]


@pytest.mark.parametrize("marked", SPLITS)
def test_sentences_end_where_a_reader_would_say(marked: str) -> None:
    assert sentences(marked.replace("|", "")) == [part.strip() for part in marked.split("|")]


LINES = "One two. Three\nfour.\n\nFive.\n"


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("text", ["One two.", "Three\nfour.", "Five."]),
        ("paragraph", ["One two.", "Three", "four.", "Five."]),
        ("line", ["One two. Three", "four.", "Five."]),
    ],
)
def test_line_ends_mean_what_the_mode_says(mode: Mode, expected: list[str]) -> None:
    assert sentences(LINES, mode) == expected


def test_nothing_but_blanks_has_no_sentence() -> None:
    assert sentences(" \n\t\n ") == []


@given(
    st.one_of(st.text(st.characters(categories=None)), st.text(st.sampled_from("aB .\n。!?\"'(\u00a01"))),
    st.sampled_from(["text", "paragraph", "line"]),
)
def test_sentences_come_in_order_and_only_blanks_are_outside(text: str, mode: Mode) -> None:
    done = 0
    for start, end in split_sentences(text, mode):
        assert not text[done:start].strip()
        assert text[start:end] == text[start:end].strip() != ""
        done = end
    assert not text[done:].strip()


@given(st.text(st.sampled_from("aB .\n。!?\"'(,;"), max_size=3000))
def test_tokens_count_from_the_start_of_their_sentence(text: str) -> None:
    found = ""
    for span, tokens in read_sentences(text):
        assert [text[span.start + token.start : span.start + token.end] for token in tokens] == [t.text for t in tokens]
        assert tokens[0].start == 0
        found += "".join(token.text for token in tokens)
    assert found == "".join(text.split())


def test_a_sentence_without_end_is_cut_after_a_comma() -> None:
    text = "word " * 300 + "comma, " + "word " * 700
    sizes = [len(tokens) for _, tokens in read_sentences(text)]
    assert sizes[0] == 302
    assert sum(sizes) == 1002
    assert max(sizes) <= LONGEST_SENTENCE


@pytest.mark.parametrize(
    "piece",
    ["a", ".", ". ", "A. ", "\n", " \n", "a\n", "Mr. ", '." ', "... ", "a! (b ", '!" Ada ', "• a ", "1. a\n", "A\n"],
)
def test_long_text_takes_little_time(piece: str) -> None:
    begun = time.process_time()
    split_sentences(piece * (100_000 // len(piece)))
    assert time.process_time() - begun < 10  # 25 times what it takes; the square of the length would take minutes
