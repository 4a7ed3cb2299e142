"""``fencepost score GOLD PREDICTED``: the evalb replacement."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from fencepost.errors import UsageError

if TYPE_CHECKING:
    from fencepost.evaluation.evalb import Comparison
    from fencepost.evaluation.score import Score

_EXAMPLES: Final = """\
examples:
  fencepost score gold.txt predicted.txt
  fencepost score gold.txt predicted.txt --params spmrl --json
  fencepost score gold.txt predicted.txt --params COLLINS.prm --per-sentence
  fencepost score gold.txt predicted.txt --by label,length
  zcat predicted.gz | fencepost score gold.txt -

Files have one tree per line, with an empty line for a missing parse; or trees that span several lines.
Empty lines at the end of a file don't count. Files that end in .gz are decompressed.
A sentence whose gold and predicted words differ is an error: it is reported and, as in evalb, left out of
the totals.
"""
BY_HELP: Final = "break scores down by label, length (of the phrase) or sentence (its length)"
_PROBLEMS_SHOWN: Final = 10


def add_command(subparsers: argparse._SubParsersAction[Any]) -> None:
    parser = subparsers.add_parser(
        "score",
        help="compare predicted trees with gold trees, as evalb does",
        description="Compare predicted trees with gold trees: labelled precision, recall and F1, as evalb does.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("gold", metavar="GOLD", help="file of gold trees; - for standard input")
    parser.add_argument("predicted", metavar="PREDICTED", help="file of predicted trees; - for standard input")
    parser.add_argument(
        "--params", default="collins", metavar="NAME|FILE", help="collins (default), spmrl, none, or a .prm file"
    )
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument("--per-sentence", action="store_true", help="print a row for every sentence")
    parser.add_argument("--by", default="", metavar="KIND,…", help=BY_HELP)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    from fencepost.evaluation.params import load_params
    from fencepost.evaluation.score import Score, compare

    kinds = parse_kinds(args.by)
    if args.gold == args.predicted == "-":
        raise UsageError("only one of GOLD and PREDICTED can be standard input")
    params = load_params(args.params)
    comparisons = compare(args.gold, args.predicted, params)
    score = Score.over(comparisons, params.cutoff)
    write = print_json if args.json else print_text
    write(score, comparisons, kinds, args.per_sentence)
    warn(score, comparisons)
    return 0


def parse_kinds(text: str) -> list[str]:
    """The breakdowns that ``--by label,length`` asks for."""
    from fencepost.evaluation.breakdown import BY

    kinds = [kind.strip() for kind in text.split(",") if kind.strip()]
    for kind in kinds:
        if kind not in BY:
            raise UsageError(f"can't break down by {kind}", hint=f"--by takes {', '.join(BY)}")
    return kinds


def print_json(
    score: Score,
    comparisons: Sequence[Comparison],
    kinds: Sequence[str],
    per_sentence: bool,
    more: Mapping[str, Any] | None = None,
) -> None:
    """``more`` has further figures for the same object."""
    from fencepost.evaluation.breakdown import breakdown
    from fencepost.evaluation.report import sentence_to_json

    figures = score.to_json()
    for kind in kinds:
        figures[f"by_{kind}"] = [row.to_json() for row in breakdown(comparisons, kind)]
    if per_sentence:
        figures["per_sentence"] = [sentence_to_json(comparison) for comparison in comparisons]
    figures |= more or {}
    print(json.dumps(figures, indent=2, ensure_ascii=False))


def print_text(score: Score, comparisons: Sequence[Comparison], kinds: Sequence[str], per_sentence: bool) -> None:
    from fencepost.evaluation import report
    from fencepost.evaluation.breakdown import breakdown, table

    if per_sentence:
        sys.stdout.write(report.per_sentence(comparisons))
    sys.stdout.write(report.summary(score))
    for kind in kinds:
        sys.stdout.write("\n" + table(breakdown(comparisons, kind), kind))


def warn(score: Score, comparisons: Sequence[Comparison]) -> None:
    """Reports on stderr which sentences could not be compared, and what would help."""
    from fencepost.evaluation.report import problems, skipped

    lines = [*problems(comparisons), *(f"{number} : Nothing predicted" for number in skipped(comparisons))]
    if len(lines) > _PROBLEMS_SHOWN:
        lines[_PROBLEMS_SHOWN:] = [f"… and {len(lines) - _PROBLEMS_SHOWN} more"]
    if score.sentences > score.valid:
        lines.append(
            f"warning: sentences left out of the totals: {score.sentences - score.valid} of {score.sentences} "
            f"(errors: {score.errors}, skipped: {score.skipped}); F1 if all their brackets count as missed: "
            f"{score.f1_with_errors:.2f}"
        )
    if score.tag_errors:
        lines.append(
            f"hint: in {score.tag_errors} of them the words agree, but gold and predicted tags delete different ones; "
            "score with gold tags on both sides"
        )
    sys.stderr.write("".join(f"{line}\n" for line in lines))
