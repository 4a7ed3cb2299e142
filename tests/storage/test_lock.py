"""Two processes at one folder."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest

from fencepost.config.settings import Config
from fencepost.errors import ModelError
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage import model_folder
from fencepost.storage.lock import locked
from fencepost.storage.model_files import WEIGHTS, find_problem
from fencepost.storage.model_folder import ModelFolder, disagreement, read_config
from fencepost.storage.model_staging import recover
from fencepost.storage.model_writer import change_config, write_model
from fencepost.trees.tree import Tree
from tests.samples import TREES, tiny_config

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such locks on Windows")


def test_a_lock_that_is_held_is_refused_and_leaves_no_file_in_the_end(tmp_path: Path) -> None:
    with locked(tmp_path / "lock"):
        with pytest.raises(BlockingIOError), locked(tmp_path / "lock", wait=False):
            pass
        assert (tmp_path / "lock").exists()
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / "lock", wait=False):
        pass


def test_a_lock_is_waited_for_and_held_by_one_at_a_time(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(10):
            with locked(tmp_path / "lock"):
                inside += 1
                most = max(most, inside)
                time.sleep(0.001)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 1
    assert list(tmp_path.iterdir()) == []


def test_a_process_that_died_holds_no_lock(tmp_path: Path) -> None:
    program = f"""if True:
        import os
        from pathlib import Path
        from fencepost.storage.lock import locked
        with locked(Path({str(tmp_path / "lock")!r})):
            os._exit(0)
    """
    subprocess.run([sys.executable, "-c", program], check=True)
    assert (tmp_path / "lock").exists()
    with locked(tmp_path / "lock", wait=False):
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_child_process_does_not_keep_a_lock_that_was_given_back(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    got_it = threading.Event()

    def wait() -> None:
        with locked(tmp_path / "lock"):
            got_it.set()

    waiting = threading.Thread(target=wait, daemon=True)
    with locked(tmp_path / "lock"):
        child = os.fork()
        if child == 0:  # waits until it may go, with the lock's file open
            os.close(theirs)
            os.read(ours, 1)
            os._exit(0)
        waiting.start()
        time.sleep(0.2)  # it waits for this very file by now
    try:
        assert got_it.wait(10)
    finally:
        os.close(theirs)
        os.waitpid(child, 0)
        os.close(ours)
        waiting.join()


def test_where_there_are_no_locks_nobody_is_kept_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with locked(tmp_path / "no folder" / "lock", wait=False):
        pass

    def fail(*_: object) -> None:
        raise OSError("no locks on this disk")

    monkeypatch.setattr("fencepost.storage.lock.fcntl.flock", fail)
    with locked(tmp_path / "lock", wait=False), locked(tmp_path / "lock"):
        pass
    assert list(tmp_path.iterdir()) == []


def test_two_writers_take_turns_at_one_model_folder(tmp_path: Path) -> None:
    config = tiny_config()
    write_model(tmp_path / "model", config, Vocabularies.of(TREES, config), "a card", {WEIGHTS: b"weights"})
    program = f"""if True:
        from dataclasses import replace
        from pathlib import Path
        from fencepost.storage.model_folder import ModelFolder
        from fencepost.storage.model_writer import change_config
        folder = Path({str(tmp_path / "model")!r})
        config = ModelFolder.open(folder).config
        for number in range(60):
            change_config(folder, replace(config, train=replace(config.train, seed=number)))
    """
    writers = [subprocess.Popen([sys.executable, "-c", program], stderr=subprocess.PIPE, text=True) for _ in range(2)]
    assert [writer.communicate(timeout=120)[1] for writer in writers] == ["", ""]
    assert ModelFolder.open(tmp_path / "model").config.train.seed == 59
    assert sorted(path.name for path in tmp_path.glob("model/*")) == [
        "README.md", "checksums", "config.toml", "model.safetensors", "vocab.json",
    ]  # fmt: skip


def test_a_model_that_is_replaced_while_it_is_checked_is_checked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tiny_config()
    write_model(tmp_path / "model", config, Vocabularies.of(TREES, config), "a card", {WEIGHTS: b"weights"})
    checks: list[ModelError | None] = []

    def check_during_a_write(folder: Path, *, follow: bool = False) -> ModelError | None:
        if checks:
            return find_problem(folder, follow=follow)
        checks.append(ModelError("config.toml: damaged: its checksum is wrong"))
        change_config(tmp_path / "model", replace(config, train=replace(config.train, seed=7)))
        return checks[0]

    monkeypatch.setattr(model_folder, "find_problem", check_during_a_write)
    assert ModelFolder.open(tmp_path / "model").config.train.seed == 7


def test_settings_and_vocabularies_are_of_the_same_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_numbered(tmp_path / "model", 0)
    replaced: list[bool] = []

    def read_after_a_write(folder: Path) -> Config:
        if not replaced:
            replaced.append(True)
            write_numbered(tmp_path / "model", 1)
        return read_config(folder)

    monkeypatch.setattr(model_folder, "read_config", read_after_a_write)
    assert numbers(ModelFolder.open(tmp_path / "model")) == (1, 1)


@pytest.mark.parametrize("fails", [False, True])
def test_what_is_read_from_an_opened_folder_is_of_the_same_model(tmp_path: Path, fails: bool) -> None:
    write_numbered(tmp_path / "model", 0)
    weights: list[bytes] = []

    def read_weights_after_a_write(folder: ModelFolder) -> tuple[int, int]:
        if not weights:
            write_numbered(tmp_path / "model", 1)
        weights.append((folder.path / WEIGHTS).read_bytes())
        if fails and len(weights) == 1:
            raise disagreement(folder, "other shapes")
        return numbers(folder)

    assert ModelFolder.read(tmp_path / "model", read_weights_after_a_write) == (1, 1)
    assert weights == [b"1", b"1"]


def test_a_folder_knows_that_its_model_was_replaced(tmp_path: Path) -> None:
    write_numbered(tmp_path / "model", 0)
    folder = ModelFolder.open(tmp_path / "model")
    folder.require_unchanged()
    write_numbered(tmp_path / "model", 1)
    with pytest.raises(ModelError, match="model: the model was replaced while it was being read\nhint: try again"):
        folder.require_unchanged()


def test_a_model_that_is_replaced_without_end_is_not_called_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_folder, "_MOST_TRIES", 3)
    write_numbered(tmp_path / "model", 0)
    with pytest.raises(ModelError, match="model is being replaced again and again"):
        ModelFolder.read(tmp_path / "model", lambda folder: write_numbered(folder.path, 1))


def test_readers_meet_whole_models_while_writers_replace_them(tmp_path: Path) -> None:
    write_numbered(tmp_path / "model", 0)
    write = f"""if True:
        import sys
        from pathlib import Path
        from tests.storage.test_lock import write_numbered
        print(flush=True)
        while not Path({str(tmp_path / "stop")!r}).exists():
            for number in range(2):
                write_numbered(Path({str(tmp_path / "model")!r}), number)
    """
    root = Path(__file__).parents[2]
    writers = [subprocess.Popen([sys.executable, "-c", write], stdout=subprocess.PIPE, cwd=root) for _ in range(2)]
    try:
        for writer in writers:
            assert writer.stdout
            writer.stdout.readline()
        opened = [ModelFolder.read(tmp_path / "model", weights_too) for _ in range(20)]
    finally:
        (tmp_path / "stop").touch()
        for writer in writers:
            writer.communicate(timeout=60)
    assert {len(set(found)) for found in opened} == {1}
    assert [writer.returncode for writer in writers] == [0, 0]


def write_numbered(path: Path, number: int) -> None:
    """A model whose settings, vocabularies and weights all have this number."""
    config = tiny_config(seed=number)
    trees = [*TREES, Tree.from_string("(TOP (ONE (CD 1)))")] if number else TREES
    write_model(path, config, Vocabularies.of(trees, config), "a card", {WEIGHTS: str(number).encode()})


def numbers(folder: ModelFolder) -> tuple[int, int]:
    return folder.config.train.seed, int("ONE" in folder.vocabularies.labels.symbols)


def weights_too(folder: ModelFolder) -> tuple[int, int, int]:
    return *numbers(folder), int((folder.path / WEIGHTS).read_bytes())


def test_what_another_process_is_writing_is_left_to_it(tmp_path: Path) -> None:
    incoming = tmp_path / ".fencepost-incoming"
    incoming.mkdir()
    with locked(tmp_path / ".fencepost-lock"):
        waiting = threading.Thread(target=recover, args=(tmp_path,))
        waiting.start()
        waiting.join(0.2)
        assert incoming.exists()
    waiting.join()
    assert list(tmp_path.iterdir()) == []
