"""Measures a function scorer that `fit_functions.py` trained, and puts its scores into the model's scores and card.

    python models/english/function_scores.py --model MODEL --treebanks DIR --scores SCORES.json --card CARD.md
        [--first N]

MODEL is the folder that `fit_functions.py` wrote: the scores and the card in it are still those of the model that it
started from. Trees, tags and their probabilities are the same as before, and so is the baseline. So only the functions
are measured again, on all test sets, as in evaluate.py; SCORES.json and CARD.md have the rest from MODEL.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from card import function_table
from corpora import TESTS, load
from evaluate import functions
from harmonize import harmonize

import fencepost
from fencepost.storage.model_files import CARD, SCORES, format_scores

TABLE: Final = re.compile(r"^\| function \|.*\n(?:\|.*\n)*", re.MULTILINE)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--model", type=Path, required=True)
    options.add_argument("--treebanks", type=Path, required=True)
    options.add_argument("--scores", type=Path, required=True)
    options.add_argument("--card", type=Path, required=True)
    options.add_argument("--first", type=int, help="only the first N sentences of each set, for a quick look")
    arguments = options.parse_args()
    parser = fencepost.load(arguments.model)
    scores = json.loads((arguments.model / SCORES).read_text("utf-8"))
    for corpus, splits in TESTS.items():
        items = load(arguments.treebanks, corpus, splits, functions=True)[: arguments.first]
        scores[corpus] |= functions(parser, [harmonize(item.tree) for item in items], None)
        print(f"{corpus}: F1 {scores[corpus]['functions']['f1']:.2f}", flush=True)
    arguments.scores.write_bytes(format_scores(scores))
    arguments.card.write_text(with_table((arguments.model / CARD).read_text("utf-8"), scores), "utf-8")


def with_table(card: str, scores: Mapping[str, Any]) -> str:
    """The card with the table of these scores. Raises SystemExit if the card has no table of functions."""
    table = "\n".join(function_table(scores)) + "\n"
    changed, count = TABLE.subn(lambda _: table, card)
    if count != 1:
        raise SystemExit(f"the card has {count} tables that begin with `| function |`; it must have one")
    return changed


if __name__ == "__main__":
    main()
