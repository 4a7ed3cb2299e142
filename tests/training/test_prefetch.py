"""Batches come from another process: they are the same, and the process leaves nothing behind, whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from fencepost.config.settings import Config, PretrainedConfig, ScorerConfig, VectorsConfig
from fencepost.config.toml import config_to_toml
from fencepost.errors import InputError
from fencepost.features.indexer import Indexer
from fencepost.features.vocabularies import Vocabularies
from fencepost.training.data import FlatBatch, TrainingSet
from fencepost.training.distributed import Team
from fencepost.training.prefetch import BatchProcess, Prefetch, batch_process
from fencepost.training.saving import resume_run, save_run
from fencepost.training.train import train
from fencepost.training.trainer import Trainer
from fencepost.trees.treebank import Sentence
from tests.function_samples import function_config, function_trees
from tests.pretrained_samples import write_encoder
from tests.samples import TREES, marked, tiny_config
from tests.test_imports import modules_after

CPU = torch.device("cpu")
PATIENCE = 60.0  # seconds for a process that takes one
ALL = list(range(len(TREES)))


def data_of(config: Config) -> TrainingSet:
    trees = function_trees(len(TREES)) if config.scorer.functions else TREES
    if "treebank" in config.lexical:
        trees = [marked(tree, ("is", "fo")[number % 2]) for number, tree in enumerate(TREES)]
    return TrainingSet(trees, Indexer(config, Vocabularies.of(trees, config)))


@pytest.fixture
def process() -> Iterator[BatchProcess]:
    with BatchProcess() as process:
        yield process


def ready(process: BatchProcess) -> None:
    assert process._is_ready.wait(PATIENCE)


def same(one: FlatBatch, other: FlatBatch) -> bool:
    return one.pieces == other.pieces and np.array_equal(one.numbers, other.numbers)


def with_vectors(folder: Path) -> Config:
    generator = np.random.default_rng(0)
    words = [Sentence.of(tree).words for tree in TREES]
    arrays = {" ".join(each): generator.normal(size=(len(each), 5)).astype(np.float32) for each in words}
    save_file(arrays, folder / "vectors.safetensors")
    vectors = VectorsConfig(str(folder / "vectors.safetensors"), size=5)
    return replace(tiny_config(), lexical=("vectors",), vectors=vectors)


def over_an_encoder(folder: Path) -> Config:
    encoder = PretrainedConfig(str(write_encoder(folder / "encoder")))
    return replace(tiny_config(), lexical=("pretrained", "words", "tags"), pretrained=encoder, scorer=ScorerConfig(16))


@pytest.mark.parametrize("kind", ["letters", "functions", "treebanks", "vectors", "sub-tokens"])
@pytest.mark.parametrize("batch_tokens", [10_000, 12], ids=["one piece", "several pieces"])
def test_another_process_prepares_the_same_batches(
    kind: str, batch_tokens: int, tmp_path: Path, process: BatchProcess
) -> None:
    of_folder: dict[str, Callable[[Path], Config]] = {"vectors": with_vectors, "sub-tokens": over_an_encoder}
    of_folder |= {"letters": lambda _: tiny_config(), "functions": lambda _: function_config()}
    of_folder |= {"treebanks": lambda _: replace(tiny_config(), lexical=("char_lstm", "treebank"))}
    config = of_folder[kind](tmp_path)
    data = data_of(config)
    process.read(data, batch_tokens)
    ready(process)
    for indices in ([3, 1, 3, 7], [], ALL[:8]):
        process.ask(indices)
        answer = process.answer()
        assert isinstance(answer, FlatBatch)
        assert same(answer, data.flat(indices, batch_tokens))
        assert (len(answer.pieces) > 1) == (batch_tokens == 12 and len(indices) > 0)


def test_the_other_process_imports_no_torch() -> None:
    modules = modules_after("import fencepost.training.preparing")
    assert "fencepost.training.data" in modules
    assert "torch" not in modules


class Watched(Prefetch):
    """Counts the batches that this process prepared."""

    own = 0

    def _flat(self, indices: Sequence[int]) -> FlatBatch:
        self.own += 1
        return super()._flat(indices)


def weights_after(trainer: Trainer, steps: int) -> list[torch.Tensor]:
    for batch in islice(trainer.batches(), steps):
        trainer.step(batch)
    return [parameter.detach().clone() for parameter in trainer.parameters]


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fencepost.training.trainer.Prefetch", Watched)


def own(trainer: Trainer) -> int:
    assert isinstance(trainer._prefetch, Watched)
    return trainer._prefetch.own


@pytest.mark.usefixtures("watched")
def test_training_with_the_process_gives_the_same_weights_and_resumes_exactly(tmp_path: Path) -> None:
    config = tiny_config(max_epochs=4, batch_tokens=30)
    straight = Trainer(config, TREES, TREES, CPU)
    expected = weights_after(straight, 7)
    assert own(straight) == 7
    with BatchProcess() as process:
        first = Trainer(config, TREES, TREES, CPU, process=process)
        ready(process)
        weights_after(first, 4)
        assert own(first) == 1
        save_run(first, tmp_path)
    with BatchProcess() as process:
        second = Trainer(config, TREES, TREES, CPU, process=process)
        resume_run(second, tmp_path)
        ready(process)
        assert all(map(torch.equal, weights_after(second, 3), expected))
        assert own(second) == 1


def test_each_process_of_a_team_asks_for_its_own_share(process: BatchProcess, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Team, "sum_gradients", lambda self, parameters, loss: loss)
    asked: list[list[int]] = []
    monkeypatch.setattr(process, "ask", asked.append)
    trainer = Trainer(tiny_config(), TREES, TREES, CPU, Team(rank=1, size=2), process=process)
    ready(process)
    trainer.step(trainer.order.batch(0))
    assert asked == [trainer.order.batch(1)[1::2]]


@pytest.mark.usefixtures("watched")
def test_until_the_process_is_ready_each_step_prepares_its_own_batch(process: BatchProcess) -> None:
    process.is_ready = lambda: False  # type: ignore[method-assign]
    trainer = Trainer(tiny_config(), TREES, TREES, CPU, process=process)
    weights_after(trainer, 3)
    assert own(trainer) == 3


@pytest.mark.usefixtures("watched")
def test_training_goes_on_in_the_same_way_when_the_process_is_killed(process: BatchProcess) -> None:
    config = tiny_config(max_epochs=4)
    expected = weights_after(Trainer(config, TREES, TREES, CPU), 6)
    trainer = Trainer(config, TREES, TREES, CPU, process=process)
    ready(process)
    weights_after(trainer, 3)
    os.kill(process._process.pid, signal.SIGKILL)
    process._process.wait()
    with pytest.warns(UserWarning, match="no other process prepares batches, so training is slower: it ended with"):
        weights_after(trainer, 2)
    assert all(map(torch.equal, weights_after(trainer, 1), expected))  # without a second warning
    assert 3 <= own(trainer) <= 4  # the first, the last two, and perhaps the one before


@pytest.mark.usefixtures("watched")
def test_training_goes_on_in_the_same_way_when_the_process_stops_answering(
    process: BatchProcess, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fencepost.training.prefetch.PATIENCE", 0.5)
    config = tiny_config(max_epochs=4)
    expected = weights_after(Trainer(config, TREES, TREES, CPU), 5)
    trainer = Trainer(config, TREES, TREES, CPU, process=process)
    ready(process)
    weights_after(trainer, 2)
    os.kill(process._process.pid, signal.SIGSTOP)
    with pytest.warns(UserWarning, match="so training is slower: it hasn't answered for 0 seconds"):
        weights_after(trainer, 2)
    os.kill(process._process.pid, signal.SIGCONT)  # and its late answer isn't taken for that to a later question
    assert all(map(torch.equal, weights_after(trainer, 1), expected))
    assert 3 <= own(trainer) <= 4


def test_a_process_that_is_stopped_ends_with_its_block() -> None:
    with BatchProcess() as process:
        os.kill(process._process.pid, signal.SIGSTOP)
    assert process._process.returncode == -signal.SIGKILL


def test_an_error_in_the_data_is_raised_here(tmp_path: Path, process: BatchProcess) -> None:
    config = with_vectors(tmp_path)
    data = data_of(config)
    wrong = {" ".join(Sentence.of(tree).words): np.zeros((1, 4), np.float32) for tree in TREES}
    (tmp_path / "vectors.safetensors").unlink()
    save_file(wrong, tmp_path / "vectors.safetensors")
    data = data_of(config)
    prefetch = Prefetch(data, 1_000, process)
    ready(process)
    prefetch.begin([2])
    with pytest.raises(InputError, match=r"the vectors of 'Abstract' have shape \[1, 4\], not \[1, 5\]"):
        prefetch.get([2])


def test_data_that_only_the_other_process_cannot_read_are_prepared_here(tmp_path: Path, process: BatchProcess) -> None:
    data = data_of(with_vectors(tmp_path))
    (tmp_path / "vectors.safetensors").unlink()
    prefetch = Prefetch(data, 1_000, process)
    ready(process)
    prefetch.begin([2])
    with pytest.warns(UserWarning, match=r"ModelError: .*vectors.safetensors: can't read vectors: not a plain file"):
        batch = prefetch.get([2])
    assert same(batch, data.flat([2], 1_000))


def test_a_batch_that_nobody_asked_for_is_prepared_here(process: BatchProcess) -> None:
    data = data_of(tiny_config())
    prefetch = Prefetch(data, 1_000, process)
    ready(process)
    prefetch.begin([1, 2])
    assert same(prefetch.get([3]), data.flat([3], 1_000))
    prefetch.begin([4])
    assert same(prefetch.get([4]), data.flat([4], 1_000))


def test_a_terminal_sends_its_signals_to_the_trainer_alone(process: BatchProcess) -> None:
    assert os.getpgid(process._process.pid) != os.getpgid(0)


def test_only_gpus_get_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    with batch_process(CPU) as process:
        assert process is None
    with batch_process(torch.device("cuda")) as process:
        assert process is not None
        assert process._process.poll() is None
    assert process._process.poll() is not None
    monkeypatch.setattr(sys, "frozen", True, raising=False)
    with batch_process(torch.device("cuda")) as process:
        assert process is None


def test_where_no_process_can_be_started_training_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    with (
        pytest.warns(UserWarning, match="no other process prepares batches"),
        batch_process(torch.device("cuda")) as it,
    ):
        assert it is None


def test_the_process_ends_with_its_block_even_while_it_starts_or_after_an_error() -> None:
    for wait in (False, True):
        with pytest.raises(KeyError), BatchProcess() as process:  # noqa: PT012
            process.read(data_of(tiny_config()), 1_000)
            if wait:
                ready(process)
            raise KeyError
        assert process._process.returncode is not None
        assert process._thread is not None
        assert not process._thread.is_alive()


# In other programs, which have a process on a CPU, too

FORCED = """
import os, sys
from pathlib import Path
from fencepost.config.toml import load_config
from fencepost.training import prefetch, run, trainer
from fencepost.training.train import train
from tests.samples import TREES

class Process(prefetch.BatchProcess):
    def __init__(self):
        super().__init__()
        print("started", self._process.pid, flush=True)

step = trainer.Trainer.step
def waiting_step(self, batch):
    self._prefetch._process._is_ready.wait()
    step(self, batch)
    if self.step_number == 2:
        print("training", flush=True)

run.batch_process = lambda device: Process()
trainer.Trainer.step = waiting_step
train(load_config("config.toml"), TREES, TREES, Path("model"), resume=True)
print("trained")
"""


def start(folder: Path, config: Config) -> subprocess.Popen[str]:
    """A script as users write them, without ``if __name__ == "__main__"``."""
    (folder / "config.toml").write_text(config_to_toml(config))
    (folder / "script.py").write_text(FORCED)
    paths = os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])
    return subprocess.Popen(
        [sys.executable, "script.py"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": paths},
        start_new_session=True,
    )


def pid_once_it_trains(process: subprocess.Popen[str]) -> int:
    assert process.stdout is not None
    started, pid = process.stdout.readline().split()
    assert started == "started"
    assert process.stdout.readline() == "training\n"
    assert is_alive(int(pid))
    return int(pid)


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"  # it has ended, but nobody has asked for its status


def ends(pid: int) -> bool:
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        if time.monotonic() > deadline:
            os.kill(pid, signal.SIGKILL)
            return False
        time.sleep(0.02)
    return True


linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")


@linux
def test_a_script_without_a_main_guard_trains_once_and_as_without_a_process(tmp_path: Path) -> None:
    config = tiny_config(max_epochs=2)
    process = start(tmp_path, config)
    pid = pid_once_it_trains(process)
    out, messages = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out) == (0, "trained\n")
    assert "Traceback" not in messages
    assert not is_alive(pid)
    torch.set_num_threads(1)
    train(config, TREES, TREES, tmp_path / "straight")
    trained, straight = ((tmp_path / name / "model.safetensors").read_bytes() for name in ("model", "straight"))
    assert trained == straight


@linux
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "SIGTERM"])
def test_a_signal_to_all_processes_stops_the_run_with_its_work_saved(tmp_path: Path, number: signal.Signals) -> None:
    process = start(tmp_path, tiny_config(max_epochs=100_000))
    pid = pid_once_it_trains(process)
    os.killpg(process.pid, number)
    _, messages = process.communicate(timeout=PATIENCE)
    assert "stopping after this step" in messages
    assert "no other process" not in messages
    assert (tmp_path / "model" / "checkpoint.safetensors").exists()
    assert not is_alive(pid)


@linux
def test_the_process_ends_when_its_parent_is_killed(tmp_path: Path) -> None:
    process = start(tmp_path, tiny_config(max_epochs=100_000))
    pid = pid_once_it_trains(process)
    process.kill()
    assert ends(pid)
    _, messages = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in messages
