"""Imported models against what benepar 0.2.0 itself answered."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fencepost.export.onnx import export_onnx
from fencepost.integrations.benepar import import_benepar
from fencepost.parsing.load import load
from fencepost.parsing.parser import Parser
from fencepost.trees.spans import spans_below_root
from fencepost.trees.tree import Leaf, Tree
from fencepost.trees.treebank import Sentence
from tests.samples import nested

pytestmark = pytest.mark.golden
FILES = {"charlstm": "charlstm.pt", "bert": "bert", "t5": "t5"}


class Golden:
    """One of benepar's models, imported, and its answers."""

    def __init__(self, name: str, folder: Path, out: Path, model: Path | None = None) -> None:
        self.name, self.expected, self.out = name, folder / "expected" / name, out
        import_benepar(model or folder / FILES[name], out)
        self.parser = load(out)
        self.inputs: list[dict[str, Any]] = json.loads((self.expected / "inputs.json").read_text("utf-8"))

    def sentences(self, tags: bool) -> list[Sentence]:
        return [
            Sentence(tuple(line["words"]), tuple(line["tags"]) if tags else None, spaces=tuple(line["space_after"]))
            for line in self.inputs
        ]

    def trees(self, tags: bool) -> list[str]:
        suffix = "goldtags" if tags else "predtags"
        return (self.expected / f"{self.name}.trees_{suffix}.txt").read_text("utf-8").splitlines()

    def written(self, parser: Parser, tags: bool) -> list[str]:
        """Our trees as benepar wrote its own: with the words in Penn's spelling."""
        trees = parser.parse(self.sentences(tags))
        return [_respelled(tree, line["escaped_words"]) for tree, line in zip(trees, self.inputs, strict=True)]


def _respelled(tree: Tree, words: list[str]) -> str:
    leaves = [Leaf(leaf.tag, word) for leaf, word in zip(tree.leaves(), words, strict=True)]
    return str(nested(leaves, spans_below_root(tree), tree.label))


@pytest.fixture(scope="module", params=FILES)
def golden(request: pytest.FixtureRequest, shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Golden:
    return Golden(request.param, shared / "reference" / "benepar", tmp_path_factory.mktemp(request.param) / "model")


@pytest.mark.parametrize("tags", [True, False], ids=["tags given", "no tags"])
def test_trees_are_those_of_benepar(golden: Golden, tags: bool) -> None:
    assert golden.written(golden.parser, tags) == golden.trees(tags)


def test_words_in_penn_spelling_give_the_same_trees(golden: Golden) -> None:
    trees = golden.parser.parse([line["escaped_words"] for line in golden.inputs])
    assert list(map(str, trees)) == golden.trees(tags=False)


def test_span_scores_are_those_of_benepar(golden: Golden) -> None:
    with np.load(golden.expected / "scores.npz") as scores:
        for number, sentence in enumerate(golden.sentences(tags=False)[:12]):
            theirs = scores[f"scores_{number:03}"]  # of words i to j, both included
            batch = golden.parser._indexer.batch([sentence])
            ours = golden.parser._backend.score(batch).spans.scores[0, :-1, 1:]
            cells = np.triu_indices(len(sentence))
            np.testing.assert_allclose(ours[cells], theirs[cells], atol=1e-4)


@pytest.mark.parametrize("name", FILES)
def test_trees_are_the_same_without_torch(name: str, shared: Path, tmp_path: Path) -> None:
    golden = Golden(name, shared / "reference" / "benepar", tmp_path / "model")
    export_onnx(golden.out, tmp_path / "onnx")
    parser = load(tmp_path / "onnx")
    for tags in (True, False):
        assert golden.written(parser, tags) == golden.trees(tags)


def test_t5_needs_neither_torch_nor_the_tokenizers_package(shared: Path, tmp_path: Path) -> None:
    golden = Golden("t5", shared / "reference" / "benepar", tmp_path / "model")
    export_onnx(golden.out, tmp_path / "onnx")
    words = [line["escaped_words"] for line in golden.inputs]
    program = f"""
import sys
for name in ("torch", "transformers", "tokenizers", "sentencepiece", "safetensors", "onnx", "huggingface_hub"):
    sys.modules[name] = None  # importing it is now an error
import fencepost
print(*fencepost.load({str(tmp_path / "onnx")!r}).parse({words!r}), sep="\\n")
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    assert answer.stdout.splitlines() == golden.trees(tags=False)


def test_in_eight_bits_scores_of_t5_are_nearly_those_of_benepar(shared: Path, tmp_path: Path) -> None:
    golden = Golden("t5", shared / "reference" / "benepar", tmp_path / "model")
    export_onnx(golden.out, tmp_path / "onnx", "int8")
    rounded, exact = (
        parser.span_scores(golden.sentences(tags=False)).packed() for parser in (load(tmp_path / "onnx"), golden.parser)
    )
    assert 0 < np.abs(rounded - exact).mean() < 0.01 * np.abs(exact).mean()


@pytest.mark.parametrize("name", ["bert", "t5"])
def test_old_exports_without_a_fast_tokenizer_give_the_same_trees(name: str, shared: Path, tmp_path: Path) -> None:
    folder = shared / "reference" / "benepar"
    shutil.copytree(folder / name, tmp_path / name)
    (tmp_path / name / "tokenizer.json").unlink()
    golden = Golden(name, folder, tmp_path / "model", tmp_path / name)
    assert golden.written(golden.parser, tags=False) == golden.trees(tags=False)


def test_a_folder_in_a_zip_file_gives_the_same_trees(shared: Path, tmp_path: Path) -> None:
    folder = shared / "reference" / "benepar"
    archive = shutil.make_archive(str(tmp_path / "bert"), "zip", folder, "bert")
    golden = Golden("bert", folder, tmp_path / "model", Path(archive))
    assert golden.written(golden.parser, tags=False) == golden.trees(tags=False)
