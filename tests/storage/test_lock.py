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

from fencepost.errors import ModelError
from fencepost.features.vocabularies import Vocabularies
from fencepost.storage import model_folder
from fencepost.storage.lock import locked
from fencepost.storage.model_files import WEIGHTS, find_problem
from fencepost.storage.model_folder import ModelFolder
from fencepost.storage.model_staging import recover
from fencepost.storage.model_writer import change_config, write_model
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
