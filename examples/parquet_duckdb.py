"""Asks for the longest noun phrases with SQL: python examples/parquet_duckdb.py DIR"""

from __future__ import annotations

import sys

import duckdb

LONGEST = """
    SELECT id, sentence, [token.text for token in tokens[part."start" + 1 : part."end"]] AS words
    FROM (SELECT id, sentence, tokens, unnest(constituents) AS part FROM read_parquet($files))
    WHERE part.label = 'NP'
    ORDER BY len(words) DESC, id, sentence
    LIMIT 3
"""


def main(folder: str) -> None:
    for name, sentence, words in duckdb.execute(LONGEST, {"files": f"{folder}/part-*.parquet"}).fetchall():
        print(name, sentence, " ".join(words))


if __name__ == "__main__":
    main(*sys.argv[1:])
