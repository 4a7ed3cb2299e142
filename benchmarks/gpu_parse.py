"""Measures how fast a model parses on a GPU, from word lists to lines of brackets, by precision and batch size.

    PYTHONPATH=src python benchmarks/gpu_parse.py --model runs/craft --trees TREEBANKS/en/wsj-sample/*.txt --times 3

Each figure is the best of three passes after a warm-up pass that compiles kernels. One more pass measures how the time
is split.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from fencepost.backends.torch import TorchBackend
from fencepost.features.batch import Batch
from fencepost.parsing.parser import Parser
from fencepost.storage.model_folder import ModelFolder
from fencepost.trees.treebank import Sentence, Treebank


class Stopwatch:
    """A backend that adds up the time in which the host launches batches and waits for them."""

    def __init__(self, backend: TorchBackend) -> None:
        self._backend = backend
        self.batch_tokens, self.overlaps = backend.batch_tokens, backend.overlaps
        self.seconds = {"launching": 0.0, "waiting": 0.0}

    def launch(self, batch: Batch, *, functions: bool = False) -> Callable[[], Any]:
        finish = self._timed("launching", lambda: self._backend.launch(batch, functions=functions))
        return lambda: self._timed("waiting", finish)

    def _timed(self, what: str, function: Callable[[], Any]) -> Any:
        began = time.perf_counter()
        result = function()
        self.seconds[what] += time.perf_counter() - began
        return result


def main() -> None:
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    reader.add_argument("--model", type=Path, required=True)
    reader.add_argument("--trees", type=Path, nargs="+", required=True)
    reader.add_argument("--times", type=int, default=1, help="parse each sentence this often")
    reader.add_argument("--device", default="cuda")
    reader.add_argument("--batch-tokens", type=int, nargs="+", default=[10_000, 20_000, 40_000, 80_000])
    reader.add_argument("--out", type=Path)
    arguments = reader.parse_args()
    loaded = [sentence for path in arguments.trees for sentence in Treebank.load(path).sentences()]
    sentences = [Sentence(sentence.words, sentence.tags) for sentence in loaded] * arguments.times
    words = sum(map(len, sentences)) / len(sentences)
    print(
        f"{len(sentences):,} sentences of {words:.1f} words; {torch.cuda.get_device_name()}; torch {torch.__version__}"
    )
    rows = []
    folder = ModelFolder.open(arguments.model)
    for precision in ("bf16", "fp32"):
        backend = TorchBackend.load(folder, arguments.device, precision)
        parser = Parser(backend, folder.config, folder.vocabularies)
        for tokens in arguments.batch_tokens:
            passes = [_seconds(parser, sentences, tokens) for _ in range(4)]
            watch = Stopwatch(backend)
            whole = _seconds(Parser(watch, folder.config, folder.vocabularies), sentences, tokens)  # type: ignore[arg-type]
            row = {
                "precision": precision,
                "batch_tokens": tokens,
                "sentences_per_second": round(len(sentences) / min(passes[1:])),
            }
            row |= {f"{what}_share": round(seconds / whole, 3) for what, seconds in watch.seconds.items()}
            print(json.dumps(row), flush=True)
            rows.append(row)
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(rows, indent=1))


def _seconds(parser: Parser, sentences: list[Sentence], batch_tokens: int) -> float:
    began = time.perf_counter()
    lines = list(map(str, parser.iter_parse(sentences, batch_tokens=batch_tokens)))
    seconds = time.perf_counter() - began
    assert len(lines) == len(sentences)  # also keeps the text alive until the clock has stopped
    return seconds


if __name__ == "__main__":
    main()
