"""Scores how well running text of each language is split into sentences and tokens, against the treebanks.

    python models/languages/split_languages.py --treebanks DIR [--part dev] [--only NAME…] [--mistakes N] [--english]

The text is made from the gold words (running_text.py). A sentence boundary counts where the next sentence follows in
the same paragraph. Positions count characters without whitespace. --english splits with the rules of English instead,
which is what happened before there were others. --mistakes prints the first N wrong boundaries and tokens.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from running_text import Splits, paragraphs, splits, text_of

from fencepost.evaluation.brackets import Brackets
from fencepost.text import read_sentences
from fencepost.trees.tree import Tree
from fencepost.trees.treebank import Treebank

FOLDERS: Final = {
    "is": "is/greynir",
    "is-historical": "is/icepahc",
    "fo": "fo/farpahc",
    "id": "id/icon",
    "fr": "fr/sequoia",
    "ja": "ja/keyaki",
    "de": "de/pcc",
    "es": "es/cess-esp",
    "nl": "nl/alpino",
    "pt": "pt/floresta",
    "sv": "sv/talbanken-excerpts",
    "fro": "fro/mcvf-ppchf",
}
COLUMNS: Final = ("language", "boundaries", "boundary F1", "precision", "recall", "tokens", "token F1")


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--part", default="dev")
    options.add_argument("--only", nargs="+", choices=[*FOLDERS], default=[*FOLDERS])
    options.add_argument("--mistakes", type=int, default=0, metavar="N")
    options.add_argument("--english", action="store_true")
    arguments = options.parse_args()
    print(row(COLUMNS) + "\n" + row(["---"] * len(COLUMNS)))
    for name in arguments.only:
        trees, documents = read(arguments.treebanks / FOLDERS[name], arguments.part)
        ends, tokens, mistakes = scores(trees, name, documents, "en" if arguments.english else name)
        figures = [f"{ends.gold:,}", *(f"{each:.2f}" for each in (ends.f1, ends.precision, ends.recall))]
        print(row([name, *figures, f"{tokens.gold:,}", f"{tokens.f1:.2f}"]), flush=True)
        print("".join(f"{line}\n" for line in mistakes[: arguments.mistakes]), end="")


def read(folder: Path, part: str) -> tuple[list[Tree], list[str] | None]:
    """The trees of a part, and the document of each where the treebank says it."""
    path = folder / f"{part}.txt"
    trees = list(Treebank.load(path if path.exists() else folder / f"{part}.txt.gz"))
    meta = folder / f"{part}.meta.tsv"
    if not meta.exists():
        return trees, None
    with open(meta, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    documents = [each["doc"] for each in rows]
    return trees, documents if 2 * len(set(documents)) < len(documents) else None  # else a document is one sentence


def scores(
    trees: Sequence[Tree], name: str, documents: Sequence[str] | None, language: str
) -> tuple[Brackets, Brackets, list[str]]:
    """Sentence boundaries and tokens, right, in the treebank and found; and what is wrong."""
    ends, tokens = Brackets(), Brackets()
    mistakes: list[str] = []
    for sentences in paragraphs(trees, name, documents):
        text = text_of(sentences, name)
        gold = splits([[word.text for word in words] for words in sentences])
        found = splits([[token.text for token in each] for _, each in read_sentences(text, language=language)])
        last = {max(gold.boundaries)}
        ends = add(ends, compare(gold.boundaries - last, found.boundaries - last))
        tokens = add(tokens, compare(gold.tokens, found.tokens))
        mistakes += list_mistakes(text, gold, found)
    return ends, tokens, mistakes


def compare(gold: set[int] | set[tuple[int, int]], found: set[int] | set[tuple[int, int]]) -> Brackets:
    return Brackets(len(gold & found), len(gold), len(found))


def add(first: Brackets, second: Brackets) -> Brackets:
    return Brackets(first.matched + second.matched, first.gold + second.gold, first.predicted + second.predicted)


def list_mistakes(text: str, gold: Splits, found: Splits) -> Iterator[str]:
    """Wrong boundaries with the text around them (``+`` found, ``-`` missed), then wrong tokens."""
    places = [place for place, character in enumerate(text) if not character.isspace()] + [len(text)]
    for end in sorted(gold.boundaries ^ found.boundaries):
        place, sign = places[end - 1] + 1, "+" if end in found.boundaries else "-"
        yield f"{sign} {text[max(place - 40, 0) : place]}‖{text[place : place + 30]}"
    for start, end in sorted(found.tokens - gold.tokens):
        after = places[end - 1] + 1
        before, token = text[places[max(start - 12, 0)] : places[start]], text[places[start] : after]
        yield f"token {before}[{token}]{text[after : after + 12]}"


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
