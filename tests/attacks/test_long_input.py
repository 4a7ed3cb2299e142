"""Input without end: one line of 50 MB, sentences of thousands of words, and small files that unpack to giant ones."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest

from fencepost.cli.main import main
from fencepost.cli.parse_input import Source
from fencepost.errors import EncodingError, InputError
from fencepost.parsing.load import load
from fencepost.storage import text_reader
from fencepost.storage.text_reader import read_lines
from fencepost.text import lines
from fencepost.text.sentences import MOST_WORDS
from fencepost.text.stream import read_stream
from fencepost.trees.treebank import Treebank

SECONDS = 60
# The most memory of a process in MB. (getrusage would count the process that started it.)
PEAK = r"int(re.search(r'VmHWM:\s+(\d+)', Path('/proc/self/status').read_text())[1]) // 1024"
LENGTH = f"{MOST_WORDS + 1:,} words; at most {MOST_WORDS:,} can be parsed"


def test_running_text_of_50_mb_without_a_line_end_is_read_in_pieces(tmp_path: Path) -> None:
    """In a process of its own, whose memory is measured."""
    with (tmp_path / "long.txt").open("w", encoding="utf-8") as file:
        for _ in range(630):
            file.write(("C" + "ä" * 2_000 + "ts sleep—here. ") * 20)
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from fencepost.cli.parse_input import Source\n"
        "source = Source([Path(sys.argv[1])], 'text')\n"
        "items = sum(item.problem is None and not item.text_problems for item in source.items())\n"
        f"print(items, source.bytes_read, {PEAK})\n"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "long.txt")]
    sentences, size, megabytes = map(int, subprocess.check_output(command).split())
    assert (sentences, size) == (630 * 20, (tmp_path / "long.txt").stat().st_size)
    assert megabytes < 200


@pytest.mark.parametrize("reading", ["text", "paragraph"])
def test_a_long_line_is_the_same_text_in_pieces(tmp_path: Path, reading: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Ein Bär — 熊 🐻 — schläft. " * 20 + "\nDer nächste schläft nicht.\n"
    (tmp_path / "text.txt").write_text(text, "utf-8")

    def read() -> list[tuple[str, int]]:
        items = Source([tmp_path / "text.txt"], reading).items()  # type: ignore[arg-type]
        return [(item.text_sentence.text, item.text_sentence.offset) for item in items]

    whole = read()
    for size in range(4, 40):
        monkeypatch.setattr(lines, "_PIECE", size)
        assert read() == whole


@pytest.mark.parametrize("text", ["a " * 80_000, "ab," * 60_000], ids=["words", "commas"])
def test_a_long_text_in_one_piece_takes_no_more_memory_than_in_pieces(text: str) -> None:
    tracemalloc.start()
    read = [sentence.text for sentence in read_stream([text])]
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 18 * 2**20  # in one go it takes 22 or 36
    assert "".join(read).replace(" ", "") == text.replace(" ", "")


def test_bad_bytes_in_a_long_line_are_reported_once_each_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_PIECE", 16)
    (tmp_path / "text.txt").write_bytes(b"A cat sleeps here now. " * 3 + b"\xff bad \xfe bytes\nGood.\nBad \xff.\n")
    source = Source([tmp_path / "text.txt"], "text")
    found = [problem for item in source.items() for problem in item.text_problems] + source.text_problems
    assert [each.removeprefix(str(tmp_path)) for each in found] == [
        "/text.txt:1: not UTF-8: byte 0xff at column 70",
        "/text.txt:3: not UTF-8: byte 0xff at column 5",
    ]


def test_a_line_that_must_stay_whole_may_not_be_too_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "_LONGEST_LINE", 32)
    (tmp_path / "text.txt").write_bytes(b"a " * 100 + b"\nA cat .\n")
    first, second = Source([tmp_path / "text.txt"], "tokenized").items()
    assert (first.problem or "").endswith("text.txt:1: the line is longer than 16 MB")
    assert second.parsable


def test_every_way_to_parse_has_the_same_longest_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["a"] * (MOST_WORDS + 1)
    parser = load()
    for parse in (
        lambda: parser.parse([["It"], words]),
        lambda: list(parser.iter_parse([["It"], words])),
        lambda: list(parser.iter_analyze([["It"], words])),
        lambda: parser.span_scores([["It"], words]),
    ):
        with pytest.raises(InputError, match=f"sentence 2 has {LENGTH}"):
            parse()
    with pytest.raises(InputError, match=f"sentence 1 has {LENGTH}"):
        parser.analyze(" ".join(words))
    (tmp_path / "long.txt").write_text("It works .\n" + " ".join(words) + "\n")
    assert main(["parse", "--tokenized", str(tmp_path / "long.txt")]) == 0
    assert f"long.txt:2: the sentence has {LENGTH}" in capsys.readouterr().err
    (tmp_path / "gold.txt").write_text("(TOP (X It))\n(TOP " + "(X a) " * len(words) + ")\n")
    assert main(["evaluate", "en", str(tmp_path / "gold.txt")]) == 2
    assert f"sentence 2 has {LENGTH}" in capsys.readouterr().err


@pytest.mark.extras
def test_spacy_has_the_same_longest_sentence() -> None:
    import spacy
    from spacy.tokens import Doc

    from fencepost.integrations.spacy import FencepostComponent

    nlp = spacy.blank("en")
    starts: list[bool | int | None] = [True, *[False] * MOST_WORDS]
    doc = Doc(nlp.vocab, words=["a"] * (MOST_WORDS + 1), sent_starts=starts)
    with pytest.warns(UserWarning, match=f"a sentence has {LENGTH}, and gets a flat tree"):
        FencepostComponent()(doc)


def bomb(path: Path, line: bytes, megabytes: int) -> Path:
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(megabytes):
            file.write(line * (2**20 // len(line)))
    return path


def test_a_gzip_bomb_is_refused_before_it_fills_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(text_reader, "UNPACKED", 2**16)
    trees = bomb(tmp_path / "trees.gz", b"(TOP (X a))\n", 8)
    with pytest.raises(EncodingError, match=r"trees\.gz: unpacks to more than 100 times its size"):
        Treebank.load(trees)
    text = bomb(tmp_path / "text.gz", b" \n", 8)
    assert main(["parse", str(text)]) == 2
    assert "gunzip" in capsys.readouterr().err


def test_a_file_that_shrinks_a_lot_is_no_bomb(tmp_path: Path) -> None:
    path = bomb(tmp_path / "lines.gz", b"The same line again.\n", 8)
    assert sum(1 for _ in read_lines(path)) == 8 * (2**20 // 21)


def test_unpacking_stays_in_bounded_memory(tmp_path: Path) -> None:
    """A line of 200 MB comes in pieces."""
    path = bomb(tmp_path / "line.gz", b"a", 200)
    program = (
        "import re, sys\n"
        "from pathlib import Path\n"
        "from fencepost.storage.text_reader import read_lines\n"
        "assert sum(len(line.text) for line in read_lines(sys.argv[1])) == 200 * 2**20\n"
        f"print({PEAK})\n"
    )
    assert int(subprocess.check_output([sys.executable, "-c", program, str(path)])) < 150
