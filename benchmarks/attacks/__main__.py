"""``python -m benchmarks.attacks NAME``: see the package."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

from benchmarks import attacks
from benchmarks.attacks import (
    brackets,
    crafted,
    disks,
    folders,
    guided,
    killed_commands,
    kills,
    patterns,
    report,
    soak,
    splitting,
    text,
)
from benchmarks.attacks.harness import RESULTS, Attack, fuzz

FUZZED: dict[str, Callable[[], Attack]] = {
    "brackets": brackets.Brackets,
    "splitting": splitting.Splitting,
    "folders": folders.Folders,
    "patterns": patterns.Patterns,
    "crafted": crafted.Crafted,
    "disks": disks.Disks,
}
KILLED: dict[str, Callable[[str], Attack]] = {
    "training": kills.Kills,
    "commands": lambda _: killed_commands.KilledCommands(),
    "serve": lambda _: killed_commands.KilledServers(),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=attacks.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=[*FUZZED, "text", "guided", "kills", "soak", "report"])
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--model", default="random", help="for text and soak: a model, or random weights (default)")
    parser.add_argument("--through", choices=(*text.WAYS, "parse", "corpus"), default="api", help="for text and soak")
    parser.add_argument("--device", default="cpu", help="for kills of training")
    parser.add_argument("--of", choices=[*KILLED, *guided.TARGETS], help="what is killed, or what guided attacks")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument("--state", type=Path, help="a folder, to continue a run that was stopped")
    parser.add_argument("--results", type=Path, default=RESULTS, help="the file to which a line is added")
    arguments = parser.parse_args()
    amount = {name: getattr(arguments, name) for name in ("cases", "seed", "processes", "seconds", "state")}
    match arguments.attack:
        case "report":
            report.write()
            return 0
        case "guided":
            if arguments.of not in guided.TARGETS:
                parser.error(f"guided needs --of {{{','.join(guided.TARGETS)}}}")
            outcome = guided.run(arguments.of, arguments.seconds, arguments.seed, arguments.state)
        case "kills":
            if arguments.of not in (None, *KILLED):
                parser.error(f"kills needs --of {{{','.join(KILLED)}}}")
            outcome = fuzz(KILLED[arguments.of or "training"](arguments.device), **amount)
            kills.count_kills(outcome)
        case "soak":
            outcome = soak.run(arguments.cases, arguments.model, arguments.through, arguments.results)
        case "text" if arguments.through == "pipe":
            outcome = fuzz(text.Text(arguments.model, "pipe"), **{**amount, "cases": arguments.cases // text.TOGETHER})
            outcome.cases *= text.TOGETHER
        case "text":
            outcome = fuzz(text.Text(arguments.model, arguments.through), **amount)
        case name:
            outcome = fuzz(FUZZED[name](), **amount)
    outcome.save(arguments.results)
    return 1 if outcome.failures or outcome.written_outside else 0


if __name__ == "__main__":
    raise SystemExit(main())
