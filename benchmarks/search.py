"""How fast patterns are found, beside Stanford's Tregex and NLTK's tgrep, on the same trees in one run.

    python benchmarks/search.py train.txt [--jar stanford-tregex.jar] [--nltk-trees 1000] [--rounds 3]
        [--out results.json]

The patterns are those of L2SCA (Lu 2010) with TOP for ROOT. All figures are seconds of CPU time, user and system, so
that other programs on the machine matter little; everything is kept on one core. Tregex reads the trees anew for each
pattern, as L2SCA lets it; the time of a run over a single tree (the start of the JVM) is subtracted. Tregex and we
take turns, and the best of a few rounds counts. tgrep has no heads: it gets < for <#, and only some of the trees,
because all of them would take hours.

Ours: ``files`` is the command without an index, which reads some megabytes and searches them at once; ``one by one``
reads trees and calls Pattern.count for each; ``trees`` does so for trees in memory; ``index`` opens a saved index.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fencepost import Pattern, Treebank
from fencepost.search.index import Index
from fencepost.trees.treebank import iter_trees

VERB = "MD|VBZ|VBP|VBD"
CLAUSE = f"S|SINV|SQ [> TOP <, (VP <# VB) | <# {VERB} | < (VP [<# {VERB} | < CC < (VP <# {VERB})])]"
T_UNIT = "S|SBARQ|SINV|SQ > TOP | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]"
T_UNIT_GROUPED = "S|SBARQ|SINV|SQ [> TOP | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP]]"
PATTERNS = {
    "S": "TOP",
    "VP1": "VP > S|SINV|SQ",
    "VP2": f"{VERB} > (SQ !< VP)",
    "C": CLAUSE,
    "FC": f"FRAG > TOP !<< (S|SINV|SQ [> TOP <, (VP <# VB) | <# {VERB} | < (VP [<# {VERB} | < CC < (VP <# {VERB})])])",
    "T": T_UNIT,
    "FT": "FRAG > TOP !<< (S|SBARQ|SINV|SQ > TOP | [$-- S|SBARQ|SINV|SQ !>> SBAR|VP])",
    "DC": f"SBAR < ({CLAUSE})",
    "CT": f"{T_UNIT_GROUPED} << (SBAR < ({CLAUSE}))",
    "CP": "ADJP|ADVP|NP|VP < CC",
    "CN1": "NP !> NP [<< JJ|POS|PP|S|VBG | << (NP $++ NP !$+ CC)]",
    "CN2": "SBAR [<# WHNP | <# (IN < That|that|For|for) | <, S] & [$+ VP | > VP]",
    "CN3": "S < (VP <# VBG|TO) $+ VP",
}
TREGEX = "edu.stanford.nlp.trees.tregex.TregexPattern"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, result


def of_child(command: list[str]) -> tuple[float, str]:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime), output


def tregex(jar: str, pattern: str, path: str) -> tuple[float, int]:
    options = ["-XX:+UseSerialGC", "-XX:ActiveProcessorCount=1", "-Xmx4g"]
    seconds, output = of_child(["java", *options, "-cp", jar, TREGEX, "-C", "-o", pattern, path])
    return seconds, int(output.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("trees")
    parser.add_argument("--jar")
    parser.add_argument("--nltk-trees", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=3, help="the best of these counts (default: 3)")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rows: dict[str, dict[str, float]] = {name: {} for name in PATTERNS}
    patterns = {name: Pattern(text) for name, text in PATTERNS.items()}
    time_files(arguments.trees, patterns, rows, arguments.jar, arguments.rounds)
    sizes = time_memory(arguments.trees, patterns, rows)
    if arguments.nltk_trees:
        time_tgrep(arguments.trees, arguments.nltk_trees, patterns, rows)
    report(sizes, rows)
    if arguments.out:
        Path(arguments.out).write_text(json.dumps({"sizes": sizes, "rows": rows}, indent=1))


def time_files(
    path: str, patterns: dict[str, Pattern], rows: dict[str, dict[str, float]], jar: str | None, rounds: int
) -> None:
    """Pattern by pattern, the programs in turn, so that they share what else the machine does."""
    assert sum(1 for _ in iter_trees(path))  # all programs find the file in memory
    for name, pattern in patterns.items():
        row = rows[name]
        for _ in range(rounds):
            counted = lambda: sum(index.count(pattern, once=True) for index in Index.stream(path))  # noqa: B023, E731
            keep_best(row, "files", timed(counted))
            keep_best(row, "one by one", timed(lambda: pattern.count(iter_trees(path), once=True)))  # noqa: B023
            if jar:
                keep_best(row, "tregex", time_tregex(jar, PATTERNS[name], path))
        if jar:
            row["tregex / one by one"] = row["tregex"] / row["one by one"]


def keep_best(row: dict[str, float], name: str, result: tuple[float, int]) -> None:
    seconds, found = result
    assert row.setdefault("matches", found) == found, (name, row["matches"], found)
    row[name] = min(row.get(name, seconds), seconds)


def time_memory(path: str, patterns: dict[str, Pattern], rows: dict[str, dict[str, float]]) -> dict[str, float]:
    """A saved index, and trees in memory."""
    sizes: dict[str, float] = {}
    sizes["read"], index = timed(lambda: Index.read(path))
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / "index"
        sizes["save"], _ = timed(lambda: index.save(target))
        sizes["megabytes"] = sum(file.stat().st_size for file in target.iterdir()) / 1e6
        sizes["trees"], sizes["tokens"] = index.columns.trees, index.columns.tokens
        for name, pattern in patterns.items():
            rows[name]["index"], found = timed(lambda: Index.open(target).count(pattern, once=True))  # noqa: B023
            assert found == rows[name]["matches"]
    # Trees in memory come last: Python's garbage collector looks at them again and again.
    sizes["load trees"], bank = timed(lambda: Treebank.load(path))
    for name, pattern in patterns.items():
        rows[name]["trees"], found = timed(lambda: pattern.count(bank, once=True))  # noqa: B023
        assert found == rows[name]["matches"]
    return sizes


def time_tregex(jar: str, pattern: str, path: str) -> tuple[float, int]:
    """Without the time that the JVM takes to start."""
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as one:
        one.write("(TOP (S (NP (NN a)) (VP (VB b))))\n")
        one.flush()
        start = min(tregex(jar, pattern, one.name)[0] for _ in range(2))
    seconds, found = tregex(jar, pattern, path)
    return seconds - start, found


def time_tgrep(path: str, number: int, patterns: dict[str, Pattern], rows: dict[str, dict[str, float]]) -> None:
    from nltk import tgrep
    from nltk.tree import ParentedTree

    bank = Treebank.load(path)[:number]
    parented = [ParentedTree.convert(tree.to_nltk()) for tree in bank]
    for name, pattern in patterns.items():
        try:
            compiled = tgrep.tgrep_compile(PATTERNS[name].replace("<#", "<"))
            seconds, _ = timed(lambda: [list(tgrep.tgrep_nodes(compiled, [tree])) for tree in parented])  # noqa: B023
        except Exception as error:
            print(f"tgrep can't read {name}: {type(error).__name__}")
            continue
        rows[name]["tgrep"] = seconds
        rows[name]["the same trees"], _ = timed(lambda: pattern.count(bank, once=True))  # noqa: B023


def report(sizes: dict[str, float], rows: dict[str, dict[str, float]]) -> None:
    columns = [
        "matches",
        "tregex",
        "files",
        "one by one",
        "tregex / one by one",
        "trees",
        "index",
        "tgrep",
        "the same trees",
    ]
    columns = [column for column in columns if any(column in row for row in rows.values())]
    print("| pattern | " + " | ".join(columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    for name, row in rows.items():
        cells = [f"{row[c]:.4g}" if c in row else "" for c in columns]
        print(f"| {name} | " + " | ".join(cells) + " |")
    totals = {c: sum(row[c] for row in rows.values() if c in row) for c in columns if c != "tregex / one by one"}
    print("| sum | " + " | ".join(f"{totals[c]:.4g}" if c in totals else "" for c in columns) + " |")
    million = sizes["tokens"] / 1e6
    print(f"\n{sizes['trees']:,.0f} trees, {sizes['tokens']:,.0f} tokens")
    print(f"reading trees: {sizes['load trees']:.2f} s")
    build = sizes["read"] + sizes["save"]
    print(f"index: {build:.2f} s to build ({build / million:.2f} s per million tokens), ", end="")
    print(f"{sizes['megabytes']:.1f} MB ({sizes['megabytes'] / million:.1f} MB per million tokens)")
    for other, ours in (("tregex", "files"), ("tregex", "one by one"), ("tregex", "index")):
        if other in totals:
            print(f"{other} / {ours}: {totals[other] / totals[ours]:.1f}")
    if "tgrep" in totals:
        both = [row for row in rows.values() if "tgrep" in row]
        ratio = sum(r["tgrep"] for r in both) / sum(r["the same trees"] for r in both)
        print(f"tgrep / the same trees in memory: {ratio:.1f}")


if __name__ == "__main__":
    main()
