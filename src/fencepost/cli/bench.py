"""``fencepost bench``: measures how fast this installation parses."""

from __future__ import annotations

import argparse
import json
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fencepost.cli.shared import add_device_options
from fencepost.errors import LanguageWarning, MissingExtraError, UsageError

EXAMPLES = """examples:
  fencepost bench
  fencepost bench --model model-int8
  fencepost bench --model model --device cuda --json
  fencepost bench --random paper              # without a model: random int8 weights of the paper's size
"""


def add_command(subparsers: Any) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure how fast this installation parses",
        description="Parse built-in English sentences in one process, and print how fast that was.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    models = parser.add_mutually_exclusive_group()
    models.add_argument("--model", help="a model folder, or the name of an installed model (default: en)")
    models.add_argument(
        "--random",
        choices=("paper", "small"),
        metavar="SIZE",
        help="use random weights instead of a model; SIZE is paper or small",
    )
    add_device_options(parser)
    parser.add_argument("--seconds", type=float, default=15, metavar="N", help="parse for N seconds (default: 15)")
    parser.add_argument("--json", action="store_true", help="print figures as JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if not 0 < arguments.seconds < float("inf"):
        raise UsageError(
            f"can't parse for {arguments.seconds:g} seconds", hint="--seconds takes a number above 0, such as 15"
        )
    if not arguments.random:
        figures = _figures(arguments.model, arguments)
    else:
        with TemporaryDirectory() as folder:
            _write_random(arguments.random, Path(folder) / "random", arguments.device)
            figures = _figures(str(Path(folder) / "random"), arguments)
            figures["model"] = f"random weights, {arguments.random}"
    write = _print_json if arguments.json else _print_text
    write(figures)
    return 0


def _write_random(size: str, folder: Path, device: str) -> None:
    try:
        from fencepost.export.random_model import write_random_model
    except ModuleNotFoundError as error:
        raise MissingExtraError(error.name or "onnx", "export", "making a random model") from error
    write_random_model(size, folder, exported=device == "cpu")


def _figures(model: str | None, arguments: argparse.Namespace) -> dict[str, Any]:
    from fencepost.parsing.load import load
    from fencepost.parsing.timing import bench_sentences, cold_start, parsing_speed
    from fencepost.storage.find_model import DEFAULT_MODEL, find_model, split_language

    name, language = split_language(model)
    found = find_model(name)
    folder = found if language is None else f"{found}:{language}"
    parser = load(folder, device=arguments.device, precision=arguments.precision)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LanguageWarning)  # our sentences are English
        speed = parsing_speed(parser, bench_sentences(), arguments.seconds)
    start = cold_start(folder, arguments.device, arguments.precision)
    return {
        "model": model or DEFAULT_MODEL,
        "backend": parser.backend_name,
        "device": arguments.device,
        "precision": None if arguments.device == "cpu" else arguments.precision,  # on a CPU the model's files decide
        "threads": parser.threads,
        "sentences": speed.sentences,
        "words": speed.words,
        "sentences_per_second": speed.sentences_per_second,
        "sentences_per_cpu_second": speed.sentences_per_cpu_second,
        "words_per_second": speed.words_per_second,
        "cold_start_seconds": start.seconds,
        "cold_start_cpu_seconds": start.cpu_seconds,
    }


def _print_json(figures: dict[str, Any]) -> None:
    print(json.dumps(figures, indent=2))


def _print_text(figures: dict[str, Any]) -> None:
    threads = "1 thread" if figures["threads"] == 1 else f"{figures['threads']} threads"
    where = f"{figures['device']} in {figures['precision']}" if figures["precision"] else figures["device"]
    print(f"{figures['model']} with {figures['backend']} on {where}, one process, {threads}")
    print(f"  sentences per second      {figures['sentences_per_second']:10,.1f}")
    print(f"  sentences per CPU-second  {figures['sentences_per_cpu_second']:10,.1f}")
    print(f"  words per second          {figures['words_per_second']:10,.0f}")
    print(f"  start to first tree       {figures['cold_start_seconds']:10,.2f} s")
    print(f"    of which CPU            {figures['cold_start_cpu_seconds']:10,.2f} s")
