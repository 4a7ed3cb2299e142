"""Counts labels with Polars, which reads only the columns it needs: python examples/parquet_polars.py DIR"""

from __future__ import annotations

import sys

import polars


def main(folder: str) -> None:
    counts = (
        polars.scan_parquet(f"{folder}/part-*.parquet")
        .select(polars.col("constituents").explode().struct.field("label"))
        .group_by("label")
        .len()
        .sort("len", "label", descending=[True, False])
        .collect()
    )
    for label, count in counts.iter_rows():
        print(label, count)


if __name__ == "__main__":
    main(*sys.argv[1:])
