"""Counts tags with pandas: python examples/parquet_pandas.py DIR"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas


def main(folder: str) -> None:
    parts = [pandas.read_parquet(path, columns=["tokens"]) for path in sorted(Path(folder).glob("part-*.parquet"))]
    tokens = pandas.concat(parts)["tokens"].explode()
    print(tokens.str["tag"].value_counts().to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
