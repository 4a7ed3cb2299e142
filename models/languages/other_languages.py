"""Measures the warning about text that isn't in the model's language: false alarms and misses.

    python models/languages/other_languages.py --treebanks DIR --english DIR [--part test] [--show N]

A text is a few sentences in a row. Each has a watch of its own, as if nothing else were parsed. --english has text
files with one sentence per line and an empty line between documents. --show prints the first N false alarms of each
row. The everyday sentences are those of tests/text/everyday.toml, with accents and without.
"""

from __future__ import annotations

import argparse
import gzip
import sys
import time
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from split_languages import FOLDERS, read, row

from fencepost.text.other_language import LanguageWatch
from fencepost.text.stream import read_stream

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Sentence: TypeAlias = list[str]
ENGLISH: Final = ("en/craft", "en/gum", "en/masc", "en/wsj-sample")
OTHERS: Final = {**FOLDERS, "he": "he/htb", "zh": "zh/sinica-sample"}
EVERYDAY: Final = Path(__file__).parents[2] / "tests/text/everyday.toml"
FALSE_ALARMS: Final = 3  # sentences of a text
LENGTHS: Final = (1, 2, 3, 5)
MOST: Final = 3_000  # texts of a file


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--english", type=Path, required=True)
    options.add_argument("--part", default="test")
    options.add_argument("--show", type=int, default=0, metavar="N")
    arguments = options.parse_args()
    treebanks = {name: words(arguments.treebanks / folder, arguments.part) for name, folder in OTHERS.items()}
    print_false_alarms(arguments, treebanks)
    print_misses(treebanks)
    print_pairs(treebanks)


def print_false_alarms(arguments: argparse.Namespace, treebanks: dict[str, list[list[Sentence]]]) -> None:
    print(row(["text", "model", f"texts of {FALSE_ALARMS} sentences", "false alarms", "named", "µs per sentence"]))
    print(row(["---"] * 6))
    for path in sorted(arguments.english.glob("*.txt*")):
        print_row(path.name.partition(".")[0], "en", lines(path), arguments.show)
    for folder in ENGLISH:
        documents = [each for part in ("train", "dev", "test") for each in words(arguments.treebanks / folder, part)]
        print_row(folder, "en", documents, arguments.show)
    for name, documents in treebanks.items():
        print_row(OTHERS[name], name, documents, arguments.show)


def print_row(text: str, model: str, documents: Sequence[Sequence[Sentence]], show: int) -> None:
    texts = list(pieces(documents, FALSE_ALARMS, FALSE_ALARMS))[
        :: 1 + sum(map(len, documents)) // (FALSE_ALARMS * MOST)
    ]
    began = time.process_time()
    found = [noticed(model, each) for each in texts]
    micros = (time.process_time() - began) / max(len(texts) * FALSE_ALARMS, 1) * 1e6
    named = Counter(name for name in found if name)
    shown = ", ".join(f"{name} {count}" for name, count in named.most_common(4))
    print(row([text, model, f"{len(texts):,}", f"{named.total():,}", shown, f"{micros:.1f}"]), flush=True)
    for name, each in [(name, each) for name, each in zip(found, texts, strict=True) if name][:show]:
        print(f"    {name}: {' / '.join(' '.join(sentence) for sentence in each)}")


def print_misses(treebanks: dict[str, list[list[Sentence]]]) -> None:
    everyday = {code: sentences for code, sentences in everyday_sentences().items() if code != "en"}
    sources = {f"{code}, everyday": (code, [sentences]) for code, sentences in everyday.items()}
    plain = {code: [[without_accents(word) for word in each] for each in texts] for code, texts in everyday.items()}
    sources |= {
        f"{code}, no accents": (code, [sentences]) for code, sentences in plain.items() if sentences != everyday[code]
    }
    sources |= {OTHERS[code]: (code, documents) for code, documents in treebanks.items()}
    print("\n" + row(["text", "texts", *(f"missed of {length}" for length in LENGTHS), "wrong name at 3"]))
    print(row(["---"] * (3 + len(LENGTHS))))
    for name, (code, documents) in sources.items():
        cells, texts = [], []
        for length in LENGTHS:
            texts = list(pieces(documents, length, 1 if "," in name else length))[:MOST]
            found = [noticed("en", each) for each in texts]
            cells.append(percent(found.count(None), len(found)))
            if length == FALSE_ALARMS:
                count = len(found)
                wrong = Counter(each for each in found if each and not is_right(each, code))
        cells.append(", ".join(f"{each} {times}" for each, times in wrong.most_common(3)))
        print(row([name, f"{count:,}", *cells]), flush=True)


def print_pairs(treebanks: dict[str, list[list[Sentence]]]) -> None:
    """Misses of the models of other languages: rows are models, columns are texts."""
    print("\nmissed texts of 5 sentences, by the language of the model")
    print(row(["model", *treebanks, "en"]) + "\n" + row(["---"] * (2 + len(treebanks))))
    english = [everyday_sentences()["en"]]
    for model in treebanks:
        cells = []
        for documents in [*treebanks.values(), english]:
            texts = list(pieces(documents, 5, 5))[:300]
            found = [noticed(model, each) for each in texts]
            cells.append(percent(found.count(None), len(found)))
        print(row([model, *cells]), flush=True)


def noticed(model: str, text: Iterable[Sentence]) -> str | None:
    """The language that a watch names."""
    watch = LanguageWatch(model)
    found = next(filter(None, map(watch.look, text)), None) or watch.finish()
    return None if found is None else found.name


def is_right(found: str, code: str) -> bool:
    own = LanguageWatch(code).name
    return own is not None and any(part in found for part in own.split(" or ")[0].split(", "))


def pieces(documents: Iterable[Sequence[Sentence]], length: int, step: int) -> Iterator[Sequence[Sentence]]:
    """The texts of so many sentences. Those of the few everyday sentences overlap."""
    for document in documents:
        for start in range(0, len(document) - length + 1, step):
            yield document[start : start + length]


def everyday_sentences() -> dict[str, list[Sentence]]:
    return {
        code: [[token.text for token in each.tokens] for each in read_stream([text.strip()], "line")]
        for code, text in tomllib.loads(EVERYDAY.read_text("utf-8")).items()
    }


def lines(path: Path) -> list[list[Sentence]]:
    """The documents of a file of text."""
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [[line.split() for line in part.splitlines()] for part in content.decode().split("\n\n")]


def words(folder: Path, part: str) -> list[list[Sentence]]:
    """The sentences of each document of a treebank, or all in one."""
    trees, names = read(folder, part)
    documents: dict[str, list[Sentence]] = {}
    for tree, name in zip(trees, names or [""] * len(trees), strict=True):
        documents.setdefault(name, []).append([word.replace("_", " ").strip("$@") for word in tree.words()])
    return list(documents.values())


def without_accents(word: str) -> str:
    table = str.maketrans({"ß": "ss", "ø": "o", "æ": "ae", "ð": "d", "þ": "th", "ł": "l", "ı": "i", "đ": "d"})
    bare = "".join(each for each in unicodedata.normalize("NFD", word.translate(table)) if each.isascii())
    return bare or word


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.1f}%" if whole else ""


if __name__ == "__main__":
    main()
