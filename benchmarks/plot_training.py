"""Plots development F1 by epoch from log.jsonl files, with reference points.

python benchmarks/plot_training.py --log craft=craft.jsonl --reference craft=1:31.9,2:63.2 --out curve.svg
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--log", action="append", required=True, metavar="NAME=FILE")
    parser.add_argument("--reference", action="append", default=[], metavar="NAME=EPOCH:F1,…")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    references = dict(entry.split("=", 1) for entry in arguments.reference)
    figure, axes = plt.subplots(1, len(arguments.log), figsize=(5.5 * len(arguments.log), 3.6), squeeze=False)
    for panel, entry in zip(axes[0], arguments.log, strict=True):
        name, path = entry.split("=", 1)
        checks = [json.loads(line) for line in Path(path).read_text().splitlines()]
        panel.plot([check["epoch"] for check in checks], [check["f1"] for check in checks], label="fencepost", lw=1.2)
        if name in references:
            points = [pair.split(":") for pair in references[name].split(",")]
            panel.plot([float(e) for e, _ in points], [float(f) for _, f in points], "o", ms=4, label="reference")
        panel.set(title=name, xlabel="epoch", ylabel="development F1", ylim=(50, None))
        panel.grid(alpha=0.3)
        panel.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(arguments.out)


if __name__ == "__main__":
    main()
