"""Disks that are full at a random moment: an error, and the file or model that was there before."""

from __future__ import annotations

import os
import random
import resource
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

TREE: Final = "(TOP (S (NP (DT The) (NN cat)) (VP (VBD sat)) (. .)))\n"


class Disks:
    """Each case writes with a limit on the size of files, which acts like a full disk, in a forked process."""

    name = "disks"
    last_input = None

    def prepare(self, folder: Path) -> None:
        from tests.samples import TREES, tiny_config

        from fencepost.features.vocabularies import Vocabularies
        from fencepost.parsing.load import load
        from fencepost.storage.model_writer import write_model

        self.folder, self.config = folder, tiny_config()
        self.vocabularies = Vocabularies.of(TREES, self.config)
        (folder / "trees.txt").write_text(TREE * 2000)
        (folder / "text.txt").write_text("The cat sat.\n" * 300)
        write_model(folder / "model", self.config, self.vocabularies, "old", {"model.onnx": b"old" * 5000})
        (folder / "out.txt").write_text("old\n")
        self.before = {path: path.read_bytes() for path in [folder / "out.txt", *(folder / "model").iterdir()]}
        load().parse([["It", "works"]])  # a fork can use the modules and files that this has read

    def case(self, generator: random.Random) -> str:
        attacks: list[Callable[[], int]] = [self._words, self._parse, self._model]
        attack = generator.choice(attacks)
        limit = generator.choice((0, 1, 100, 5_000, 20_000, generator.randrange(100_000)))
        status = _in_a_fork(attack, limit)
        assert status in (0, 1, 2), status
        if status == 0:
            self._restore()
            return f"{attack.__name__}: written"
        for path, content in self.before.items():
            assert path.read_bytes() == content, path
        partial = Path(f"{self.folder / 'out.txt'}.partial")
        partial.unlink(missing_ok=True)
        left = {path.name for path in (self.folder / "model").iterdir()} - {path.name for path in self.before}
        assert not left, left
        return f"{attack.__name__}: refused"

    def replay(self, content: bytes) -> str:
        raise NotImplementedError

    def _restore(self) -> None:
        for path, content in self.before.items():
            path.write_bytes(content)
        for path in (self.folder / "model").iterdir():
            if path not in self.before:
                path.unlink()

    def _words(self) -> int:
        from fencepost.cli.main import main

        trees, out = self.folder / "trees.txt", self.folder / "out.txt"
        return main(["treebank", "words", str(trees), "--output", str(out)])

    def _parse(self) -> int:
        from fencepost.cli.main import main

        text, out = self.folder / "text.txt", self.folder / "out.txt"
        return main(["parse", str(text), "--workers", "1", "--output", str(out)])

    def _model(self) -> int:
        from fencepost.storage.model_writer import write_model

        try:
            write_model(
                self.folder / "model", self.config, self.vocabularies, "new", {"model.safetensors": b"new" * 20_000}
            )
        except OSError:
            return 1
        return 0


def _in_a_fork(work: Callable[[], int], limit: int) -> int:
    child = os.fork()
    if child == 0:
        status = 99
        try:
            signal.alarm(0)
            sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115  # they may be files, too
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
            status = work()
        finally:
            os._exit(status)
    _, waited = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(waited)
