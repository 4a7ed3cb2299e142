"""``fencepost models``: lists the models that are installed, and checks one."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from fencepost.errors import FencepostError, ModelError

if TYPE_CHECKING:
    from fencepost.storage.installed_models import InstalledModel

EXAMPLES = """examples:
  fencepost models
  fencepost models --json
  fencepost models verify en
  fencepost models repair my-model
"""
COLUMNS: Final = ("name", "language", "MB", "F1", "from", "folder")


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "models",
        help="list the models that are installed",
        description="List the models that `--model NAME` finds, with language, size, scores on test sets and path.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--json", action="store_true", help="print the list as JSON")
    parser.set_defaults(run=run)
    actions = parser.add_subparsers(metavar="ACTION")
    verify = actions.add_parser(
        "verify",
        help="check a model",
        description="Check that every file of a model has its checksum, and that the model parses a sentence.",
    )
    verify.add_argument("model", metavar="NAME", help="the name of a model, or a model folder")
    verify.set_defaults(run=run_verify)
    repair = actions.add_parser(
        "repair",
        help="finish or undo an interrupted write",
        description="Finish a write that was interrupted: if all new files are complete, move them into place;\n"
        "otherwise remove them and keep the previous model.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    repair.add_argument("model", metavar="DIR", help="a model folder")
    repair.set_defaults(run=run_repair)


def run(arguments: argparse.Namespace) -> int:
    from fencepost.storage.installed_models import installed_models

    models = [_described(model) for model in installed_models()]
    if arguments.json:
        print(json.dumps(models, indent=2))
    else:
        _print_table([COLUMNS, *map(_row, models)])
    return 0


def run_verify(arguments: argparse.Namespace) -> int:
    from fencepost.features.lexical_kinds import reads
    from fencepost.parsing.load import load
    from fencepost.storage.model_folder import ModelFolder
    from fencepost.trees.treebank import Sentence

    folder = ModelFolder.open(arguments.model)  # verifies the checksums
    several = folder.vocabularies.treebanks if folder.language is None else ()
    for name in [f"{arguments.model}:{language}" for language in several] or [arguments.model]:
        parser = load(name)
        tags = ("PRP", "VBD", ".") if reads(parser.config, "tags") else None
        (tree,) = parser.parse([Sentence(("It", "rained", "."), tags)])
        print(f"{name}: every file has its checksum, and the model parses: {tree}")
    return 0


def run_repair(arguments: argparse.Namespace) -> int:
    from fencepost.storage.model_folder import ModelFolder
    from fencepost.storage.model_staging import STAGING, recover

    folder = Path(arguments.model)
    if not folder.is_dir():
        raise ModelError(f"{folder} is not a folder", hint="give a model folder")
    was_interrupted = (folder / STAGING).exists()
    recover(folder)
    ModelFolder.open(folder)
    sys.stderr.write(f"{folder}: {'repaired' if was_interrupted else 'nothing to repair'}\n")
    return 0


def _described(model: InstalledModel) -> dict[str, Any]:
    """What the folder of a model says, without reading its weights. A damaged folder is listed with its problem."""
    from fencepost.storage.model_files import listed_files, read_scores
    from fencepost.storage.model_folder import read_config

    described: dict[str, Any] = {"name": model.name, "path": str(model.path), "distribution": model.distribution}
    try:
        language = read_config(model.path).language
        size = sum((model.path / name).stat().st_size for name in listed_files(model.path))
        return described | {"language": language, "bytes": size, "scores": read_scores(model.path), "problem": None}
    except (FencepostError, OSError) as error:
        problem = error.message if isinstance(error, FencepostError) else str(error)
        return described | {"language": None, "bytes": None, "scores": {}, "problem": problem}


def _row(model: dict[str, Any]) -> tuple[str, ...]:
    if model["problem"] is not None:
        return (model["name"], "–", "–", "damaged", model["distribution"], model["path"])
    tests = {name: figures["f1"] for name, figures in model["scores"].items() if not name.endswith(".dev")}
    scores = ", ".join(f"{name.removesuffix('.test')} {f1:.1f}" for name, f1 in tests.items())
    megabytes = f"{model['bytes'] / 1e6:.1f}"
    return (model["name"], model["language"], megabytes, scores or "–", model["distribution"], model["path"])


def _print_table(rows: list[tuple[str, ...]]) -> None:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
