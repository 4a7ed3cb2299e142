"""Any text in any language becomes sentences and tokens that leave nothing out, in time that grows with its length."""

from __future__ import annotations

import json
import random
import re
import time
import warnings
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.attacks.harness import LIMIT, Generator
from benchmarks.attacks.text import ODD, WORDS, random_characters

from fencepost.errors import LanguageWarning
from fencepost.text import Mode, TextSentence, read_sentences, read_stream
from fencepost.text.sentences import LONGEST_SENTENCE
from fencepost.trees.tree import NOT_TEXT, Leaf, Tree

_FILES: Final = resources.files("fencepost.text").joinpath("by_language")
LANGUAGES: Final = [
    "en",
    *sorted(
        name
        for name in (path.name.removesuffix(".toml") for path in _FILES.iterdir() if path.name.endswith(".toml"))
        if name != "ja" or find_spec("sudachipy")  # the analyser of Japanese is an extra
    ),
]
MODES: Final[tuple[Mode, ...]] = ("paragraph", "line")
LONG: Final = 200_000  # characters
EVERY: Final = 5_000  # one case in so many is long
SHORT: Final = 1_000  # characters of a text that is also read in pieces
GLUE: Final = (" ", " ", " ", " ", "", "", "-", "'", "’", ".", ", ", ". ", "\n", "\u00a0", "…", "; ")
SIGNS: Final = [*"«»“”„‘’‚\"'()[]{}<>-–—/\\.,;:!?…¿¡&%°$€§*+=_#@|~^0123456789", "。", "、", "「", "」", "・", "ー"]
MADE_OF: Final = re.compile(r"[^\s\"#=\[\]{},|]+")  # the words in the lists of a language


class Splitting:
    """Each case is a text for one language; they take turns. ``size``: the length of a long text."""

    name = "splitting"
    limit = 60  # by the clock, which passes fast on a busy machine

    def __init__(self, size: int = LONG, every: int = EVERY) -> None:
        self.size, self.every = size, every
        self.last_input: bytes | None = None
        self._words = {name: _words(name) for name in LANGUAGES}

    def prepare(self, folder: Path) -> None:
        warnings.simplefilter("ignore", LanguageWarning)

    def case(self, generator: Generator) -> str:
        language = LANGUAGES[generator.number % len(LANGUAGES)]
        words = self._words[language]
        if generator.randrange(self.every) == 0:
            text = _long(generator, words, self.size)
        else:
            text = _text(generator, words, generator.choice((1, 3, 5, 15)))
        return self.replay(json.dumps([language, text]).encode())

    def replay(self, content: bytes) -> str:
        self.last_input = content
        language, text = map(str, json.loads(content))
        began = time.process_time()
        sentences = list(read_stream([text], language=language))
        assert time.process_time() - began < LIMIT
        require_whole(text, sentences)
        if len(text) % 4 == 0 and len(text) <= SHORT:
            pieces = re.findall(rf"(?s).{{1,{1 + len(text) % 7}}}", text)
            assert list(read_stream(pieces, language=language)) == sentences
            for mode in MODES:
                found = read_sentences(text, mode, language)
                require_whole(text, [TextSentence(text[a:b], a, tokens) for (a, b), tokens in found])
        return language


def require_whole(text: str, sentences: list[TextSentence]) -> None:
    """Every character but whitespace is in one token, whose offsets are right and whose form a tree can have."""
    end = 0
    for sentence in sentences:
        assert 0 < len(sentence.tokens) <= LONGEST_SENTENCE
        assert text[sentence.offset : sentence.offset + len(sentence.text)] == sentence.text
        for token in sentence.tokens:
            start = sentence.offset + token.start
            assert not text[end:start].strip(), (end, start)
            assert start >= end
            end = sentence.offset + token.end
            assert text[start:end] == token.text == token.text.strip() != ""
            assert token.form
            assert not NOT_TEXT.search(token.form)
            assert token.form.split() == [token.form]
        assert end == sentence.offset + len(sentence.text)
    assert not text[end:].strip()
    for sentence in sentences[:1]:
        leaves = [Leaf("X", token.form) for token in sentence.tokens]
        assert Tree.from_string(str(Tree("TOP", leaves))).words() == [leaf.word for leaf in leaves]


def _words(language: str) -> list[str]:
    """The words that the rules of a language name, and English ones."""
    path = _FILES.joinpath(f"{language}.toml")
    lists = path.read_text("utf-8") if path.is_file() else ""
    return sorted({*MADE_OF.findall(lists), *WORDS[:200]})


def _text(generator: random.Random, words: list[str], length: int) -> str:
    parts: list[str] = []
    for _ in range(length):
        kind = generator.random()
        if kind < 0.5:
            word = generator.choice(words)
            parts.append(generator.choice((word, word, word.capitalize(), word.upper())))
        elif kind < 0.75:
            parts.append(generator.choice(SIGNS) * generator.choice((1, 1, 1, 2, 3)))
        elif kind < 0.95:
            parts.append(generator.choice(ODD))
        else:
            parts.append(random_characters(generator))
        parts.append(generator.choice(GLUE))
    return "".join(parts)


def _long(generator: random.Random, words: list[str], size: int) -> str:
    """A few runs of the same short piece over and over, on which a careless pattern takes for ever."""
    runs = generator.choice((1, 1, 2, 3))
    pieces = [_text(generator, words, generator.choice((1, 1, 2, 4))) for _ in range(runs)]
    return "".join(piece * (size // runs // len(piece)) for piece in pieces if piece)
