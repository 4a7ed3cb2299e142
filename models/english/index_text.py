"""Reads raw text, one sentence per line, into a corpus on disk: tokens, sub-tokens and distinct words.

    python models/english/index_text.py TEXT.txt.gz … --encoder ENCODER --out CORPUS [--processes 8] [--first N]

Every line is one sentence, even if it has several full stops. CORPUS/sources.json has the number of sentences of each
file.
"""

from __future__ import annotations

import argparse
import gzip
import json
from collections.abc import Iterator
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import Final

from corpus import Corpus

from fencepost.config.settings import Config
from fencepost.features.pretrained_files import PretrainedFiles
from fencepost.features.subwords import Subwords
from fencepost.text import TextSentence, tokenize
from fencepost.trees.treebank import Sentence

SOURCES: Final = "sources.json"
CHUNK: Final = 10_000  # lines per piece of work
LONGEST: Final = 80  # words; longer lines are left out
MOST_PIECES: Final = 200  # sub-tokens; longer lines are left out


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("texts", type=Path, nargs="+")
    options.add_argument("--encoder", required=True, help="its tokenizer cuts words into sub-tokens")
    options.add_argument("--out", type=Path, required=True)
    options.add_argument("--processes", type=int, default=1)
    options.add_argument("--first", type=int, help="read only the first FIRST lines of each file")
    options.add_argument("--words", default="mean", help="pretrained.words of the models that will read the corpus")
    arguments = options.parse_args()
    overrides = [f"pretrained.model={arguments.encoder}", f"pretrained.words={arguments.words}"]
    config = Config.load("pretrained", overrides)
    files = PretrainedFiles.of(arguments.encoder)
    sources: dict[str, int] = {}
    parts = []
    with get_context("fork").Pool(arguments.processes, _start, (config, files)) as pool:
        for path in arguments.texts:
            found = pool.map(_read, list(_chunks(path, arguments.first)), chunksize=1)
            sources[path.name.partition(".")[0]] = sum(map(len, found))
            parts += found
            print(path.name, f"{sum(map(len, found)):,} sentences", flush=True)
    Corpus.joined(parts).save(arguments.out)
    (arguments.out / SOURCES).write_text(json.dumps(sources) + "\n")


def _chunks(path: Path, first: int | None) -> Iterator[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
        lines = islice((line.strip() for line in file if line.strip()), first)
        while chunk := list(islice(lines, CHUNK)):
            yield chunk


_reader: Subwords


def _start(config: Config, files: PretrainedFiles) -> None:
    global _reader
    _reader = Subwords(config, files)


def _read(lines: list[str]) -> Corpus:
    kept = (sentence for line in lines if 0 < len((sentence := sentence_of(line)).words) <= LONGEST)
    return Corpus.of((s for s in kept if len(_reader.read(s).ids) <= MOST_PIECES), _reader)


def sentence_of(line: str) -> Sentence:
    """A line as one sentence."""
    return TextSentence(line, 0, tokenize(line)).sentence()


if __name__ == "__main__":
    main()
