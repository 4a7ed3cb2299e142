"""Text that took hours to split, or lost its place, in English and in other languages."""

from __future__ import annotations

import gc
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Final

import pytest
from benchmarks.attacks.splitting import LANGUAGES, require_whole

from fencepost.errors import LanguageWarning
from fencepost.text import read_stream
from fencepost.text.japanese import JapaneseTokenizer

SECONDS: Final = 60
MANY: Final = 15_000  # four times as many still fit into one piece of a stream
LONG: Final[dict[str, tuple[str, Callable[[int], str]]]] = {
    "signs before a sentence with initials": ("en", lambda many: "#" * many + " A. B. C." * (many // 9)),
    "signs before a sentence with brackets": ("en", lambda many: "#" * many + " (a. b) c" * (many // 9)),
    "signs before a sentence in lower case": ("fr", lambda many: "#" * many + " a. b" * (many // 5)),
    "blanks before a sentence with initials": ("is", lambda many: f"It is. {' ' * many}{'A. B. C.' * (many // 9)}"),
    "blanks before a list": ("en", lambda many: "It is. (" + " " * many + "\nb" + "a\n(1) " * (many // 6)),
    "blanks in quoted mail": ("en", lambda many: "a" + f"\n{' ' * (many // 9)}" * 9 + "> b"),
    "words in a greeting": ("en", lambda many: "Dear " + "a" * many + " b" * many + "\nA"),
    "a path without end": ("en", lambda many: " /a/" + "a." * many + " " + "/a" * many),
    "endings without g": ("en", lambda many: "singin' " * (many // 8)),
    "dashes before quotes": ("en", lambda many: '-" "' * (many // 4)),
    "small words without blanks": ("en", lambda many: "abc." * (many // 4)),
    "endings after hyphens": ("pt", lambda many: "a-se" + "-se" * many),
    "endings without hyphens": ("id", lambda many: "rumah" + "nya" * many),
    "letters without end": ("id", lambda many: "a" * many * 5),
    "elisions": ("fr", lambda many: "l'" * many),
    "groups of digits": ("fr", lambda many: "100 000 " * (many // 8)),
    "fixed expressions": ("fr", lambda many: "afin de " * (many // 8)),
}


@pytest.fixture(autouse=True)
def _no_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)
        yield


@pytest.mark.parametrize("name", LONG)
def test_time_grows_with_the_length_of_a_text(name: str) -> None:
    """A text of four times the length takes about four times as long; it took sixteen times."""
    language, text = LONG[name]
    assert seconds(text(4 * MANY), language) < 10 * seconds(text(MANY), language) + 0.1


def seconds(text: str, language: str) -> float:
    """The CPU time of the faster of two runs, because others use the machine, too."""
    took = []
    gc.disable()  # it looks at all tokens again and again
    try:
        for _ in range(2):
            began = time.process_time()
            sentences = list(read_stream([text], language=language))
            took.append(time.process_time() - began)
    finally:
        gc.enable()
    require_whole(text, sentences)
    return min(took)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize(
    "text",
    [
        "e\nNT. : i",
        ". " + "(" * 39 + "Difficult\n1. N",
        "Bk. »v",
        "Ll. »i",
        '. ”u "A."',
        "Mo.\n»a",
        "D. «b» c",
        "Ok! » Ada sagde",
        "A.” B",
    ],
)
def test_text_in_pieces_is_the_same_text(text: str, language: str) -> None:
    assert list(read_stream(text, language=language)) == list(read_stream([text], language=language))


class Analyser:
    """Reads "…" as three words of which two are empty, and refuses long texts, as SudachiPy does."""

    def __init__(self, **_: str) -> None: ...

    def tokenizer(self, mode: object) -> Analyser:
        return self

    def tokenize(self, text: str) -> list[Word]:
        assert len(text.replace("ﷺ", "صلى الله عليه وسلم").encode()) <= 65_535
        return [
            word
            for at, letter in enumerate(text)
            for word in ([Word(at, at + 1)] + [Word(at, at)] * 2 * (letter == "…"))
        ]


class Word:
    def __init__(self, begin: int, end: int) -> None:
        self._begin, self._end = begin, end

    def begin(self) -> int:
        return self._begin

    def end(self) -> int:
        return self._end

    def __len__(self) -> int:
        return self._end - self._begin

    def part_of_speech(self) -> tuple[str, ...]:
        return ("補助記号", "一般", "*", "*", "*", "*")


@pytest.mark.parametrize("text", ["…", "b.…", "待って……。", "ﷺ" * 12_000, "\0…\ud800"])
def test_words_without_letters_and_long_texts_of_a_japanese_analyser(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = SimpleNamespace(Dictionary=Analyser, SplitMode=SimpleNamespace(C="C"))
    monkeypatch.setitem(sys.modules, "sudachipy", module)
    tokens = JapaneseTokenizer(frozenset({("に", "つい", "て")}))(text)
    assert "".join(token.text for token in tokens) == text
    assert all(token.text and token.form for token in tokens)
