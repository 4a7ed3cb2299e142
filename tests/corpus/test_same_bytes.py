"""With torch, a sentence has other last digits in other company; parts have the same bytes all the same."""

from __future__ import annotations

from pathlib import Path

from fencepost.cli.main import main
from fencepost.parsing.load import load
from fencepost.training.train import train
from tests.corpus.corpus_samples import contents, documents, write_jsonl
from tests.grammar import toy_trees
from tests.samples import tiny_config


def test_any_number_of_workers_writes_the_same_bytes_with_torch(tmp_path: Path) -> None:
    trees = toy_trees(30)
    train(tiny_config(max_epochs=1), trees, trees, tmp_path / "model")
    assert load(tmp_path / "model").backend_name == "torch"
    path = write_jsonl(tmp_path / "in.jsonl", documents(60))
    command = ["corpus", str(path), "--model", str(tmp_path / "model"), "--part-bytes", "1000"]
    for workers in ("1", "2"):
        assert main([*command, "--out", str(tmp_path / workers), "--workers", workers]) == 0
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert len(contents(tmp_path / "1")) > 5
