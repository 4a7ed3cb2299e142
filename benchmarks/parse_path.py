"""Measures the cost of sentences on their way through the parser: checks, splits, batches and CPU seconds.

    python benchmarks/parse_path.py                            # this checkout
    python benchmarks/parse_path.py --before OTHER/src         # compared with another checkout, taking turns

CPU seconds don't include the start of Python and the loading of the model. Those spent outside the model are shown
separately: the model takes most of the time, and on a busy machine its time varies by more than all the rest.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

SOURCES = Path(__file__).resolve().parent.parent / "src"
KINDS = ("all", "outside")
COUNTED = {"real_words": "checks", "split_sentences": "splits"}


def main() -> None:
    arguments = parse_arguments()
    if arguments.child:
        print(json.dumps(measure(**json.loads(arguments.child))))
        return
    sources = {"before": arguments.before, "after": SOURCES} if arguments.before else {"now": SOURCES}
    for path in arguments.paths:
        compare(path, sources, arguments)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", type=Path, help="the src folder of another checkout")
    parser.add_argument("--sentences", type=int, default=3000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--paths", nargs="+", choices=PATHS, default=list(PATHS))
    parser.add_argument("--child", help=argparse.SUPPRESS)
    return parser.parse_args()


def compare(path: str, sources: dict[str, Path], arguments: argparse.Namespace) -> None:
    rounds: dict[str, list[dict[str, Any]]] = {name: [] for name in sources}
    for number in range(arguments.rounds):
        for name, source in sources.items():
            rounds[name].append(run_child(source, path, arguments.sentences, counts=number == 0))
    print(f"{path}: {arguments.sentences:,} sentences, best of {arguments.rounds} rounds")
    print("          CPU s  outside the model  checks  splits  batches")
    best = {name: {kind: min(run[kind] for run in runs) for kind in KINDS} for name, runs in rounds.items()}
    for name, (first, *_) in rounds.items():
        sizes = first["batches"]
        shown = ", ".join(map(str, sizes[:12])) + (", …" if len(sizes) > 12 else "")
        figures = f"{best[name]['all']:7.3f} {best[name]['outside']:18.3f} {first['checks']:7,} {first['splits']:7,}"
        print(f"  {name:6} {figures}  {len(sizes):7}: {shown}")
    if len(best) == 2:
        ratios = {kind: best["after"][kind] / best["before"][kind] for kind in KINDS}
        print(f"  ratio  {ratios['all']:7.3f} {ratios['outside']:18.3f}")


def run_child(source: Path, path: str, count: int, counts: bool) -> dict[str, Any]:
    environment = {**os.environ, "PYTHONPATH": str(source.absolute()), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, __file__, "--child", json.dumps({"path": path, "count": count, "counts": counts})]
    output = subprocess.run(command, env=environment, check=True, capture_output=True).stdout
    figures: dict[str, Any] = json.loads(output)
    return figures


# In the process that is measured


def through_command(lines: list[str], *options: str) -> None:
    from fencepost.cli.main import main as fencepost

    with TemporaryDirectory() as folder:
        file = Path(folder) / "text.txt"
        file.write_text("".join(lines), "utf-8")
        with contextlib.redirect_stdout(io.StringIO()):
            assert fencepost(["parse", str(file), *options]) == 0


def through_stream(lines: list[str]) -> None:
    import fencepost

    for _ in fencepost.load().iter_parse_text(lines):
        pass


def through_list(lines: list[str]) -> None:
    import fencepost

    fencepost.load().parse_text("".join(lines))


PATHS: dict[str, Callable[[list[str]], None]] = {
    "command": lambda lines: through_command(lines, "--workers", "1"),
    "command-json": lambda lines: through_command(lines, "--workers", "1", "--format", "json"),
    "workers": lambda lines: through_command(lines, "--workers", "2"),
    "stream": through_stream,
    "list": through_list,
}


def measure(path: str, count: int, counts: bool) -> dict[str, Any]:
    from fencepost.parsing.timing import bench_sentences

    sentences = [" ".join(words) + "\n" for words in bench_sentences()]
    lines = [sentences[number % len(sentences)] for number in range(count)]
    PATHS[path](lines[:1])  # warm-up: imports, and loads the model once
    start = cpu_seconds(path, lines[:1])
    figures: dict[str, Any] = {kind: seconds - start[kind] for kind, seconds in cpu_seconds(path, lines).items()}
    if counts:
        with counted() as calls, batches() as (sizes, _):
            PATHS[path](lines)
        figures |= {name: calls[name] for name in COUNTED.values()} | {"batches": sizes}
    return figures


def cpu_seconds(path: str, lines: list[str]) -> dict[str, float]:
    """CPU seconds of this process and its children: ``all``, and ``outside`` the model runs of this process."""
    with batches() as (_, in_model):
        began = time.process_time() + sum(os.times()[2:4])
        PATHS[path](lines)
        seconds = time.process_time() + sum(os.times()[2:4]) - began
    return {"all": seconds, "outside": seconds - sum(in_model)}


@contextlib.contextmanager
def counted() -> Iterator[Counter[str]]:
    """Counts calls of the functions in ``COUNTED``, by name, in any module."""
    counts: Counter[str] = Counter()

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and (what := COUNTED.get(frame.f_code.co_name)):
            counts[what] += 1

    sys.setprofile(profile)
    try:
        yield counts
    finally:
        sys.setprofile(None)


@contextlib.contextmanager
def batches() -> Iterator[tuple[list[int], list[float]]]:
    """Collects the number of sentences in each batch of this process, and the CPU seconds of the model for it."""
    from fencepost.backends.onnx import OnnxBackend

    sizes: list[int] = []
    seconds: list[float] = []
    launch = OnnxBackend.launch

    def counting(self: OnnxBackend, batch: Any, *, functions: bool = False) -> Any:
        sizes.append(len(batch.lengths))
        began = time.process_time()
        finish = launch(self, batch, functions=functions)
        seconds.append(time.process_time() - began)
        return finish

    OnnxBackend.launch = counting  # type: ignore[method-assign]
    try:
        yield sizes, seconds
    finally:
        OnnxBackend.launch = launch  # type: ignore[method-assign]


if __name__ == "__main__":
    main()
