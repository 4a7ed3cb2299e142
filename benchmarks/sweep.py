"""Trains several configurations side by side on one GPU, each by gpu_train.py in a process of its own.

    PYTHONPATH=src python benchmarks/sweep.py benchmarks/sweeps/encoders.toml --treebank DIR --out runs/sweep \
        --minutes 6 --jobs 8 --set pretrained.model=path/to/encoder

A sweep is a TOML file: ``config`` and ``set`` apply to all rows; ``rows`` maps each name to a list of settings.
Finished rows, which have a figures.json, are not run again, and interrupted rows resume. Speeds of rows that ran side
by side can't be compared with those of runs that had the GPU to themselves.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TRAIN = Path(__file__).with_name("gpu_train.py")
COLUMNS = (
    "dev_f1_best",
    "test_recall_fp32",
    "test_precision_fp32",
    "test_f1_fp32",
    "epochs",
    "wall_seconds",
    "parameters",
)


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("sweep", type=Path)
    reader.add_argument("--treebank", type=Path, required=True)
    reader.add_argument("--out", type=Path, required=True)
    reader.add_argument("--minutes", type=float, default=5.0, help="minutes of training per row")
    reader.add_argument("--jobs", type=int, default=4, help="rows trained at a time")
    reader.add_argument("--only", nargs="+", metavar="ROW")
    reader.add_argument("--device", default="cuda")
    reader.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE")
    arguments = reader.parse_args()
    sweep = tomllib.loads(arguments.sweep.read_text("utf-8"))
    rows: dict[str, list[str]] = sweep["rows"]
    names = arguments.only or list(rows)

    def run(name: str) -> None:
        folder = arguments.out / name
        if (folder / "figures.json").is_file():
            return
        folder.parent.mkdir(parents=True, exist_ok=True)
        settings = [*sweep.get("set", []), *arguments.set, *rows[name]]
        command = [sys.executable, str(TRAIN), "--config", sweep["config"], "--treebank", str(arguments.treebank)]
        command += ["--out", str(folder), "--minutes", str(arguments.minutes), "--device", arguments.device]
        command += ["--set", *settings] if settings else []
        with Path(f"{folder}.log").open("w") as log:
            ended = subprocess.run(
                command,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | {"OMP_NUM_THREADS": "1"},
                check=False,
            )
        print(
            f"{name}: {'done' if ended.returncode == 0 else f'failed, see {folder}.log'}", file=sys.stderr, flush=True
        )

    with ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(run, names))
    print(table(arguments.out, names))


def table(out: Path, names: list[str]) -> str:
    lines = ["| row | " + " | ".join(COLUMNS) + " |", "|---" * (len(COLUMNS) + 1) + "|"]
    for name in names:
        path = out / name / "figures.json"
        figures = json.loads(path.read_text()) if path.is_file() else {}
        lines.append(f"| {name} | " + " | ".join(str(figures.get(column, "")) for column in COLUMNS) + " |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
