"""Reads the Parquet files of `fencepost corpus` with pyarrow: python examples/parquet_pyarrow.py DIR"""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow.dataset

from fencepost.corpus.records import tree_of


def main(folder: str) -> None:
    parts = pyarrow.dataset.dataset([str(path) for path in sorted(Path(folder).glob("part-*.parquet"))])
    print(f"{parts.count_rows()} sentences")
    # Only these columns are read from the disk.
    for batch in parts.to_batches(columns=["id", "tokens", "constituents"]):
        for row in batch.to_pylist():
            print(row["id"], tree_of(row))
            return


if __name__ == "__main__":
    main(*sys.argv[1:])
