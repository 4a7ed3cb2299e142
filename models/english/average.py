"""Averages the weights of two models, where the second was trained on from the first.

    python models/english/average.py FIRST SECOND --out FOLDER

FOLDER gets a copy of SECOND in which each weight is the mean of both models' weights. The function scorer stays that of
SECOND: fit_functions.py trains it again. The mean keeps the F1 of SECOND, and its probabilities are better.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
from pathlib import Path

from safetensors.torch import load_file, save_file

from fencepost.storage.model_files import CHECKSUMS, WEIGHTS
from fencepost.storage.model_folder import ModelFolder


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("first", type=Path)
    options.add_argument("second", type=Path)
    options.add_argument("--out", type=Path, required=True)
    arguments = options.parse_args()
    average(arguments.first, arguments.second, arguments.out)


def average(first: Path, second: Path, out: Path) -> None:
    ours, theirs = (ModelFolder.open(path).vocabularies for path in (first, second))
    if (ours.labels, ours.tags) != (theirs.labels, theirs.tags):
        raise SystemExit(f"{first} has other labels or tags than {second}")
    earlier, later = load_file(first / WEIGHTS), load_file(second / WEIGHTS)
    for name, weight in later.items():
        if weight.is_floating_point() and not name.startswith("function_scorer."):
            later[name] = (earlier[name] + weight) / 2
    shutil.copytree(second, out)
    save_file(later, out / WEIGHTS)
    lines = [line for line in (out / CHECKSUMS).read_text("utf-8").splitlines() if not line.endswith(f"  {WEIGHTS}")]
    lines.append(f"{hashlib.sha256((out / WEIGHTS).read_bytes()).hexdigest()}  {WEIGHTS}")
    (out / CHECKSUMS).write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
