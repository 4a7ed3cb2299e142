"""``fencepost evaluate``: parses a treebank's words and scores the result."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from typing import Any

from fencepost.cli.score import BY_HELP
from fencepost.cli.shared import add_parsing_options, require_from_one, warn_of_traces
from fencepost.errors import UsageError

EXAMPLES = """examples:
  fencepost evaluate model test.txt
  fencepost evaluate model test.txt --params spmrl --json
  fencepost evaluate model test.txt --tags predicted --output predicted.txt --by label,length
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "evaluate",
        help="parse the words of a treebank and score the trees",
        description="Parse the words of a treebank and score the trees against it. Scoring uses gold tags on both\n"
        "sides unless --tags predicted is given: tags decide which words count as punctuation.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="a model folder")
    parser.add_argument("trees", nargs="+", metavar="TREES", help="gold trees: files, folders or globs")
    parser.add_argument("--params", default=None, help="collins, spmrl, none, or a .prm file (default: from the model)")
    parser.add_argument(
        "--tags", choices=("gold", "predicted"), default="gold", help="tags in the predicted trees (default: gold)"
    )
    parser.add_argument("--by", default="", metavar="KIND,…", help=BY_HELP)
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument(
        "--output", metavar="FILE", help="also write the predicted trees (with gold tags unless --tags predicted)"
    )
    add_parsing_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.cli.score import parse_kinds, print_json, print_text, warn
    from fencepost.evaluation.params import load_params
    from fencepost.evaluation.score import Score, compare
    from fencepost.features.lexical_kinds import reads
    from fencepost.parsing.load import load
    from fencepost.parsing.workers import parse_with_workers
    from fencepost.storage.find_files import require_other
    from fencepost.storage.text_writer import write_atomically
    from fencepost.trees.treebank import Sentence, Treebank

    require_from_one(arguments, "batch_tokens")
    kinds = parse_kinds(arguments.by)
    parser = load(arguments.model, device=arguments.device)
    params = load_params(arguments.params or parser.config.eval.params)
    if arguments.output is not None:
        require_other([arguments.output], arguments.trees)
    gold = Treebank.load(*arguments.trees)
    warn_of_traces(gold)
    gives_tags = arguments.tags == "gold"
    if not gives_tags and (reads(parser.config, "tags") or not parser.config.scorer.predict_tags):
        raise UsageError(f"the model {arguments.model} predicts no tags", hint="--tags gold")
    sentences = [Sentence(s.words, s.tags if gives_tags else None) for s in gold.sentences()]
    began = time.perf_counter()
    predicted = []
    with nullcontext() if arguments.output is None else write_atomically(arguments.output) as file:
        for tree in parse_with_workers(parser, sentences, arguments.workers, batch_tokens=arguments.batch_tokens):
            predicted.append(tree)
            if file is not None:
                file.write(f"{tree}\n")
    seconds = time.perf_counter() - began
    sentences_parsed = f"{len(gold):,} sentence{'s' * (len(gold) > 1)}"
    sys.stderr.write(f"parsed {sentences_parsed} in {seconds:.2f} s: {len(gold) / seconds:,.0f} per second\n")
    comparisons = compare(gold, predicted, params)
    score = Score.over(comparisons, params.cutoff)
    write = print_json if arguments.json else print_text
    write(score, comparisons, kinds, per_sentence=False)
    warn(score, comparisons)
    how = f"{arguments.params or parser.config.eval.params}, {arguments.tags} tags"
    sys.stderr.write(f"F1 {score.f1:.2f} over {score.valid:,} of {score.sentences:,} sentences ({how})\n")
    return 0
