"""What ``fencepost corpus`` costs beyond the parsing itself, in sentences per CPU-second.

    python -m benchmarks.corpus_rate --sentences 10000 --rounds 3

Each round measures these, one after the other, each in a process of its own:

    words         ``Parser.iter_parse`` over lists of words, without the start
    documents     ``Parser.pipe`` over the texts, without the start
    corpus        ``fencepost corpus --format parquet`` over the texts, with its start
    large parts   the same with parts of a megabyte
    words again

"Less start" leaves out the CPU time of the same command on one document. Documents have 20 of the built-in sentences,
with one new word in fifty. Ratios are to the mean of ``words`` and ``words again``.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from benchmarks.growth import built_in, write_documents

LARGE_PARTS = ("--part-bytes", "1000000")
IN_MEMORY = r"""
import json, sys, time
import fencepost
from fencepost.text import read_sentences
kind, path = sys.argv[1:]
with open(path, encoding="utf-8") as file:
    texts = [json.loads(line)["text"] for line in file]
words = [[token.text for token in tokens] for text in texts for _, tokens in read_sentences(text)]
parser = fencepost.load()
parser.parse(words[:1])
began = time.process_time()
for each in parser.iter_parse(words) if kind == "words" else parser.pipe(texts):
    pass
print(time.process_time() - began)
"""


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--sentences", type=int, default=10_000)
    reader.add_argument("--rounds", type=int, default=3)
    arguments = reader.parse_args()
    print("| round | words, before and after | documents | corpus | less start | large parts | less start |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        texts, one = Path(scratch, "texts.jsonl"), Path(scratch, "one.jsonl")
        count = write_documents(texts, built_in(), arguments.sentences)
        write_documents(one, built_in(), 20)
        for number in range(arguments.rounds):
            before = count / in_memory("words", texts)
            documents = count / in_memory("documents", texts)
            start = corpus(one)
            seconds = [corpus(texts), corpus(texts, LARGE_PARTS)]
            after = count / in_memory("words", texts)
            rates = [documents, *(count / spent for each in seconds for spent in (each, each - start))]
            cells = [f"{rate:.0f} ({rate / ((before + after) / 2):.2f})" for rate in rates]
            print(f"| {number + 1} | {before:.0f}, {after:.0f} |", " | ".join(cells), "|", flush=True)


def in_memory(kind: str, texts: Path) -> float:
    """CPU-seconds of parsing alone."""
    command = [sys.executable, "-c", IN_MEMORY, kind, str(texts)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def corpus(texts: Path, options: Sequence[str] = ()) -> float:
    """CPU-seconds of the whole command."""
    before = getrusage(RUSAGE_CHILDREN)
    with tempfile.TemporaryDirectory() as out:
        settings = ["--out", str(Path(out, "parts")), "--format", "parquet", "--workers", "1", *options]
        command = [sys.executable, "-m", "fencepost", "corpus", str(texts), *settings]
        subprocess.run(command, check=True, capture_output=True)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    main()
