"""Scores how well running text is split into sentences and tokens, against the sentences and tokens of the treebanks.

    python models/english/split_scores.py --treebanks DIR [--split dev] [--mistakes N]

The text is made from the gold words (raw_text.py). A sentence boundary counts where the next sentence follows on the
same line; boundaries at blank lines are given away by the text, so they are left out. Hyphenated words count as one
token, as in the WSJ (hyphens.py). Positions count characters without whitespace. --mistakes prints the first N wrong
boundaries and tokens of each treebank.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import NamedTuple

from corpora import FOLDERS, Item, load
from hyphens import find_runs
from raw_text import surface, text_of

from fencepost.evaluation.brackets import Brackets
from fencepost.text import read_stream

COLUMNS = ("treebank", "boundaries", "sentence boundary F1", "precision", "recall", "tokens", "token F1")


class Splits(NamedTuple):
    """Where sentences end, and where tokens start and end."""

    boundaries: set[int]
    tokens: set[tuple[int, int]]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--split", default="dev")
    options.add_argument("--mistakes", type=int, default=0, metavar="N")
    arguments = options.parse_args()
    print(row(COLUMNS) + "\n" + row(["---"] * len(COLUMNS)))
    mistakes = []
    for corpus in FOLDERS:
        items = load(arguments.treebanks, corpus, [arguments.split])
        text = text_of(items)
        gold, found = gold_splits(items), found_splits(text)
        given_away = at_blank_lines(text)
        ends, tokens = scores(gold.boundaries - given_away, found.boundaries - given_away), scores(gold[1], found[1])
        figures = [f"{ends.f1:.2f}", f"{ends.precision:.2f}", f"{ends.recall:.2f}", f"{tokens.gold:,}"]
        print(row([corpus, f"{ends.gold:,}", *figures, f"{tokens.f1:.2f}"]), flush=True)
        mistakes += [f"\n{corpus}", *list_mistakes(text, gold, found, given_away, arguments.mistakes)]
    if arguments.mistakes:
        print("\n".join(mistakes))


def gold_splits(items: Iterable[Item]) -> Splits:
    sentences = []
    for item in items:
        leaves = item.tree.leaves()
        words = surface(leaves)
        for start, end in reversed(find_runs(leaves)):
            words[start:end] = ["".join(words[start:end])]
        sentences.append(words)
    return splits(sentences)


def found_splits(text: str) -> Splits:
    return splits([[token.text for token in sentence.tokens] for sentence in read_stream([text])])


def splits(sentences: Iterable[Sequence[str]]) -> Splits:
    boundaries: set[int] = set()
    tokens: set[tuple[int, int]] = set()
    done = 0
    for words in sentences:
        posts = list(accumulate((len("".join(word.split())) for word in words), initial=done))
        tokens.update(pairwise(posts))
        done = posts[-1]
        boundaries.add(done)
    return Splits(boundaries, tokens)


def at_blank_lines(text: str) -> set[int]:
    return set(accumulate(len("".join(part.split())) for part in text.split("\n\n")))


def scores(gold: set[int] | set[tuple[int, int]], found: set[int] | set[tuple[int, int]]) -> Brackets:
    return Brackets(len(gold & found), len(gold), len(found))


def list_mistakes(text: str, gold: Splits, found: Splits, given_away: set[int], most: int) -> list[str]:
    """Wrong boundaries with the text around them (``+`` found, ``-`` missed), then wrong tokens."""
    places = [place for place, character in enumerate(text) if not character.isspace()] + [len(text)]
    wrong = sorted((gold.boundaries ^ found.boundaries) - given_away)[:most]
    lines = []
    for end in wrong:
        place, sign = places[end - 1] + 1, "+" if end in found.boundaries else "-"
        lines.append(f"{sign} {text[max(place - 60, 0) : place]}‖{text[place : place + 40]}".replace("\n", "⏎"))
    for start, end in sorted(found.tokens - gold.tokens)[:most]:
        before, token, after = (
            places[max(start - 15, 0)],
            text[places[start] : places[end - 1] + 1],
            places[end - 1] + 1,
        )
        lines.append(f"token {text[before : places[start]]}[{token}]{text[after : after + 15]}".replace("\n", "⏎"))
    return lines


def row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
