"""``fencepost calibrate``: fits the temperature that makes a model's probabilities trustworthy."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from typing import Any

from fencepost.cli.shared import require_from_one

EXAMPLES = """examples:
  fencepost calibrate model dev.txt
  fencepost calibrate model dev.txt --sentences 300 --json
  fencepost parse --model model --probabilities --format json text.txt
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "calibrate",
        help="make a model's probabilities trustworthy",
        description="Fit a temperature on trees that the model was not trained on, and store it in the model.\n"
        "The calibration error is measured on half of the trees, with a temperature fitted on the other half.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", metavar="MODEL", help="the model folder to change")
    parser.add_argument("trees", nargs="+", metavar="TREES", help="gold trees, such as a development set")
    parser.add_argument(
        "--sentences", type=int, default=1000, metavar="N", help="use at most N sentences (default: 1000)"
    )
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.errors import UsageError
    from fencepost.evaluation.calibration import calibration, fit_temperature, scores_of
    from fencepost.parsing.load import load
    from fencepost.storage.folders import require_folder
    from fencepost.storage.model_folder import ModelFolder
    from fencepost.storage.model_writer import change_config, require_not_installed
    from fencepost.trees.treebank import Treebank

    require_from_one(arguments, "sentences")
    folder = ModelFolder.open(arguments.model)
    require_not_installed(folder)
    require_folder(folder.path)
    parser = load(folder.path, language=folder.language)
    trees = Treebank.load(*arguments.trees)[: arguments.sentences]
    if len(trees) < 2:
        raise UsageError("calibration needs at least two trees", hint="give a development set")
    labels, force_root = parser.vocabularies.labels, parser.config.scorer.force_root
    one, other = scores_of(parser, trees[::2]), scores_of(parser, trees[1::2])
    halfway = fit_temperature(one, labels, force_root)
    before = calibration(other, labels, parser.config.eval.temperature, force_root).expected_error()
    after = calibration(other, labels, halfway, force_root).expected_error()
    temperature = round(fit_temperature(one + other, labels, force_root), 4)
    change_config(folder.path, replace(parser.config, eval=replace(parser.config.eval, temperature=temperature)))
    figures = {
        "sentences": len(trees),
        "temperature": temperature,
        "expected_calibration_error_before": before,
        "expected_calibration_error": after,
    }
    if arguments.json:
        print(json.dumps(figures, indent=2))
    else:
        print(f"temperature {temperature}: expected calibration error {before:.4f} before, {after:.4f} after")
    sys.stderr.write(f"stored the temperature in {arguments.model}\n")
    return 0
