"""Model folders changed on purpose: those of ``tests/attacks``, each through every command that reads a model.

The tests run one command on each folder and check what it says. Here all commands run, under the watch of the harness.
A case is a folder and a command; the seed makes no difference, and after the last folder it begins again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from functools import partial
from itertools import permutations, product
from pathlib import Path
from typing import Any, Final

from benchmarks.attacks.folders import COMMANDS, contents_outside, run_command
from benchmarks.attacks.harness import Generator

from fencepost.storage.model_files import ONNX, SPANS, WEIGHTS
from fencepost.storage.subword_table import SUBWORD_TABLE

Change = Callable[[Path], object]


class Crafted:
    """Each case is a pair of a folder and a command, by its number."""

    name = "crafted"
    last_input = None

    def prepare(self, folder: Path) -> None:
        from tests.attacks.strangers import copy_of_en
        from tests.attacks.test_weights import write
        from tests.pretrained_samples import pretrained_files
        from tests.samples import TREES, tiny_config

        from fencepost.config.toml import config_from_table
        from fencepost.features.vocabularies import Vocabularies

        self.folder, plain = folder, Vocabularies.of(TREES, tiny_config())
        (folder / "secret.bin").write_bytes(bytes(2**16))
        (folder / "trees.txt").write_text("".join(f"{tree}\n" for tree in TREES[:3]))
        copy_of_en(folder / "en")
        write(folder / "weights", tiny_config(), plain)
        table = {"lexical": ["pretrained"], "pretrained": {"model": "x", "window": 32, "overlap": 8}}
        config = config_from_table({**table, "encoder": {"layers": 1, "d_model": 32, "heads": 2, "d_k": 8, "d_v": 8}})
        with_encoder = Vocabularies(
            plain.labels, plain.words, plain.tags, plain.letters, "TOP", pretrained=pretrained_files()
        )
        write(folder / "encoder", config, with_encoder)
        self.pairs = [(base, name, change, command) for base, name, change in all_changes() for command in COMMANDS]
        self.before = contents_outside(folder)

    def case(self, generator: Generator) -> str:
        base, name, change, command = self.pairs[generator.number % len(self.pairs)]
        target = self.folder / "model"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder / base, target)
        change(target)
        more = [str(self.folder / "trees.txt")] if command[0] in ("calibrate", "evaluate") else []
        status, said = run_command([*command, str(target), *more])
        assert status in (0, 1, 2), (name, command, status)
        assert status == 0 or said.startswith("error: ") or "\nerror: " in said, (name, command, said)
        before, self.before = self.before, contents_outside(self.folder)
        assert self.before == before, (name, command)
        return f"{command[0]}: {status}"

    def replay(self, content: bytes) -> str:
        raise NotImplementedError


def all_changes() -> Iterator[tuple[str, str, Change]]:
    """The folder to change, a name, and the change."""
    for change in (_configurations, _texts, _graphs, _files, _weights):
        yield from change()


def _configurations() -> Iterator[tuple[str, str, Change]]:
    from tests.attacks.strangers import rewrite
    from tests.attacks.test_model_text import CONFIGS

    def edit(change: Callable[[str], str], folder: Path) -> None:
        rewrite(folder, "config.toml", change((folder / "config.toml").read_text()).encode())

    for name, change in CONFIGS.items():
        yield "en", f"config.toml: {name}", partial(edit, change)


def _texts() -> Iterator[tuple[str, str, Change]]:
    from tests.attacks import test_model_text as texts
    from tests.attacks.strangers import change_json, rewrite

    tables = {"vocab.json": texts.VOCABULARY, "tokenizer.json": texts.TOKENIZERS, "encoder.json": texts.ENCODERS}
    for file, table in tables.items():
        for name, change in table.items():
            yield "en", f"{file}: {name}", partial(_with_last, change_json, file, change)
        for name, content in texts.BOMBS.items():
            yield "en", f"{file}: {name}", partial(_with_last, rewrite, file, content)


def _graphs() -> Iterator[tuple[str, str, Change]]:
    from tests.attacks import test_graphs as graphs
    from tests.attacks.strangers import rewrite

    def change(name: str, edit: Callable[[Any], object], folder: Path) -> None:
        graphs.change(folder, name, edit)

    def outside(location: str, model: Any) -> None:
        graphs.point_outside(model.graph.initializer[0], location)

    def replace(source: str, target: str, folder: Path) -> None:
        rewrite(folder, target, (folder / source).read_bytes())

    edits: list[tuple[str, Callable[[Any], object]]] = [
        *((SPANS, edit) for edit in graphs.FOREIGN),
        *graphs.CHANGED,
        *((name, graphs.fill(name, value)) for name in graphs.GRAPHS for value in (float("nan"), float("inf"), 3e38)),
        *((SPANS, graphs.shifted(by, "label")) for by in (-1000, 1000, 2**62)),
        *((ONNX, graphs.shifted(by, "predicted_tags")) for by in (-1000, 1000, 2**62)),
        *((name, graphs.of_another_shape(output, axes)) for name, output, axes in graphs.SHAPES),
    ]
    for location, name in product(("../secret.bin", "inside.bin", "/etc/hostname"), graphs.GRAPHS):
        edits.append((name, partial(outside, location)))
    for number, (name, edit) in enumerate(edits):
        yield "en", f"{name}: edit {number}", partial(change, name, edit)
    for source, target in permutations(graphs.GRAPHS, 2):
        yield "en", f"{target}: {source} in its place", partial(replace, source, target)
    for name, content in product(graphs.GRAPHS, (b"", b"\0" * 100, b"\xff" * 100, b"ORTM" * 100, b"\x3a\xff\xff\xff")):
        yield "en", f"{name}: {content[:4]!r}", partial(_with_last, rewrite, name, content)
    for name, content in graphs.TABLES.items():
        yield "en", f"{SUBWORD_TABLE}: {name}", partial(_with_last, rewrite, SUBWORD_TABLE, content)


FILES: Final = ("config.toml", "vocab.json", "README.md", "model.onnx", "tokenizer.json", "checksums")


def _files() -> Iterator[tuple[str, str, Change]]:
    from tests.attacks.strangers import relist
    from tests.attacks.test_model_files import NAMES

    def link(name: str, to: str, folder: Path) -> None:
        if to == "elsewhere":
            shutil.copy(folder / name, folder / to)
        (folder / name).unlink()
        (folder / name).symlink_to(to)

    def pipe(name: str, folder: Path) -> None:
        (folder / name).unlink()
        os.mkfifo(folder / name)

    def subfolder(name: str, folder: Path) -> None:
        (folder / name).unlink()
        (folder / name).mkdir()

    def giant(name: str, folder: Path) -> None:
        os.truncate(folder / name, 2**40)

    def staging(to: str, folder: Path) -> None:
        (folder / "checksums").write_text("damaged\n")
        (folder / ".fencepost-incoming").symlink_to(to)

    for name in NAMES:
        yield "en", f"checksums: {name[:20]!r}", partial(_with_last, relist, name)
    for name in FILES:
        for to in ("elsewhere", "../secret.bin", "/dev/zero", "/proc/self/mem", name):
            yield "en", f"{name}: a link to {to}", partial(link, name, to)
        yield "en", f"{name}: a pipe", partial(pipe, name)
        yield "en", f"{name}: a folder", partial(subfolder, name)
        yield "en", f"{name}: a terabyte", partial(giant, name)
    for to in ("../en", "../weights", "/etc", "."):
        yield "en", f".fencepost-incoming: a link to {to}", partial(staging, to)


def _weights() -> Iterator[tuple[str, str, Change]]:
    from safetensors.torch import load, save
    from tests.attacks import test_weights as weights
    from tests.attacks.strangers import change_json, rewrite

    def resize(size: str, folder: Path) -> None:
        start = size.partition(" = ")[0] + " = "
        lines = [size if line.startswith(start) else line for line in (folder / "config.toml").read_text().splitlines()]
        rewrite(folder, "config.toml", "\n".join(lines).encode())

    def reweigh(edit: Callable[[Any], object], folder: Path) -> None:
        table = load((folder / WEIGHTS).read_bytes())
        edit(table)
        rewrite(folder, WEIGHTS, save(table))

    for size in (*weights.SIZES, "layers = 1024", "heads = 1024"):
        yield "weights", f"config.toml: {size}", partial(resize, size)
    for edit in (weights.without, weights.more, weights.transposed, weights.not_numbers, weights.infinite):
        yield "weights", f"{WEIGHTS}: {edit.__name__}", partial(reweigh, edit)
    for name, content in weights.HEADERS.items():
        yield "weights", f"{WEIGHTS}: {name}", partial(_with_last, rewrite, WEIGHTS, content)
    for name, change in weights.ENCODERS.items():
        yield "encoder", f"encoder.json: {name}", partial(_with_last, change_json, "encoder.json", change)


def _with_last(change: Callable[..., object], *arguments: object) -> None:
    """Calls a change whose first argument is the folder, which comes last here."""
    *others, folder = arguments
    change(folder, *others)
