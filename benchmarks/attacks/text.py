"""Any text gives a tree for each of its sentences, with its own words: through Python, the command and spaCy."""

from __future__ import annotations

import io
import json
import random
import subprocess
import sys
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Final
from zlib import crc32

from fencepost.parsing.documents import Document
from fencepost.parsing.timing import bench_sentences
from fencepost.text.stream import read_stream
from fencepost.trees.tree import Tree, real_words

WAYS: Final = ("api", "pipe", "command", "process", "spacy")
TOGETHER: Final = 50  # texts of a case through ``pipe``
COMMANDS: Final[tuple[tuple[str, ...], ...]] = (
    (),
    ("--lines",),
    ("--tokenized",),
    ("--format", "json"),
    ("--format", "json", "--probabilities"),
    ("--format", "json", "--kbest", "2"),
    ("--format", "pretty"),
    ("--format", "svg"),
    ("--format", "html"),
)
WORDS: Final = sorted({word for sentence in bench_sentences() for word in sentence})
ODD: Final = [
    *(
        " ",
        "\n",
        "\n\n",
        "\t",
        "\r\n",
        "\0",
        "\x1b[31m",
        "\x7f",
        "\x85",
        "\xa0",
        "\u200b",
        "\u202e",
        "\u2028",
        "\ufeff",
    ),
    *(
        "(",
        ")",
        "((",
        "))",
        "-LRB-",
        "-RRB-",
        "{",
        "}",
        "[",
        "]",
        '"',
        "''",
        "``",
        "'",
        "’",
        "“",
        "…",
        "...",
        ". . .",
        "—",
    ),
    *("Mr.", "U.S.", "e.g.", "p.m.", "No. 5", "3.14", "1,000", "$5", "50%", "a/b", "can't", "gonna", "o'clock", "'tis"),
    *("http://a.b/c?d=e#f", "a@b.c", "#tag", "@name", "C++", ":-)", "👩‍👩‍👧", "🏳️‍🌈", "é", "e\u0301", "ﬁ", "İ", "ß"),
    *(
        "猫",
        "。",
        "שלום",
        "مرحبا",
        "हिन्दी",
        "ไทย",
        "𝔘",
        "\U000e0001",
        "\ud800",
        "\udfff",
        "x" * 300,
        "." * 50,
        "(" * 40,
    ),
]


class Text:
    """Each case is one text. ``model`` is a model, or ``random`` for a small and fast one with random weights."""

    def __init__(self, model: str, through: str) -> None:
        self.name = f"text, {through}"
        self.model, self.through = model, through
        self.last_input: bytes | None = None

    def prepare(self, folder: Path) -> None:
        from fencepost.parsing import load as loading

        self.path = folder / "text.txt"
        if self.model == "random":
            write_random(folder / "model")
            self.model = str(folder / "model")
        loading.load = lru_cache(loading.load)  # the command would load it for every case
        self.parser = loading.load(self.model)
        self.nlp: Any = None
        if self.through == "spacy":
            import spacy

            self.nlp = spacy.blank("en")
            self.nlp.add_pipe("fencepost", config={"model": self.model})

    def case(self, generator: random.Random) -> str:
        if self.through == "pipe":
            return self.replay(json.dumps([_text(generator) for _ in range(TOGETHER)]).encode())
        return self.replay(_text(generator).encode("utf-8", "surrogatepass"))

    def replay(self, content: bytes) -> str:
        self.last_input = content
        if self.through == "pipe":
            return self._pipe(json.loads(content))
        text = content.decode("utf-8", "surrogatepass")
        match self.through:
            case "api":
                return self._api(text, crc32(content))
            case "command":
                return self._command(text, COMMANDS[crc32(content) % len(COMMANDS)])
            case "process":
                return self._process(text, COMMANDS[crc32(content) % len(COMMANDS)])
            case _:
                return self._spacy(text)

    def _api(self, text: str, choice: int) -> str:
        """The trees have the words of the text, sentence by sentence."""
        sentences = [each.sentence().words for each in read_stream([text])]
        expected = [real_words(words) for words in sentences]
        trees: Sequence[Tree]
        match choice % 8:
            case 0:
                document = self.parser.parse_document(text)
                for sentence in document.sentences:
                    assert document.text[sentence.start : sentence.end] == sentence.text
                assert Document.from_dict(document.to_dict()) == document
                trees = document.trees
            case 1:
                trees = [self.parser.analyze(words, 2).tree for words in sentences]
            case 2:
                trees = list(self.parser.iter_parse_text([text[:9], "", text[9:]]))
            case _:
                trees = self.parser.parse_text(text)
        assert [tuple(tree.words()) for tree in trees] == expected
        return "trees" if expected else "no sentence"

    def _pipe(self, texts: list[str]) -> str:
        """Many texts in one call, which share batches."""
        for text, document in zip(texts, self.parser.pipe(texts), strict=True):
            assert document.text == text
            expected = [real_words(each.sentence().words) for each in read_stream([text])]
            assert [tuple(tree.words()) for tree in document.trees] == expected
            for sentence in document.sentences:
                assert text[sentence.start : sentence.end] == sentence.text
        return f"{TOGETHER} texts"

    def _command(self, text: str, options: tuple[str, ...]) -> str:
        from fencepost.cli.main import main

        self.path.write_bytes(text.encode("utf-8", "replace"))
        before, sys.stdout = sys.stdout, io.StringIO()
        try:
            status = main(["parse", "--model", self.model, "--workers", "1", *options, str(self.path)])
            out = sys.stdout.getvalue()
        finally:
            sys.stdout = before
        return _checked_output(status, out, options)

    def _process(self, text: str, options: tuple[str, ...]) -> str:
        """A new process, which reads the text from a pipe."""
        command = [sys.executable, "-m", "fencepost", "parse", "--model", self.model, "--workers", "1", *options]
        ended = subprocess.run(command, input=text.encode("utf-8", "surrogatepass"), capture_output=True)
        said = ended.stderr.decode("utf-8", "replace")
        assert "Traceback" not in said, said
        return _checked_output(ended.returncode, ended.stdout.decode("utf-8"), options)

    def _spacy(self, text: str) -> str:
        doc = self.nlp(text.encode("utf-8", "replace").decode("utf-8"))
        for sentence in doc.sents:
            words = [token for token in sentence if not token.is_space]
            if words:
                assert len(Tree.from_string(sentence._.parse_string).words()) == len(words)
        return "trees" if len(doc) else "no sentence"


def write_random(folder: Path) -> None:
    """An exported model that is small enough for a million texts."""
    import torch
    from tests.samples import TREES, tiny_config

    from fencepost.backends.torch import vocab_sizes
    from fencepost.export.onnx import onnx_graphs
    from fencepost.features.vocabularies import Vocabularies
    from fencepost.model.build import build_model
    from fencepost.storage.model_writer import write_model

    torch.manual_seed(0)
    config = tiny_config()
    vocabularies = Vocabularies.of(TREES, config)
    model = build_model(config, vocab_sizes(vocabularies)).eval()
    write_model(folder, config, vocabularies, "# Random weights\n", onnx_graphs(model, config, "int8"))


def _checked_output(status: int, out: str, options: tuple[str, ...]) -> str:
    """Status 0, and output that can be read again. Status 1 says that a line was left out; it names the line."""
    assert status in (0, 1), status
    if "json" in options:
        for line in out.split("\n")[:-1]:
            assert isinstance(json.loads(line), dict)
    elif not options or options[0] in ("--lines", "--tokenized"):
        for line in out.split("\n"):
            assert not line or Tree.from_string(line)
    return f"{' '.join(options) or 'brackets'}: {status}"


def random_characters(generator: random.Random) -> str:
    return "".join(chr(generator.randrange(0x11_0000)) for _ in range(generator.randint(1, 8)))


def _text(generator: random.Random) -> str:
    parts: list[str] = []
    for _ in range(generator.choice((1, 3, 10, 40))):
        kind = generator.random()
        if kind < 0.6:
            parts.append(generator.choice(WORDS))
        elif kind < 0.9:
            parts.append(generator.choice(ODD))
        else:
            parts.append(random_characters(generator))
        parts.append(generator.choice((" ", " ", " ", "", "\n")))
    text = "".join(parts)
    for _ in range(generator.choice((0, 0, 2))):  # cut, repeat or swap a piece
        first, last = sorted(generator.randrange(len(text) + 1) for _ in range(2))
        text = generator.choice((text[:first] + text[last:], text[:last] + text[first:last] + text[last:], text[::-1]))
    return text[:5000]
