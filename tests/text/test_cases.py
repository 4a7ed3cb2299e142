"""The table in cases.toml: where its texts are split, and that no character is lost or moved."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import pytest

from fencepost.text import Mode, TextSentence, read_sentences, read_stream, split_sentences, tokenize

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

THEMES: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("cases.toml").read_text("utf-8"))
MARK: Final = "¦"
SENTENCES: Final[list[tuple[str, str]]] = [(name, text) for name in THEMES for text in THEMES[name]["sentences"]]
TOKENS: Final[list[tuple[str, str, str]]] = [
    (name, *pair) for name in THEMES for pair in THEMES[name].get("tokens", [])
]
TEXTS: Final = [text.replace(MARK, "") for _, text in SENTENCES] + [text for _, text, _ in TOKENS]
TOGETHER: Final = [" ".join(TEXTS), "\n".join(TEXTS), "\n\n".join(TEXTS)]
MODES: Final[tuple[Mode, ...]] = ("text", "paragraph", "line")


def test_the_table_is_long_and_has_no_case_twice() -> None:
    assert len(SENTENCES) >= 220
    assert len(TOKENS) >= 90
    assert len(set(TEXTS)) == len(TEXTS)


@pytest.mark.parametrize(("theme", "marked"), SENTENCES)
def test_sentences_of_the_table(theme: str, marked: str) -> None:
    text = marked.replace(MARK, "")
    expected = [part.strip() for part in marked.split(MARK)]
    assert [text[start:end] for start, end in split_sentences(text)] == expected, theme


@pytest.mark.parametrize(("theme", "sentence", "tokens"), TOKENS)
def test_tokens_of_the_table(theme: str, sentence: str, tokens: str) -> None:
    assert [token.text for token in tokenize(sentence)] == tokens.split(), theme


def whole(text: str, mode: Mode) -> list[TextSentence]:
    return [TextSentence(text[span.start : span.end], span.start, found) for span, found in read_sentences(text, mode)]


@pytest.mark.parametrize("mode", MODES)
def test_every_character_is_in_one_token_at_its_own_place(mode: Mode) -> None:
    for text in TEXTS + TOGETHER:
        places: list[int] = []
        for sentence in whole(text, mode):
            for token in sentence.tokens:
                start, end = sentence.offset + token.start, sentence.offset + token.end
                assert text[start:end] == token.text
                places += range(start, end)
        assert places == [place for place, character in enumerate(text) if not character.isspace()]


@pytest.mark.parametrize("mode", MODES)
def test_two_pieces_give_the_sentences_of_the_whole_wherever_they_meet(mode: Mode) -> None:
    for text in TEXTS:
        expected = whole(text, mode)
        for cut in range(len(text) + 1):
            assert list(read_stream([text[:cut], text[cut:]], mode)) == expected, (text, cut)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 50])
def test_pieces_of_one_size_give_the_sentences_of_the_whole(mode: Mode, size: int) -> None:
    for text in TOGETHER if size > 1 else TEXTS:
        pieces = [text[start : start + size] for start in range(0, len(text), size)]
        assert list(read_stream(pieces, mode)) == whole(text, mode)
