"""Model folders in which something was changed at random: an error that names the folder, or a model that works."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

HOSTILE: Final[list[Any]] = [
    *(None, True, False, 0, -1, -5, 1, 2**31, 2**53, 2**63, 10**30, 0.5, -0.5, 1e308, [], {}, [[]], [None], {"": {}}),
    *(
        "",
        " ",
        "a b",
        "(",
        ")",
        "\ud800",
        "\0",
        "\x1b[31m",
        "../x",
        "/etc/passwd",
        "x" * 10_000,
        "none",
        "en",
        "os.system",
    ),
]
NAMES: Final = (
    "../secret",
    "/etc/passwd",
    "sub/x",
    "..",
    ".",
    ".fencepost-incoming",
    "a b",
    "\x1b[31m",
    "checksums",
    "",
)
COMMANDS: Final = (
    ("parse", "--text", "Cats sleep on the mat.", "--model"),
    ("parse", "--text", "Cats sleep.", "--probabilities", "--format", "json", "--model"),
    ("parse", "--text", "Cats sleep.", "--kbest", "2", "--model"),
    ("models", "verify"),
    ("calibrate",),
    ("evaluate",),
    ("models", "repair"),
)


class Folders:
    """Each case is a changed folder and a command that reads it."""

    name = "folders"
    last_input = None  # a case is repeated by its number

    def prepare(self, folder: Path) -> None:
        import torch
        from safetensors.torch import save
        from tests.pretrained_samples import pretrained_files
        from tests.samples import TREES, tiny_config

        from fencepost.backends.torch import vocab_sizes
        from fencepost.config.toml import config_from_table
        from fencepost.export.onnx import export_onnx
        from fencepost.features.vocabularies import Vocabularies
        from fencepost.model.build import build_model
        from fencepost.storage.model_files import WEIGHTS
        from fencepost.storage.model_writer import write_model

        torch.manual_seed(1)
        self.folder, self.bases = folder, []
        (folder / "outside").mkdir()
        (folder / "outside" / "secret").write_text("secret")
        (folder / "trees.txt").write_text("".join(f"{tree}\n" for tree in TREES))
        with_encoder = config_from_table(
            {
                "lexical": ["pretrained", "char_lstm"],
                "pretrained": {"model": "x", "window": 32, "overlap": 8},
                "char_lstm": {"size": 8},
                "encoder": {"layers": 1, "d_model": 32, "heads": 2, "d_k": 8, "d_v": 8, "d_ff": 32},
                "scorer": {"hidden": 16, "predict_tags": True, "tag_hidden": 16},
            }
        )
        for number, config in enumerate((tiny_config(), with_encoder)):
            plain = Vocabularies.of(TREES, tiny_config())
            files = pretrained_files() if number else None
            vocabularies = Vocabularies(plain.labels, plain.words, plain.tags, plain.letters, "TOP", pretrained=files)
            base = folder / f"base{number}"
            weights = save(build_model(config, vocab_sizes(vocabularies)).state_dict())
            write_model(base, config, vocabularies, "# A card\n", {WEIGHTS: weights})
            export_onnx(base, folder / f"export{number}", "int8" if number else "fp32")
            self.bases += [base, folder / f"export{number}"]
        self.before = contents_outside(folder)

    def case(self, generator: random.Random) -> str:
        target = self.folder / "model"
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(generator.choice(self.bases), target)
        for _ in range(generator.choice((1, 1, 2, 3))):
            generator.choice(CHANGES)(generator, target)
        command = generator.choice(COMMANDS)
        more = [str(self.folder / "trees.txt")] if command[0] in ("calibrate", "evaluate") else []
        status, said = run_command([*command, str(target), *more])
        assert status in (0, 1, 2), status
        assert status == 0 or said.startswith("error: ") or "\nerror: " in said, said
        before, self.before = self.before, contents_outside(self.folder)
        assert self.before == before, set(self.before) ^ set(before)
        return f"{' '.join(command[:2]) if command[0] == 'models' else command[0]}: {status}"

    def replay(self, content: bytes) -> str:
        raise NotImplementedError


def run_command(command: list[str]) -> tuple[int, str]:
    from fencepost.cli.main import main

    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = io.StringIO(), io.StringIO()
    try:
        return main(command), sys.stderr.getvalue()
    finally:
        sys.stdout, sys.stderr = before


def contents_outside(folder: Path) -> list[tuple[object, ...]]:
    """All files outside the model, to see whether one was touched: contents too, but not of large ones."""
    found: list[tuple[object, ...]] = []
    for path in sorted(each for each in folder.rglob("*") if each.relative_to(folder).parts[0] != "model"):
        about = path.lstat()
        content = path.read_bytes() if path.is_file() and about.st_size < 2**16 else b""
        found.append((path, about.st_mode, about.st_ino, about.st_size, about.st_mtime_ns, content))
    return found


def _file(generator: random.Random, folder: Path) -> Path:
    return generator.choice(sorted(filter(_is_plain, folder.iterdir())))


def _store(folder: Path, path: Path, content: bytes, *, listed: bool = True) -> None:
    if not _is_plain(path):
        return
    path.write_bytes(content)
    if listed and path.name != "checksums" and _is_plain(folder / "checksums"):
        lines = (folder / "checksums").read_text(errors="replace").splitlines()
        others = [line for line in lines if not line.endswith(f"  {path.name}")]
        lines = [*others, f"{hashlib.sha256(content).hexdigest()}  {path.name}"]
        (folder / "checksums").write_text("\n".join(lines) + "\n")


def _is_plain(path: Path) -> bool:
    """False for what an earlier change has replaced: writing there would be our own attack on other files."""
    return path.is_file() and not path.is_symlink() and path.stat().st_size < 2**24


def flip(generator: random.Random, folder: Path) -> None:
    path = _file(generator, folder)
    content = bytearray(path.read_bytes() or b"\0")
    for _ in range(generator.choice((1, 1, 4, 40))):
        near = generator.choice((len(content), min(len(content), 300)))  # headers are at the beginning
        content[generator.randrange(near)] = generator.randrange(256)
    _store(folder, path, bytes(content), listed=generator.random() < 0.9)


def cut(generator: random.Random, folder: Path) -> None:
    path = _file(generator, folder)
    content = path.read_bytes()
    first, last = sorted(generator.randrange(len(content) + 1) for _ in range(2))
    _store(folder, path, generator.choice((content[:first], content[:first] + content[last:], content * 2, b"")))


def swap(generator: random.Random, folder: Path) -> None:
    one, other = _file(generator, folder), _file(generator, folder)
    first, second = one.read_bytes(), other.read_bytes()
    _store(folder, one, second)
    _store(folder, other, first)


def change_json(generator: random.Random, folder: Path) -> None:
    path = generator.choice(sorted(folder.glob("*.json")) or [folder / "vocab.json"])
    if not _is_plain(path):
        return
    try:
        table = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError):
        return
    place: Any = table
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        if not keys:
            return
        key = generator.choice(keys)
        if isinstance(place[key], dict | list) and place[key] and generator.random() < 0.7:
            place = place[key]
            continue
        match generator.randrange(4):
            case 0:
                del place[key]
            case 1 if isinstance(place, dict):
                place[generator.choice(["x", "auto_map", "_attn_implementation", *map(str, keys)])] = place.pop(key)
            case _:
                place[key] = generator.choice(HOSTILE)
        break
    _store(folder, path, json.dumps(table).encode())


def change_toml(generator: random.Random, folder: Path) -> None:
    path = folder / "config.toml"
    lines = path.read_text("utf-8", errors="replace").splitlines() if _is_plain(path) else []
    if not lines:
        return
    index = generator.randrange(len(lines))
    key, _, _ = lines[index].partition(" = ")
    values = [json.dumps(each) for each in HOSTILE if isinstance(each, str | int | float | list)]
    lines[index] = generator.choice(
        (
            f"{key} = {generator.choice(values)}",
            f"{key}.{key} = 1",
            f"[{key}]",
            'base = "paper"',
            "",
            ".".join("a" * 3000),
        )
    )
    _store(folder, path, "\n".join(lines).encode("utf-8", "replace"))


def change_list(generator: random.Random, folder: Path) -> None:
    path = folder / "checksums"
    lines = path.read_text(errors="replace").splitlines() if _is_plain(path) else []
    if not lines:
        return
    index = generator.randrange(len(lines))
    digest = lines[index][:64]
    lines[index : index + 1] = generator.choice(
        ([], [lines[index]] * 2, [f"{digest}  {generator.choice(NAMES)}"], [digest], ["x" * 300])
    )
    path.write_text("\n".join(lines) + "\n", errors="surrogatepass")


def replace_file(generator: random.Random, folder: Path) -> None:
    path = _file(generator, folder)
    content = path.read_bytes()
    path.unlink()
    match generator.randrange(6):
        case 0:
            path.symlink_to(generator.choice((folder.parent / "outside" / "secret", Path("/dev/zero"), path)))
        case 1:
            os.mkfifo(path)
        case 2:
            path.mkdir()
        case 3:
            path.touch()
            os.truncate(path, generator.choice((2**20, 2**34, 2**40)))
        case 4:
            elsewhere = folder / "moved"
            elsewhere.write_bytes(content)
            path.symlink_to(elsewhere)
        case _:
            pass


def leave_traces(generator: random.Random, folder: Path) -> None:
    """What writers leave, made by someone else."""
    name = generator.choice((".fencepost-incoming", ".fencepost-lock", ".fencepost-writing", ".fencepost-training"))
    path = folder / name
    if os.path.lexists(path):
        return
    match generator.randrange(4):
        case 0:
            path.symlink_to(folder.parent / "outside")
        case 1:
            path.symlink_to(folder.parent / "outside" / "made")
        case 2:
            path.mkdir()
            for file in filter(_is_plain, sorted(folder.iterdir())):
                shutil.copy(file, path / file.name)
        case _:
            path.mkdir()


CHANGES: Final[list[Callable[[random.Random, Path], None]]] = [
    *(flip, cut, swap, change_json, change_json, change_toml, change_list, replace_file, leave_traces)
]
