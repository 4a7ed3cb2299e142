"""``fencepost evaluate``: parses a treebank's words and scores the result."""

from __future__ import annotations

import argparse
import sys
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from fencepost.cli.score import BY_HELP
from fencepost.cli.shared import add_parsing_options, require_from_one, warn_of_traces
from fencepost.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from fencepost.parsing.workers import Workers
    from fencepost.trees.tree import Tree
    from fencepost.trees.treebank import Sentence

EXAMPLES = """examples:
  fencepost evaluate model test.txt
  fencepost evaluate model test.txt --params spmrl --json
  fencepost evaluate model test.txt --functions --training train.txt
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
    parser.add_argument("model", metavar="MODEL", help="a model folder, or the name of an installed model")
    parser.add_argument("trees", nargs="+", metavar="TREES", help="gold trees: files, folders or globs")
    parser.add_argument("--params", default=None, help="collins, spmrl, none, or a .prm file (default: from the model)")
    parser.add_argument(
        "--tags", choices=("gold", "predicted"), default="gold", help="tags in the predicted trees (default: gold)"
    )
    parser.add_argument("--by", default="", metavar="KIND,…", help=BY_HELP)
    parser.add_argument(
        "--functions", action="store_true", help="also score the functions of correctly found constituents"
    )
    parser.add_argument(
        "--training", nargs="+", metavar="TREES", help="training trees for the most frequent function of each label"
    )
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.add_argument(
        "--output", metavar="FILE", help="also write the predicted trees (with gold tags unless --tags predicted)"
    )
    add_parsing_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.cli.evaluate_functions import FunctionFigures
    from fencepost.cli.score import parse_kinds, print_json, print_text, warn
    from fencepost.evaluation.params import load_params, params_of_model
    from fencepost.evaluation.score import Score, compare
    from fencepost.features.lexical_kinds import reads
    from fencepost.parsing.load import load
    from fencepost.parsing.workers import Workers
    from fencepost.storage.find_files import require_other
    from fencepost.storage.text_writer import write_atomically
    from fencepost.trees.functions import without_functions
    from fencepost.trees.treebank import Sentence, Treebank

    if arguments.training is not None and not arguments.functions:
        raise UsageError("--training is for --functions", hint="give both, or neither")
    require_from_one(arguments, "batch_tokens")
    kinds = parse_kinds(arguments.by)
    parser = load(arguments.model, device=arguments.device, precision=arguments.precision)
    params = load_params(arguments.params) if arguments.params else params_of_model(parser.config.eval.params)
    if arguments.output is not None:
        require_other([arguments.output], arguments.trees)
    gold = Treebank.load(*arguments.trees)
    warn_of_traces(gold)
    gives_tags = arguments.tags == "gold"
    if arguments.functions and parser.vocabularies.functions is None:
        raise UsageError(f"the model {arguments.model} doesn't predict functions", hint="leave out --functions")
    if not gives_tags and (reads(parser.config, "tags") or not parser.config.scorer.predict_tags):
        raise UsageError(f"the model {arguments.model} predicts no tags", hint="--tags gold")
    sentences = [Sentence(s.words, s.tags if gives_tags else None) for s in gold.sentences()]
    began = time.perf_counter()
    predicted = []
    with (
        nullcontext() if arguments.output is None else write_atomically(arguments.output) as file,
        Workers(parser, arguments.workers) as workers,
    ):
        for tree in _trees(workers, sentences, arguments):
            predicted.append(tree)
            if file is not None:
                file.write(f"{tree}\n")
    seconds = time.perf_counter() - began
    sentences_parsed = f"{len(gold):,} sentence{'s' * (len(gold) > 1)}"
    sys.stderr.write(f"parsed {sentences_parsed} in {seconds:.2f} s: {len(gold) / seconds:,.0f} per second\n")
    functions = FunctionFigures.of(gold, predicted, arguments.training) if arguments.functions else None
    if parser.vocabularies.functions is not None:
        gold, predicted = Treebank(map(without_functions, gold)), [*map(without_functions, predicted)]
    comparisons = compare(gold, predicted, params)
    score = Score.over(comparisons, params.cutoff)
    if arguments.json:
        print_json(
            score, comparisons, kinds, per_sentence=False, more=None if functions is None else functions.to_json()
        )
    else:
        print_text(score, comparisons, kinds, per_sentence=False)
        sys.stdout.write("" if functions is None else f"\n{functions.table()}")
    warn(score, comparisons)
    how = f"{arguments.params or parser.config.eval.params}, {arguments.tags} tags"
    sys.stderr.write(f"F1 {score.f1:.2f} over {score.valid:,} of {score.sentences:,} sentences ({how})\n")
    return 0


def _trees(workers: Workers, sentences: Sequence[Sentence], arguments: argparse.Namespace) -> Iterator[Tree]:
    size = arguments.batch_tokens
    if arguments.functions:
        return (analysis.tree for analysis in workers.iter_functions(sentences, batch_tokens=size))
    return (tree for tree, _ in workers.iter_scored(sentences, batch_tokens=size))
